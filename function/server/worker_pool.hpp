#pragma once

#include "function/server/http_service.hpp"

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

namespace kro {

/// A few threads and a bounded queue before them. Each thread has an HttpService of its own and is started when it is first
/// needed, so that a pod that sees one event at a time has one.
class WorkerPool {
  public:
    /// Must not throw.
    using Job = std::function<void(HttpService&)>;

    /// `new_service` is called on each thread as it starts.
    WorkerPool(std::size_t threads, std::size_t queue, std::function<HttpService()> new_service);

    /// Waits for jobs that are being done; the ones in the queue are dropped.
    ~WorkerPool();
    WorkerPool(WorkerPool const&) = delete;
    WorkerPool& operator=(WorkerPool const&) = delete;

    /// Whether the job was taken: not so when all threads are busy and the queue is full.
    bool offer(Job job);

    /// Forgets the jobs that no thread has begun.
    void drop_waiting();

  private:
    static void* thread_main(void* pool);
    void work();
    bool start_thread();

    std::size_t const most_threads_;
    std::size_t const most_waiting_;
    std::function<HttpService()> const new_service_;
    std::vector<pthread_t> threads_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job> jobs_;
    std::size_t free_threads_ = 0;  ///< threads that have no job
    bool ending_ = false;
};

}  // namespace kro
