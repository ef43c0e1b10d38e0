#include "tests/stack/node/prober.hpp"

#include "tests/stack/node/http_stream.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <chrono>

namespace node {

using base::integer_of;
using base::member;
using base::text_of;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kPause{5};
constexpr milliseconds kStartingFunction{10};  ///< between two looks at what a request waits for
constexpr milliseconds kStarting{100};
constexpr milliseconds kAgain{1'000};  ///< after a failure of what was ready
constexpr long kAnswerTime = 1'000;    ///< milliseconds

struct FreeEasy {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeHeaders {
    void operator()(curl_slist* headers) const { curl_slist_free_all(headers); }
};

/// 0 where no answer came.
long get(std::string const& url, Json const& headers) {
    std::unique_ptr<CURL, FreeEasy> const easy{curl_easy_init()};
    curl_slist* list = nullptr;
    for (auto const& one : headers) {
        list = curl_slist_append(list, (text_of(member(one, "name")) + ": " + text_of(member(one, "value"))).c_str());
    }
    std::unique_ptr<curl_slist, FreeHeaders> const owned{list};
    curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
    // By this name Knative's programs tell a kubelet from a sender of events.
    curl_easy_setopt(easy.get(), CURLOPT_USERAGENT, "kube-probe/1.34");
    curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(easy.get(), CURLOPT_PROXY, "");
    curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT_MS, kAnswerTime);
    // As a kubelet does it: a probe is no place to check certificates.
    curl_easy_setopt(easy.get(), CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy.get(), CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(
        easy.get(), CURLOPT_WRITEFUNCTION, +[](char*, std::size_t, std::size_t size, void*) { return size; });
    long status = 0;
    if (curl_easy_perform(easy.get()) == CURLE_OK) curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/// What a probe asks, of this machine.
struct Question {
    std::string url;  ///< "" where a connection is enough
    Json headers = Json::array();
    std::uint16_t port = 0;  ///< 0 while the pod does not listen there
    bool always = false;     ///< there is nothing to ask
};

Question question_about(Pod const& pod) {
    Json const& probe = member(container_of(pod.pod_template), "readinessProbe");
    Json const& http = member(probe, "httpGet");
    Json const& tcp = member(probe, "tcpSocket");
    bool const serves = pod.workload.first == Workload::Kind::KnativeService;
    if (!http.is_object() && !tcp.is_object() && !serves) {
        Question nothing;
        nothing.always = true;
        return nothing;
    }
    Json const& said = member(http.is_object() ? http : tcp, "port");
    auto const port = serves ? serving_port(pod.pod_template) : container_port(pod.pod_template, said).value_or(0);
    Question question;
    question.port = host_port(pod, port);
    if (!http.is_object()) return question;
    std::string const path = text_of(member(http, "path"));
    question.headers = member(http, "httpHeaders");
    question.url = (text_of(member(http, "scheme")) == "HTTPS" ? "https://127.0.0.1:" : "http://127.0.0.1:") +
                   std::to_string(question.port) + (path.starts_with('/') ? "" : "/") + path;
    return question;
}

bool is_answered(Question const& question) {
    if (question.always) return true;
    if (question.port == 0) return false;
    if (question.url.empty()) return HttpStream::connect(question.port).is_open();
    long const status = get(question.url, question.headers);
    return status >= 200 && status < 400;
}

}  // namespace

Prober::Prober(Pods& pods, std::function<void()> changed)
    : pods_(pods), changed_(std::move(changed)), thread_([this] { run(); }) {}

Prober::~Prober() {
    stopping_ = true;
    thread_.join();
}

void Prober::run() {
    while (!stopping_) {
        std::vector<std::shared_ptr<Pod>> due;
        {
            std::lock_guard const lock{pods_.mutex};
            auto const now = std::chrono::steady_clock::now();
            std::copy_if(pods_.pods.begin(), pods_.pods.end(), std::back_inserter(due), [&](auto const& pod) {
                return pod->state == Pod::State::Running && !pod->stopping && pod->probed_next <= now;
            });
        }
        bool changed = false;
        for (auto const& pod : due) changed = look_at(pod) || changed;
        if (changed) changed_();
        std::this_thread::sleep_for(kPause);
    }
}

/// Whether the pod has become ready, or is so no longer.
bool Prober::look_at(std::shared_ptr<Pod> const& pod) {
    Question question;
    int start = 0;
    {
        std::lock_guard const lock{pods_.mutex};
        question = question_about(*pod);
        start = pod->starts;
    }
    bool const good = is_answered(question);

    std::lock_guard const lock{pods_.mutex};
    if (pod->starts != start || pod->state != Pod::State::Running || pod->stopping) return false;
    Json const& probe = member(container_of(pod->pod_template), "readinessProbe");
    auto const now = std::chrono::steady_clock::now();
    pod->failed_probes = good ? 0 : pod->failed_probes + 1;
    bool const was_ready = pod->ready;
    pod->ready = good || (was_ready && pod->failed_probes < integer_of(member(probe, "failureThreshold"), 3));
    bool const serves = pod->workload.first == Workload::Kind::KnativeService;
    pod->probed_next = now + (good         ? milliseconds{std::chrono::seconds{integer_of(member(probe, "periodSeconds"), 10)}}
                              : pod->ready ? kAgain
                              : serves     ? kStartingFunction
                                           : kStarting);
    if (pod->ready == was_ready) return false;
    pods_.changed.notify_all();
    return true;
}

}  // namespace node
