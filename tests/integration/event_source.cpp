#include "event_source.hpp"

#include "tests/component/source.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace integration {
namespace {

constexpr int kRepeats = 5;
constexpr std::chrono::milliseconds kFirstPause{100};
constexpr long kLongestAnswer = 60;  ///< seconds

bool is_tried_again(int status) {
    constexpr std::array kStatuses{0, 404, 413, 425, 429, 502, 503, 504};
    return std::find(kStatuses.begin(), kStatuses.end(), status) != kStatuses.end();
}

events::HttpMessage message_about(k8s::Change const& change) {
    bool const reference = change.resource == k8s::kSecrets || change.resource == k8s::kConfigMaps;
    return reference ? component::reference_event(change) : component::resource_event(change);
}

}  // namespace

int post(std::uint16_t port, events::HttpMessage const& message) {
    CURL* easy = curl_easy_init();
    curl_slist* headers = curl_slist_append(nullptr, "Expect:");
    for (auto const& [name, value] : message.headers) {
        // A header without a value is written with a semicolon: this is how libcurl is told not to leave it out.
        headers = curl_slist_append(headers, (value.empty() ? name + ";" : name + ": " + value).c_str());
    }
    curl_easy_setopt(easy, CURLOPT_URL, ("http://127.0.0.1:" + std::to_string(port) + "/").c_str());
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, kLongestAnswer);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(message.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, message.body.c_str());
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(
        easy, CURLOPT_WRITEFUNCTION, +[](char*, std::size_t, std::size_t size, void*) { return size; });
    long status = 0;
    if (curl_easy_perform(easy) == CURLE_OK) curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    return static_cast<int>(status);
}

EventSource::~EventSource() { stopping_ = true; }

void EventSource::offer(k8s::Change const& change) {
    std::lock_guard const lock{mutex_};
    auto& worker = workers_[std::string{change.resource.plural}];
    if (!worker) worker = std::make_unique<Worker<k8s::Change>>([this](k8s::Change const& one) { send(one); });
    worker->offer(change);
}

void EventSource::send(k8s::Change const& change) {
    auto const message = message_about(change);
    auto pause = kFirstPause;
    int status = 0;
    for (int repeats = 0; !stopping_; ++repeats) {
        status = post(port_, message);
        std::unique_lock lock{mutex_};
        ++answers_[status];
        lock.unlock();
        if (!is_tried_again(status) || repeats == kRepeats) break;
        std::this_thread::sleep_for(pause);
        pause *= 2;
    }
    if (status >= 200 && status < 300) return;
    std::lock_guard const lock{mutex_};
    lost_.push_back(std::to_string(status) + " for " + std::string{change.resource.plural} + " " +
                    k8s::to_string(k8s::key_of(change.object)));
}

bool EventSource::is_idle() const {
    std::lock_guard const lock{mutex_};
    return std::all_of(workers_.begin(), workers_.end(), [](auto const& worker) { return worker.second->is_idle(); });
}

std::vector<std::string> EventSource::lost() const {
    std::lock_guard const lock{mutex_};
    return lost_;
}

std::map<int, int> EventSource::answers() const {
    std::lock_guard const lock{mutex_};
    return answers_;
}

}  // namespace integration
