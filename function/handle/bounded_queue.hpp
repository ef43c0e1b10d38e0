#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace kro {

/// Hands things from threads that make them to threads that use them, a few at a time: whoever is faster waits. So memory is bounded
/// by `capacity`, not by how much there is.
template <class T>
class BoundedQueue {
  public:
    explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

    /// Waits until there is room. Whether it was taken: not after close().
    bool push(T item) {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return items_.size() < capacity_ || closed_; });
        if (closed_) return false;
        items_.push_back(std::move(item));
        changed_.notify_all();
        return true;
    }

    /// Waits for the next one. None when nothing more will come.
    std::optional<T> pop() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return !items_.empty() || finished_ || closed_; });
        if (items_.empty()) return std::nullopt;
        std::optional<T> item{std::move(items_.front())};
        items_.pop_front();
        changed_.notify_all();
        return item;
    }

    /// Nothing more will be pushed; what is inside may still be popped.
    void finish() {
        std::lock_guard const lock{mutex_};
        finished_ = true;
        changed_.notify_all();
    }

    /// Nobody pops any more: what is inside is dropped, and nothing is taken.
    void close() {
        std::lock_guard const lock{mutex_};
        closed_ = true;
        items_.clear();
        changed_.notify_all();
    }

    bool is_closed() const {
        std::lock_guard const lock{mutex_};
        return closed_;
    }

  private:
    std::size_t capacity_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<T> items_;
    bool finished_ = false;
    bool closed_ = false;
};

}  // namespace kro
