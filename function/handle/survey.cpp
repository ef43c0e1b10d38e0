#include "function/handle/survey.hpp"

#include "function/handle/bounded_queue.hpp"
#include "function/tenant/kinds.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace kro {
namespace {

using base::member;
using k8s::Json;

/// Items are handed over some at a time: to wake a thread for each one would take as long as to read it.
constexpr std::size_t kTogether = 16;
constexpr std::size_t kAhead = 4;

/// A Kro as it waits for its turn.
struct Entry {
    std::string namespace_;  ///< the tenant's on the platform cluster
    std::string kro;         ///< what a plan reads of it
};

/// Without what no plan asks for.
Json lean_kro(Json const& kro) {
    Json metadata = Json::object();
    Json const& whole = member(kro, "metadata");
    for (auto const* name : {"name", "namespace", "uid", "resourceVersion", "generation", "deletionTimestamp", "finalizers"}) {
        if (whole.contains(name)) metadata[name] = whole[name];
    }
    for (auto const annotation : {kOperationAnnotation, kAbandonAnnotation}) {
        Json const& value = member(whole, "annotations", annotation);
        if (!value.is_null()) metadata["annotations"][std::string{annotation}] = value;
    }
    return {{"apiVersion", member(kro, "apiVersion")},
            {"kind", member(kro, "kind")},
            {"metadata", std::move(metadata)},
            {"spec", {{"version", member(kro, "spec", "version")}}},
            {"status", member(kro, "status")}};
}

k8s::Result<std::vector<Entry>> read_roster(Clusters& clusters, int page_size, base::Deadline deadline, Report& report) {
    std::vector<Entry> roster;
    auto read = read_kros(clusters, k8s::Request::Contents::Whole, page_size, deadline, report, [&](Json& kro) {
        std::string text = base::dump_json(lean_kro(kro));
        text.shrink_to_fit();
        roster.push_back({tenant_namespace({k8s::namespace_of(kro), k8s::name_of(kro)}), std::move(text)});
    });
    if (!read) return base::Failure{std::move(read).error()};
    std::stable_sort(roster.begin(), roster.end(), [](auto const& a, auto const& b) { return a.namespace_ < b.namespace_; });
    // Read twice: the later look counts.
    auto const again = [](auto const& a, auto const& b) { return a.namespace_ == b.namespace_; };
    roster.erase(roster.begin(), std::unique(roster.rbegin(), roster.rend(), again).base());
    return roster;
}

/// One list of what is ours on the platform cluster, read ahead by a thread of its own.
class Stream {
  public:
    Stream(Clusters& clusters, k8s::Resource const& resource, k8s::Request::Contents contents, int page_size,
           base::Deadline deadline)
        : resource_(resource), queue_(kAhead) {
        Addressed list{Cluster::Platform, k8s::list(resource, {}, std::string{kManagedByLabel} + "=" + std::string{kGroup})};
        list.request.contents = contents;
        reader_ = std::thread{[this, &clusters, list, page_size, deadline] {
            std::vector<Json> together;
            auto const hand_over = [&](Json& item) {
                together.push_back(std::move(item));
                if (together.size() == kTogether) queue_.push(std::exchange(together, {}));
            };
            read_ = read_pages(clusters, list, page_size, deadline, report_, hand_over, [&] { return queue_.is_closed(); });
            queue_.push(std::move(together));
            queue_.finish();
        }};
    }
    ~Stream() { stop(); }
    Stream(Stream const&) = delete;
    Stream& operator=(Stream const&) = delete;

    k8s::Resource const& resource() const { return resource_; }

    /// The next item, or null at the end.
    Json* peek() {
        while (at_ == items_.size() && !ended_) {
            auto next = queue_.pop();
            ended_ = !next;
            items_ = std::move(next).value_or(std::vector<Json>{});
            at_ = 0;
        }
        return ended_ ? nullptr : &items_[at_];
    }
    void drop() { items_[at_++] = {}; }

    /// Why it ended before its end; null as long as it goes on, and where all of it was read.
    k8s::Error const* failure() const { return ended_ && !read_ ? &read_.error() : nullptr; }

    void stop() {
        queue_.close();
        if (reader_.joinable()) reader_.join();
    }
    /// Its requests, once it is stopped.
    Report& report() { return report_; }

  private:
    k8s::Resource resource_;
    BoundedQueue<std::vector<Json>> queue_;
    std::vector<Json> items_;
    std::size_t at_ = 0;  ///< of items_, the next one
    bool ended_ = false;
    Report report_;
    k8s::Result<void> read_;  ///< the reader's until it has ended
    std::thread reader_;
};

Seen present(Json object) {
    Seen seen;
    seen.state = Seen::State::Present;
    seen.listed = true;
    seen.object = std::move(object);
    return seen;
}

/// The four streams, side by side with the roster.
class Merge {
  public:
    Merge(std::vector<std::unique_ptr<Stream>>& streams, std::vector<Entry> const& roster, Survey::Visitor const& visitor,
          Survey::Copies copies)
        : streams_(streams), roster_(roster), visitor_(visitor), copies_(copies) {}

    /// Every tenant in turn, then what is left and belongs to none. Ends early where the visitor does not go on, or a stream has failed.
    void run(Observed observed) {
        for (auto const& entry : roster_) {
            Json kro = base::parse_json(entry.kro).value();
            observed.tenant = {k8s::namespace_of(kro), k8s::name_of(kro)};
            Target const target{Cluster::Onboarding, observed.kros, k8s::key_of(kro)};
            observed.seen[target] = present(std::move(kro));
            if (!add(entry, observed) || !visitor_.tenant(observed)) return;
            std::erase_if(observed.seen, [&](auto const& one) {
                return one.first.cluster == Cluster::Onboarding || one.first.key.namespace_ == entry.namespace_;
            });
        }
        for (auto& stream : streams_) pass_by(*stream, std::nullopt);
    }

  private:
    /// Puts what the streams have about this tenant into `observed`. Whether all of them were there to ask.
    bool add(Entry const& entry, Observed& observed) {
        Json copies = Json::array();
        for (auto& stream : streams_) {
            pass_by(*stream, entry.namespace_);
            for (Json* item = stream->peek(); item && k8s::namespace_of(*item) == entry.namespace_; item = stream->peek()) {
                if (stream->resource() == k8s::kSecrets) {
                    copies.push_back(std::move(*item));
                } else {
                    Target const target{Cluster::Platform, stream->resource(), k8s::key_of(*item)};
                    observed.seen[target] = present(std::move(*item));
                }
                stream->drop();
            }
        }
        add_copies(entry, std::move(copies), observed);
        return std::none_of(streams_.begin(), streams_.end(), [](auto const& stream) { return stream->failure() != nullptr; });
    }

    void pass_by(Stream& stream, std::optional<std::string> const& until) {
        for (Json* item = stream.peek(); item && (!until || k8s::namespace_of(*item) < *until); item = stream.peek()) {
            look_at_stray(*item);
            stream.drop();
        }
    }

    /// Not of the tenant whose turn it is: of an earlier one where a page was read twice, or of nobody's.
    void look_at_stray(Json const& item) {
        std::string const namespace_ = k8s::namespace_of(item);
        auto const at = std::lower_bound(roster_.begin(), roster_.end(), namespace_,
                                         [](Entry const& entry, std::string const& wanted) { return entry.namespace_ < wanted; });
        if (at != roster_.end() && at->namespace_ == namespace_) return;
        auto const tenant = tenant_of(item);
        // An annotation can be copied along with an object; the namespace can't lie.
        if (!tenant || tenant_namespace(*tenant) != namespace_) return;
        if (orphans_.insert(namespace_).second) visitor_.orphan(*tenant);
    }

    /// While a tenant is being deleted, that nothing is left must be certain, and a list that was cut short can't tell.
    void add_copies(Entry const& entry, Json copies, Observed& observed) const {
        Json const& kro =
            observed.seen[{Cluster::Onboarding, observed.kros, {observed.tenant.namespace_, observed.tenant.name}}].object;
        if (k8s::is_being_deleted(kro)) return;
        if (copies_ == Survey::Copies::Whole) {
            for (auto const& item : copies) {
                observed.seen[{Cluster::Platform, k8s::kSecrets, k8s::key_of(item)}] = present(item);
            }
        }
        observed.seen[{Cluster::Platform, k8s::kSecrets, {entry.namespace_, {}}}] = present({{"items", std::move(copies)}});
    }

    std::vector<std::unique_ptr<Stream>>& streams_;
    std::vector<Entry> const& roster_;
    Survey::Visitor const& visitor_;
    Survey::Copies copies_;
    std::set<std::string> orphans_;
};

/// Of what is large, fewer: a page is in memory as text.
constexpr int kLargeInAPage = 250;

}  // namespace

k8s::Result<void> Survey::run(Visitor const& visitor, base::Deadline deadline, Report& report) {
    using Wanted = k8s::Request::Contents;
    std::vector<std::unique_ptr<Stream>> streams;
    int const large = std::min(kLargeInAPage, page_size_);
    auto const start = [&](k8s::Resource const& resource, Wanted contents, int page_size) {
        streams.push_back(std::make_unique<Stream>(clusters_, resource, contents, page_size, deadline));
    };
    start(kAccessRequests, Wanted::Whole, large);
    start(kOciRepositories, Wanted::Whole, large);
    start(kHelmReleases, Wanted::Whole, large);
    start(k8s::kSecrets, copies_ == Copies::Whole ? Wanted::Whole : Wanted::Metadata, page_size_);

    auto const roster = read_roster(clusters_, page_size_, deadline, report);
    if (roster) {
        visitor.counted(roster->size());
        Merge{streams, *roster, visitor, copies_}.run({{}, clusters_.kros(), false, shared_, std::nullopt});
    }

    std::optional<k8s::Error> failure;
    if (!roster) failure = roster.error();
    for (auto& stream : streams) {
        stream->stop();
        for (auto& round : stream->report().rounds) add_round(report, std::move(round));
        if (stream->failure() != nullptr && !failure) failure = *stream->failure();
    }
    if (failure) return base::Failure{*std::move(failure)};
    return {};
}

}  // namespace kro
