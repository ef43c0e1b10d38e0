#pragma once

#include "base/clock.hpp"

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace kro {

/// Who shares a run with whom.
enum class Sharing {
    Next,     ///< with all who come while another run goes on: one that begins after all of them came
    Running,  ///< with whoever is at it already, where somebody is: its answer is as good
    Nobody,   ///< the run knows something from before; it is no answer for others
};

/// One run per key at a time within this pod. Whoever comes while a run goes on shares the next one with all others who came
/// meanwhile, so a burst of ten costs two runs; and nobody is answered by a run that began before they came, unless they ask for it.
template <class Key, class Answer>
class Turnstile {
  public:
    /// The answer of a run; `run` is called by one of those who wait for it. None where `deadline` passes before that run has begun or
    /// ended.
    std::optional<Answer> pass(Key const& key, base::Deadline deadline, std::function<Answer()> const& run,
                               Sharing sharing = Sharing::Next) {
        std::unique_lock lock{mutex_};
        Queue& queue = queues_[key];
        ++queue.interested;
        std::shared_ptr<Run> const mine = choose(queue, sharing);
        auto const leave = [&] {
            if (--queue.interested == 0) queues_.erase(key);
        };
        bool const in_time =
            changed_.wait_until(lock, deadline, [&] { return mine->answer || (!queue.running && !mine->begun); });
        if (!in_time || mine->answer) {
            auto answer = mine->answer;
            leave();
            return answer;
        }
        mine->begun = true;
        queue.running = mine;
        if (queue.next == mine) queue.next = nullptr;
        lock.unlock();
        std::optional<Answer> answer;
        try {
            answer = run();
        } catch (...) {
            // Nobody may wait for this run for ever; whoever shares it comes back when its deadline is over.
            lock.lock();
            queue.running = nullptr;
            leave();
            changed_.notify_all();
            throw;
        }
        lock.lock();
        queue.running = nullptr;
        bool const shared = mine.use_count() > 1;  // by those who wait for it
        if (shared) mine->answer = answer;
        leave();
        changed_.notify_all();
        return answer;
    }

    /// How many are inside pass() for this key.
    int waiting(Key const& key) const {
        std::lock_guard const lock{mutex_};
        auto const queue = queues_.find(key);
        return queue == queues_.end() ? 0 : queue->second.interested;
    }

  private:
    struct Run {
        bool begun = false;
        std::optional<Answer> answer;
    };
    struct Queue {
        std::shared_ptr<Run> next;     ///< the run that those who come now will share
        std::shared_ptr<Run> running;  ///< the one that goes on
        int interested = 0;
    };

    static std::shared_ptr<Run> choose(Queue& queue, Sharing sharing) {
        if (sharing == Sharing::Nobody) return std::make_shared<Run>();
        if (sharing == Sharing::Running && queue.running) return queue.running;
        if (!queue.next) queue.next = std::make_shared<Run>();
        return queue.next;
    }

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<Key, Queue> queues_;
};

}  // namespace kro
