#include "function/server/worker_pool.hpp"

#include "base/memory.hpp"

#include <chrono>
#include <csignal>
#include <utility>

namespace kro {
namespace {

/// Room for a TLS handshake and for JSON as deep as it is read. Less than a huge page, so that the kernel does not back a stack
/// with 2 MiB when its first byte is used, which it may do with the usual 8 MiB.
constexpr std::size_t kStackSize = std::size_t{1} << 20U;

/// A thread that has had nothing to do for so long keeps no memory for the next job.
constexpr std::chrono::milliseconds kQuiet{50};

}  // namespace

WorkerPool::WorkerPool(std::size_t threads, std::size_t queue, std::function<HttpService()> new_service)
    : most_threads_(threads), most_waiting_(queue), new_service_(std::move(new_service)) {}

WorkerPool::~WorkerPool() {
    {
        std::lock_guard const lock{mutex_};
        ending_ = true;
        jobs_.clear();
    }
    changed_.notify_all();
    for (auto const thread : threads_) ::pthread_join(thread, nullptr);
}

bool WorkerPool::offer(Job job) {
    {
        std::lock_guard const lock{mutex_};
        bool const has_free_thread = jobs_.size() < free_threads_;
        if (!has_free_thread && !start_thread() && (threads_.empty() || jobs_.size() >= free_threads_ + most_waiting_))
            return false;
        jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
    return true;
}

void WorkerPool::drop_waiting() {
    std::lock_guard const lock{mutex_};
    jobs_.clear();
}

/// pthread_create and not std::thread, which cannot be told the stack's size. Signals go to the other threads: a handler that
/// runs here would interrupt system calls of the event that is being handled.
bool WorkerPool::start_thread() {
    if (threads_.size() == most_threads_) return false;
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, kStackSize);
    pthread_t thread;
    bool const started = ::pthread_create(&thread, &attributes, &WorkerPool::thread_main, this) == 0;
    ::pthread_attr_destroy(&attributes);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!started) return false;
    threads_.push_back(thread);
    ++free_threads_;
    return true;
}

void* WorkerPool::thread_main(void* pool) {
    static_cast<WorkerPool*>(pool)->work();
    return nullptr;
}

void WorkerPool::work() {
    auto service = new_service_();
    std::unique_lock lock{mutex_};
    for (;;) {
        auto const is_up = [this] { return ending_ || !jobs_.empty(); };
        if (!changed_.wait_for(lock, kQuiet, is_up)) {
            lock.unlock();
            base::give_free_memory_back();
            lock.lock();
            changed_.wait(lock, is_up);
        }
        if (ending_) return;
        auto job = std::move(jobs_.front());
        jobs_.pop_front();
        --free_threads_;
        lock.unlock();
        job(service);
        job = nullptr;
        lock.lock();
        ++free_threads_;
    }
}

}  // namespace kro
