#include "tests/stack/node/cluster.hpp"

#include "base/base64.hpp"

#include <curl/curl.h>

#include <chrono>

namespace node {

using base::member;
using base::text_of;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::seconds kPatience{15};
constexpr std::chrono::milliseconds kPause{300};

base::Deadline soon() { return std::chrono::steady_clock::now() + kPatience; }

struct FreeEasy {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeHeaders {
    void operator()(curl_slist* headers) const { curl_slist_free_all(headers); }
};

}  // namespace

Cluster::Cluster(k8s::ClusterAccess const& access)
    : access_(access),
      api_(std::make_unique<k8s::HttpApi>(access, k8s::HttpOptions{.user_agent = "stack-node"})),
      transport_(std::make_unique<k8s::HttpTransport>(access, k8s::HttpOptions{.user_agent = "stack-node"})) {}

k8s::Result<Json> Cluster::send(k8s::Request request) const { return k8s::send_one(*api_, std::move(request), soon()); }

k8s::Result<std::string> Cluster::token_of(k8s::ObjectKey const& account) const {
    k8s::HttpExchange exchange;
    exchange.message.method = "POST";
    exchange.message.target = k8s::path_of(kServiceAccounts, account, "token");
    exchange.message.accept = exchange.message.content_type = "application/json";
    exchange.message.body = base::dump_json(
        {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}, {"spec", {{"expirationSeconds", 24 * 60 * 60}}}});
    exchange.credentials = TRY(access_.credentials(k8s::Freshness::Cached));
    k8s::HttpExchange* const one = &exchange;
    transport_->perform({&one, 1}, soon());
    auto const answer = base::parse_json(exchange.body);
    std::string token = answer ? text_of(member(*answer, "status", "token")) : std::string{};
    if (token.empty()) {
        return base::Failure{k8s::error_of(exchange.status, exchange.body, "a token of " + to_string(account), {},
                                           std::chrono::system_clock::now())};
    }
    return token;
}

std::string Cluster::kubeconfig(std::string const& namespace_, std::string const& token, std::string const& way) const {
    Json const cluster{{"server", way.empty() ? to_string(access_.server) : way},
                       {"certificate-authority-data", base::encode_base64(access_.ca)}};
    return base::dump_json({
        {"apiVersion", "v1"},
        {"kind", "Config"},
        {"clusters", {{{"name", "here"}, {"cluster", cluster}}}},
        {"users", {{{"name", "pod"}, {"user", {{"token", token}}}}}},
        {"contexts", {{{"name", "pod"}, {"context", {{"cluster", "here"}, {"user", "pod"}, {"namespace", namespace_}}}}}},
        {"current-context", "pod"},
    });
}

Watch::Watch(Cluster const& cluster, k8s::Resource const& resource, Listener listener)
    : cluster_(cluster), resource_(resource), listener_(std::move(listener)), thread_([this] { run(); }) {}

Watch::~Watch() {
    stopping_ = true;
    thread_.join();
}

void Watch::run() {
    while (!stopping_) {
        if (auto list = cluster_.send(k8s::list(resource_, {}))) {
            std::vector<Json> objects = (*list)["items"];
            for (auto& object : objects) object["kind"] = resource_.kind;
            listener_.listed(std::move(objects));
            follow(text_of(member(*list, "metadata", "resourceVersion")));
        }
        for (auto waited = 0ms; waited < kPause && !stopping_; waited += 50ms) std::this_thread::sleep_for(50ms);
    }
}

/// Returns when the watch has ended, as each does in the end.
void Watch::follow(std::string const& resource_version) {
    auto const& access = cluster_.access();
    auto const credentials = access.credentials(k8s::Freshness::Cached);
    if (!credentials) return;
    std::unique_ptr<CURL, FreeEasy> const easy{curl_easy_init()};
    std::unique_ptr<curl_slist, FreeHeaders> const headers{
        curl_slist_append(nullptr, ("Authorization: " + k8s::authorization_of(**credentials)).c_str())};
    std::string const url = to_string(access.server) + k8s::path_of(resource_, {}) +
                            "?watch=1&timeoutSeconds=3600&resourceVersion=" + resource_version;
    curl_blob ca{const_cast<char*>(access.ca.data()), access.ca.size(), CURL_BLOB_COPY};
    curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy.get(), CURLOPT_PROXY, "");
    curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy.get(), CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(easy.get(), CURLOPT_CAINFO_BLOB, &ca);
    curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, this);
    curl_easy_setopt(
        easy.get(), CURLOPT_WRITEFUNCTION, +[](char* bytes, std::size_t, std::size_t size, void* to) {
            static_cast<Watch*>(to)->take({bytes, size});
            return size;
        });
    curl_easy_setopt(easy.get(), CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy.get(), CURLOPT_XFERINFODATA, this);
    curl_easy_setopt(
        easy.get(), CURLOPT_XFERINFOFUNCTION,
        +[](void* from, curl_off_t, curl_off_t, curl_off_t, curl_off_t) { return static_cast<Watch*>(from)->stopping_ ? 1 : 0; });
    unread_.clear();
    curl_easy_perform(easy.get());
}

/// One event on each line. What is no event of an object (an ERROR: the resource version is too old) comes before the end.
void Watch::take(std::string_view bytes) {
    unread_ += bytes;
    std::size_t begin = 0;
    for (auto end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n', begin)) {
        auto event = base::parse_json(std::string_view{unread_}.substr(begin, end - begin));
        begin = end + 1;
        std::string const type = event ? text_of(member(*event, "type")) : std::string{};
        if (type == "ADDED" || type == "MODIFIED" || type == "DELETED") {
            listener_.changed(std::move((*event)["object"]), type == "DELETED");
        }
    }
    unread_.erase(0, begin);
}

}  // namespace node
