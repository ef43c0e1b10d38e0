#pragma once

#include "base/clock.hpp"
#include "function/tenant.hpp"

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace kro {

/// One run per tenant at a time within this pod. Whoever comes while a run goes on shares the next one with all others who came
/// meanwhile, so a burst of ten costs two runs; and nobody is answered by a run that began before they came.
template <class Answer>
class Turnstile {
  public:
    /// The answer of a run that began after this call; `run` is called by one of those who wait for it. None where `deadline`
    /// passes before that run has begun or ended.
    std::optional<Answer> pass(Tenant const& tenant, base::Deadline deadline, std::function<Answer()> const& run) {
        std::unique_lock lock{mutex_};
        Queue& queue = queues_[tenant];
        if (!queue.next) queue.next = std::make_shared<Run>();
        std::shared_ptr<Run> const mine = queue.next;
        ++queue.interested;
        auto const leave = [&] {
            if (--queue.interested == 0) queues_.erase(tenant);
        };
        bool const in_time =
            changed_.wait_until(lock, deadline, [&] { return mine->answer || (!queue.running && !mine->begun); });
        if (!in_time || mine->answer) {
            auto answer = mine->answer;
            leave();
            return answer;
        }
        mine->begun = true;
        queue.running = true;
        queue.next = nullptr;
        lock.unlock();
        std::optional<Answer> answer;
        try {
            answer = run();
        } catch (...) {
            // Nobody may wait for this run for ever; whoever shares it comes back when its deadline is over.
            lock.lock();
            queue.running = false;
            leave();
            changed_.notify_all();
            throw;
        }
        lock.lock();
        mine->answer = answer;
        queue.running = false;
        leave();
        changed_.notify_all();
        return answer;
    }

    /// How many are inside pass() for this tenant.
    int waiting(Tenant const& tenant) const {
        std::lock_guard const lock{mutex_};
        auto const queue = queues_.find(tenant);
        return queue == queues_.end() ? 0 : queue->second.interested;
    }

  private:
    struct Run {
        bool begun = false;
        std::optional<Answer> answer;
    };
    struct Queue {
        std::shared_ptr<Run> next;  ///< the run that those who come now will share
        bool running = false;
        int interested = 0;
    };

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<Tenant, Queue> queues_;
};

}  // namespace kro
