#include "k8s/memory_api.hpp"

#include "k8s/object_store.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace k8s {
namespace {

struct FaultRule {
    MemoryApi::Matches matches;
    Fault fault;
    std::size_t times = 1;
};

struct Interruption {
    MemoryApi::Matches matches;
    std::function<void(MemoryApi&)> act;
};

Error no_answer(Request const& request, std::string_view why, bool maybe_done) {
    Error error;
    error.kind = Error::Kind::Unavailable;
    error.message = describe(request) + ": " + std::string{why};
    error.maybe_done = maybe_done && is_write(request);
    return error;
}

enum class Share { All, Half };

/// What Request::visit promises. The lock is let go meanwhile: whoever visits may wait for another request.
void hand_out_items(Request const& request, Json& list, Share share, std::unique_lock<std::mutex>& lock) {
    if (!request.visit) return;
    lock.unlock();
    Json items = std::exchange(list["items"], Json::array());
    std::size_t left = share == Share::All ? items.size() : items.size() / 2;
    for (auto item = items.begin(); item != items.end() && left > 0; ++item, --left) {
        if (auto metadata = item->find("metadata"); metadata != item->end()) metadata->erase("managedFields");
        request.visit(*item);
    }
    lock.lock();
}

bool acts_before_it_fails(Fault const& fault) {
    return fault.kind == Fault::Kind::CutAfter || fault.kind == Fault::Kind::Truncated;
}

Error error_for(Fault const& fault, Request const& request, base::Time now) {
    switch (fault.kind) {
        case Fault::Kind::Answer: {
            std::string const body = fault.body.empty() ? plain_refusal(fault.http_status).body : fault.body;
            return error_of(fault.http_status, body, describe(request), fault.retry_after, now);
        }
        case Fault::Kind::Refused: return no_answer(request, "connection refused", false);
        case Fault::Kind::Timeout: return no_answer(request, "no answer in time", true);
        case Fault::Kind::CutBefore:
        case Fault::Kind::CutAfter: return no_answer(request, "the connection was closed", true);
        case Fault::Kind::Truncated: return no_answer(request, "the answer was cut off", true);
    }
    std::abort();
}

}  // namespace

Fault answer_with(int http_status, std::string body, std::string retry_after) {
    return {Fault::Kind::Answer, http_status, std::move(body), std::move(retry_after)};
}
Fault conflict() { return answer_with(409); }
Fault connection_refused() { return {Fault::Kind::Refused, 0, {}, {}}; }
Fault timeout() { return {Fault::Kind::Timeout, 0, {}, {}}; }
Fault cut_before() { return {Fault::Kind::CutBefore, 0, {}, {}}; }
Fault cut_after() { return {Fault::Kind::CutAfter, 0, {}, {}}; }
Fault truncated() { return {Fault::Kind::Truncated, 0, {}, {}}; }

MemoryApi::Matches on(Request::Verb verb) {
    return [verb](Request const& request) { return request.verb == verb; };
}

MemoryApi::Matches on(Request::Verb verb, Resource const& resource, std::string name) {
    return [verb, resource, wanted = std::move(name)](Request const& request) {
        return request.verb == verb && request.resource == resource && (wanted.empty() || request.key.name == wanted);
    };
}

bool is_write(Request const& request) { return !is_read(request.verb) && !request.dry_run; }

struct MemoryApi::Server {
    Server(base::Clock server_clock, MemoryOptions const& server_options)
        : clock(std::move(server_clock)), options(server_options), store(clock, options) {}

    /// Counts and keeps a request. Returns what is to happen to it.
    std::optional<Fault> arrive(Request const& request) {
        ++arrived;
        if (is_write(request)) {
            ++counts.writes;
        } else if (!request.dry_run) {
            ++counts.reads;
        }
        if (options.kept_requests > 0) {
            requests.push_back({request, clock(), counts.rounds});
            if (requests.size() > options.kept_requests) requests.pop_front();
        }
        if (auto const planned = by_number.find(arrived); planned != by_number.end()) {
            Fault fault = std::move(planned->second);
            by_number.erase(planned);
            return fault;
        }
        for (auto rule = by_match.begin(); rule != by_match.end(); ++rule) {
            if (!rule->matches(request)) continue;
            Fault fault = rule->fault;
            if (--rule->times == 0) by_match.erase(rule);
            return fault;
        }
        return std::nullopt;
    }

    /// What is to run just before this request, each once.
    std::vector<Interruption> interruptions_of(Request const& request) {
        std::vector<Interruption> due;
        std::erase_if(interruptions, [&](Interruption& interruption) {
            if (!interruption.matches(request)) return false;
            due.push_back(std::move(interruption));
            return true;
        });
        return due;
    }

    Result<Json> carry_out(Request const& request) {
        auto outcome = store.carry_out(request);
        if (store.has_changes()) changed.notify_all();
        if (outcome) return std::move(outcome).value();
        auto const& refusal = outcome.error();
        return base::Failure{error_of(refusal.http_status, refusal.body, describe(request), "", clock())};
    }

    std::mutex mutex;
    std::condition_variable changed;
    base::Clock clock;
    MemoryOptions options;
    ObjectStore store;
    std::deque<SeenRequest> requests;
    RequestCounts counts;
    std::size_t arrived = 0;
    std::map<std::size_t, Fault> by_number;
    std::vector<FaultRule> by_match;
    std::vector<Interruption> interruptions;
};

MemoryApi::MemoryApi(base::Clock clock, MemoryOptions options) : server_(std::make_shared<Server>(std::move(clock), options)) {}
MemoryApi::MemoryApi(std::shared_ptr<Server> server, Standing standing) : server_(std::move(server)), standing_(standing) {}
MemoryApi::MemoryApi(MemoryApi&&) noexcept = default;
MemoryApi& MemoryApi::operator=(MemoryApi&&) noexcept = default;
MemoryApi::~MemoryApi() = default;

std::vector<Answer> MemoryApi::send(std::span<Request const> batch, base::Deadline) {
    std::vector<Answer> answers;
    answers.reserve(batch.size());
    std::unique_lock lock{server_->mutex};
    if (standing_ == Standing::Client) ++server_->counts.rounds;
    for (auto const& request : batch) {
        std::optional<Fault> fault;
        if (standing_ == Standing::Client) {
            fault = server_->arrive(request);
            if (!server_->interruptions.empty()) {
                auto const due = server_->interruptions_of(request);
                lock.unlock();
                MemoryApi other{server_, Standing::OtherWriter};
                for (auto const& interruption : due) interruption.act(other);
                lock.lock();
            }
        }
        if (!fault) {
            answers.push_back({server_->carry_out(request)});
            continue;
        }
        if (acts_before_it_fails(*fault)) {
            auto cut_off = server_->carry_out(request);
            if (fault->kind == Fault::Kind::Truncated && cut_off) hand_out_items(request, *cut_off, Share::Half, lock);
        }
        answers.push_back({base::Failure{error_for(*fault, request, server_->clock())}});
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (answers[i].result) hand_out_items(batch[i], *answers[i].result, Share::All, lock);
    }
    return answers;
}

std::unique_ptr<Api> MemoryApi::connect() { return std::unique_ptr<Api>{new MemoryApi{server_, Standing::Client}}; }

void MemoryApi::serve(Resource const& resource, ResourceRules rules) {
    std::lock_guard const lock{server_->mutex};
    server_->store.serve(resource, std::move(rules));
}

void MemoryApi::stop_serving(Resource const& resource) {
    std::lock_guard const lock{server_->mutex};
    server_->store.stop_serving(resource);
}

Json MemoryApi::put(Resource const& resource, Json object) {
    std::lock_guard const lock{server_->mutex};
    Json stored = server_->store.put(resource, std::move(object));
    server_->changed.notify_all();
    return stored;
}

void MemoryApi::set(Resource const& resource, Json object) {
    std::lock_guard const lock{server_->mutex};
    server_->store.set(resource, std::move(object));
    server_->changed.notify_all();
}

void MemoryApi::identify(Resource const& resource, ObjectKey const& key, Json const& metadata) {
    std::lock_guard const lock{server_->mutex};
    server_->store.identify(resource, key, metadata);
}

std::optional<Json> MemoryApi::find(Resource const& resource, ObjectKey const& key) const {
    std::lock_guard const lock{server_->mutex};
    return server_->store.find(resource, key);
}

bool MemoryApi::has(Resource const& resource, ObjectKey const& key) const {
    std::lock_guard const lock{server_->mutex};
    return server_->store.has(resource, key);
}

std::vector<Json> MemoryApi::all(Resource const& resource) const {
    std::lock_guard const lock{server_->mutex};
    return server_->store.all(resource);
}

bool MemoryApi::erase(Resource const& resource, ObjectKey const& key) {
    std::lock_guard const lock{server_->mutex};
    bool const was_there = server_->store.erase(resource, key);
    server_->changed.notify_all();
    return was_there;
}

std::vector<SeenRequest> MemoryApi::requests() const {
    std::lock_guard const lock{server_->mutex};
    return {server_->requests.begin(), server_->requests.end()};
}

RequestCounts MemoryApi::counts() const {
    std::lock_guard const lock{server_->mutex};
    return server_->counts;
}

void MemoryApi::forget_requests() {
    std::lock_guard const lock{server_->mutex};
    server_->requests.clear();
    server_->counts = {};
}

std::vector<Change> MemoryApi::take_changes() {
    std::lock_guard const lock{server_->mutex};
    return server_->store.take_changes();
}

bool MemoryApi::wait_for_changes(base::Deadline deadline) {
    std::unique_lock lock{server_->mutex};
    return server_->changed.wait_until(lock, deadline, [&] { return server_->store.has_changes(); });
}

void MemoryApi::fail(std::size_t nth, Fault fault) {
    std::lock_guard const lock{server_->mutex};
    server_->by_number.insert_or_assign(server_->arrived + nth, std::move(fault));
}

void MemoryApi::fail_when(Matches matches, Fault fault, std::size_t times) {
    std::lock_guard const lock{server_->mutex};
    if (times > 0) server_->by_match.push_back({std::move(matches), std::move(fault), times});
}

void MemoryApi::before(Matches matches, std::function<void(MemoryApi&)> act) {
    std::lock_guard const lock{server_->mutex};
    server_->interruptions.push_back({std::move(matches), std::move(act)});
}

void MemoryApi::heal() {
    std::lock_guard const lock{server_->mutex};
    server_->by_number.clear();
    server_->by_match.clear();
    server_->interruptions.clear();
}

void MemoryApi::expire_continue_tokens(Expiry expiry) {
    std::lock_guard const lock{server_->mutex};
    server_->store.expire_continue_tokens(expiry);
}

void MemoryApi::hold_deletion_of(Resource const& resource) {
    std::lock_guard const lock{server_->mutex};
    server_->store.hold_deletion_of(resource);
}

void MemoryApi::release_deletion_of(Resource const& resource) {
    std::lock_guard const lock{server_->mutex};
    server_->store.release_deletion_of(resource);
    server_->changed.notify_all();
}

}  // namespace k8s
