#pragma once

#include "k8s/memory_api.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kro {

/// One request of a recorded run, and what the real API server answered.
struct RecordedExchange {
    k8s::Request::Verb verb = k8s::Request::Verb::Get;
    k8s::Resource resource;
    k8s::ObjectKey key;
    std::string subresource;
    k8s::Json object;                 ///< as the server had it then; null where it failed
    std::optional<k8s::Error> error;  ///< why it failed
    bool partial = false;             ///< `object` is metadata alone
};

/// How far a run of a replay is the recorded one; its API servers share it.
struct RecordedRun {
    std::atomic<bool> is_recorded{false};  ///< there is something to repeat
    std::atomic<bool> has_strayed{false};  ///< and a write that the recording does not have has ended that
};

/// One API server of a replay. What it holds is in memory, and so are its answers; but what a recording says that the real one answered in
/// this very run is answered again: a read with just that object, a failed request with just that error, and a write is carried out in
/// memory and then has the identity that the real server gave it, or where memory would refuse it, becomes what the real one made. The first write that the recording does not have ends that: from there
/// on it is another run, and memory alone answers.
///
/// It also remembers what our writes left, so that an event about just that state is known as an echo, although the real server had
/// counted its versions differently. Safe to use from several threads at once.
class ReplayedApi final : public k8s::Api {
  public:
    ReplayedApi(std::shared_ptr<k8s::MemoryApi> memory, std::shared_ptr<RecordedRun> run)
        : memory_(std::move(memory)), run_(std::move(run)) {}

    std::vector<k8s::Answer> send(std::span<k8s::Request const> batch, base::Deadline deadline) override;

    k8s::MemoryApi& memory() { return *memory_; }

    // --- What is known from outside

    /// Takes over an object that somebody has seen, whole as it is; without a resourceVersion it is what a user wrote, and what it does not
    /// say stays. Left as it was where a later version has been taken over already, by its
    /// resourceVersion, and where it is what one of our writes left: then the version that the write had here is returned.
    std::optional<std::string> take(k8s::Resource const& resource, k8s::Json object);
    /// An object is gone since `resource_version`; "" where that is not known.
    void lose(k8s::Resource const& resource, k8s::ObjectKey const& key, std::string const& resource_version);

    /// The same, whatever is known already: so it was when a recorded run looked.
    void show(k8s::Resource const& resource, k8s::Json object);
    void hide(k8s::Resource const& resource, k8s::ObjectKey const& key);

    // --- What was recorded

    /// What is to be answered, in the order in which it was asked. The run is a recorded one from here on.
    void expect(RecordedExchange exchange);
    /// Forgets what is still expected. The recorded writes that were not asked for, as k8s::describe() says them, and those that were asked
    /// for and are not in the recording.
    struct Strayed {
        std::vector<std::string> missing;
        std::vector<std::string> added;
    };
    Strayed conclude();

  private:
    k8s::Answer answer(k8s::Request const& request, base::Deadline deadline);
    k8s::Answer carry_out(k8s::Request const& request, base::Deadline deadline);
    k8s::Answer repeat_write(k8s::Request const& request, RecordedExchange const& recorded, base::Deadline deadline);
    std::optional<RecordedExchange> next_of(k8s::Request const& request);
    void remember(k8s::Request const& request, k8s::Json const& object);

    struct Own {
        std::size_t content;
        std::string resource_version;
    };

    std::shared_ptr<k8s::MemoryApi> memory_;
    std::shared_ptr<RecordedRun> run_;
    std::mutex mutex_;                                              ///< for all below
    std::map<std::string, std::deque<RecordedExchange>> expected_;  ///< by verb and path
    std::vector<std::string> added_;                                ///< writes that were not expected
    std::unordered_map<std::string, std::uint64_t> versions_;       ///< of what was taken over, by path
    std::unordered_map<std::string, std::deque<Own>> own_;          ///< the latest states that our writes left, by path
};

}  // namespace kro
