#pragma once

#include "base/clock.hpp"
#include "k8s/api.hpp"
#include "k8s/resource_rules.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s {

/// How a MemoryApi fails one request. Made by the functions below.
struct Fault {
    enum class Kind {
        Answer,     ///< an error answer with `http_status`, `body` and `retry_after`; nothing is done
        Refused,    ///< no connection at all: Unavailable, certainly not done
        Timeout,    ///< no answer in time; nothing is done, but the sender of a write can't know: Unavailable, maybe_done
        CutBefore,  ///< the connection breaks before the server acts: looks to the sender as CutAfter does
        CutAfter,   ///< the connection breaks after the server has acted: Unavailable, for a write maybe_done
        Truncated,  ///< the server has acted, and half of its answer arrives: Unavailable, for a write maybe_done
    };
    Kind kind = Kind::Answer;
    int http_status = 500;
    std::string body;         ///< a Status or anything else; empty: the Status that belongs to `http_status`
    std::string retry_after;  ///< the header's value, or ""
};

Fault answer_with(int http_status, std::string body = {}, std::string retry_after = {});
Fault conflict();  ///< 409, reason Conflict
Fault connection_refused();
Fault timeout();
Fault cut_before();
Fault cut_after();
Fault truncated();

/// What became of an object: the material for an ApiServerSource's events.
struct Change {
    enum class Kind { Added, Updated, Deleted };
    Kind kind = Kind::Added;
    Resource resource;
    Json object;  ///< as it is now; for Deleted as it was last, with the resourceVersion of the deletion
};

/// One request as it arrived.
struct SeenRequest {
    Request request;
    base::Time time;
    std::size_t round = 0;  ///< which call of send() brought it, from 1
};

/// How much was asked since the start or since forget_requests(). Counted even where the requests themselves are not kept.
struct RequestCounts {
    std::size_t rounds = 0;  ///< calls of send()
    std::size_t reads = 0;   ///< Get, List, Discover
    std::size_t writes = 0;  ///< all others but for dry runs
};

struct MemoryOptions {
    enum class Namespaces {
        Emptied,  ///< deleting one deletes what is in it, and it goes with the last object, as with a namespace controller
        Left,     ///< deleting one leaves it terminating: an API server alone
    };
    Namespaces namespaces = Namespaces::Emptied;

    std::size_t kept_requests = 100'000;  ///< the latest so many are kept for requests(); 0: none
    bool keep_changes = true;             ///< whether take_changes() has something to give; nobody taking, they pile up
    bool show_managed_fields = true;      ///< whether answers carry metadata.managedFields; fields are owned either way
    std::uint64_t last_version = 0;       ///< resourceVersions count up from here
    bool respell_numbers = false;  ///< store `1.0` as 1, `1e3` as 1000 and integers beyond 64 bits as doubles, as API servers do
};

/// An API server in memory: what the embedded control plane, replay and the tests run on. It behaves as kube-apiserver 1.34 does
/// in what a client leans on: uids, resourceVersions, generations, finalizers, namespaces, the status subresource, server-side
/// apply with field ownership, the patches and their preconditions, label selectors, paging, discovery; one conformance suite
/// holds it against the real one. Deterministic: uids and resourceVersions count up, time is the clock's.
///
/// Namespaces, Secrets, ConfigMaps, Events and CustomResourceDefinitions are served from the start, and the namespaces `default`
/// and `kube-system` exist. A CustomResourceDefinition that is written is served at once by its schema, and no longer when it is
/// deleted.
///
/// Differs knowingly: a later page of a list shows what is there now, not what was there at the first page; there is one version
/// per resource; ownerReferences are kept but nothing is collected; an Event lives for ever; of a schema only what ResourceRules
/// names is checked. Deadlines play no part: nothing is ever waited for. Answers have the duration 0.
///
/// Safe to use from several threads at once. A moved-from MemoryApi must not be used.
class MemoryApi final : public Api {
  public:
    using Matches = std::function<bool(Request const&)>;

    explicit MemoryApi(base::Clock clock, MemoryOptions options = {});
    MemoryApi(MemoryApi&&) noexcept;
    MemoryApi& operator=(MemoryApi&&) noexcept;
    ~MemoryApi() override;

    /// The requests of a batch are carried out in their order. Errors are built by error_of from a Status body, as from a real
    /// server.
    std::vector<Answer> send(std::span<Request const> batch, base::Deadline deadline) override;

    /// A second Api that speaks to this same server, and may outlive this object.
    std::unique_ptr<Api> connect();

    // --- resource types

    /// Serves a resource type from now on; `rules` replace those it had, its objects stay. Its strings are copied.
    void serve(Resource const& resource, ResourceRules rules = {});
    /// The type is unknown from now on (404, `type_not_served`), and its objects are gone.
    void stop_serving(Resource const& resource);

    // --- state, past all requests: neither counted, failed, nor checked

    /// Seeds or replaces an object. Identity, version, managedFields, status and deletion that `object` says are kept, the rest
    /// is filled in; without managedFields nobody owns its fields. A missing namespace is made too. Returns what is stored.
    Json put(Resource const& resource, Json object);
    /// The same, without a copy of what is stored.
    void set(Resource const& resource, Json object);
    /// Gives an object the identity that another API server gave it: what `metadata` says of uid, resourceVersion, generation and
    /// creationTimestamp. No change is told of it; an object that is not there is left so.
    void identify(Resource const& resource, ObjectKey const& key, Json const& metadata);
    std::optional<Json> find(Resource const& resource, ObjectKey const& key) const;
    bool has(Resource const& resource, ObjectKey const& key) const;
    std::vector<Json> all(Resource const& resource) const;
    /// Removes an object at once, finalizers or not. Whether there was one.
    bool erase(Resource const& resource, ObjectKey const& key);

    // --- what was asked

    std::vector<SeenRequest> requests() const;
    RequestCounts counts() const;
    void forget_requests();

    // --- what happened

    /// Every change since the last call, in order. What put() and erase() did is among them.
    std::vector<Change> take_changes();
    /// Blocks until there are changes to take or `deadline` has passed. Whether there are.
    bool wait_for_changes(base::Deadline deadline);

    // --- faults and races on demand

    /// Fails the `nth` request from now on (1 is the next), each request of a batch counted.
    void fail(std::size_t nth, Fault fault);
    /// Fails the next `times` requests that match. The first rule that matches is used up first.
    void fail_when(Matches matches, Fault fault, std::size_t times = 1);
    /// Runs `act` once just before the next request that matches is carried out: another writer who was faster. `act` may use
    /// this Api; its own requests are not counted, not kept, and meet no faults.
    void before(Matches matches, std::function<void(MemoryApi&)> act);
    /// Forgets every fault and every `before` that is still to come.
    void heal();
    /// Continue tokens given so far are answered with 410 from now on.
    enum class Expiry { WithToken, WithoutToken };  ///< whether the Status offers a token to go on with
    void expire_continue_tokens(Expiry expiry);
    /// From now on an object of this type that is deleted gets a foreign finalizer (kHeldFinalizer) first, until it is released.
    void hold_deletion_of(Resource const& resource);
    void release_deletion_of(Resource const& resource);

  private:
    struct Server;
    enum class Standing { Client, OtherWriter };
    MemoryApi(std::shared_ptr<Server> server, Standing standing);

    std::shared_ptr<Server> server_;
    Standing standing_ = Standing::Client;
};

inline constexpr std::string_view kHeldFinalizer = "example.com/held";

/// A predicate for fail_when() and before(): this verb, and where given this resource and this name.
MemoryApi::Matches on(Request::Verb verb);
MemoryApi::Matches on(Request::Verb verb, Resource const& resource, std::string name = {});
/// Any request that may change something.
bool is_write(Request const& request);

}  // namespace k8s
