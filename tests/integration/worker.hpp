#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace integration {

/// Does one thing after another on a thread of its own, in the order in which they came. What is left at its end is dropped.
template <class Item>
class Worker {
  public:
    explicit Worker(std::function<void(Item const&)> work) : work_(std::move(work)), thread_([this] { run(); }) {}
    ~Worker() {
        {
            std::lock_guard const lock{mutex_};
            stopping_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    Worker(Worker const&) = delete;
    Worker& operator=(Worker const&) = delete;

    void offer(Item item) {
        {
            std::lock_guard const lock{mutex_};
            items_.push_back(std::move(item));
        }
        changed_.notify_all();
    }

    bool is_idle() const {
        std::lock_guard const lock{mutex_};
        return items_.empty() && !working_;
    }

  private:
    void run() {
        std::unique_lock lock{mutex_};
        while (true) {
            changed_.wait(lock, [&] { return stopping_ || !items_.empty(); });
            if (stopping_) return;
            Item const item = std::move(items_.front());
            items_.pop_front();
            working_ = true;
            lock.unlock();
            work_(item);
            lock.lock();
            working_ = false;
        }
    }

    std::function<void(Item const&)> work_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Item> items_;
    bool working_ = false;
    bool stopping_ = false;
    std::thread thread_;  ///< last: it uses everything above
};

}  // namespace integration
