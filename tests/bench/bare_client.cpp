#include "bare_client.hpp"

#include <chrono>
#include <cstdlib>
#include <iostream>

namespace bench {
namespace {

std::size_t count_bytes(char*, std::size_t, std::size_t size, void* user) {
    *static_cast<std::size_t*>(user) += size;
    return size;
}

std::size_t keep_bytes(char* bytes, std::size_t, std::size_t size, void* user) {
    static_cast<std::string*>(user)->append(bytes, size);
    return size;
}

[[noreturn]] void give_up(std::string const& message) {
    std::cerr << "bench: " << message << std::endl;
    std::exit(EXIT_FAILURE);
}

/// The token of the next page. It stands before the items or behind them.
std::string continue_token(std::string const& body) {
    constexpr std::string_view kName = "\"continue\":\"";
    auto const at = body.rfind(kName);
    if (at == std::string::npos) return {};
    auto const from = at + kName.size();
    return body.substr(from, body.find('"', from) - from);
}

}  // namespace

BareClient::BareClient(k8s::ClusterAccess const& access) : access_(access) {
    multi_ = curl_multi_init();
    curl_multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    auto const credentials = access.credentials(k8s::Freshness::Cached);
    headers_ = curl_slist_append(headers_, ("Authorization: " + k8s::authorization_of(**credentials)).c_str());
    headers_ = curl_slist_append(headers_, "Accept: application/json");
}

BareClient::~BareClient() {
    for (CURL* easy : handles_) curl_easy_cleanup(easy);
    curl_multi_cleanup(multi_);
    curl_slist_free_all(headers_);
}

CURL* BareClient::handle(std::size_t number) {
    while (handles_.size() <= number) {
        CURL* easy = curl_easy_init();
        curl_blob ca{access_.ca.data(), access_.ca.size(), CURL_BLOB_COPY};
        curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &ca);
        curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
        curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count_bytes);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
        handles_.push_back(easy);
    }
    return handles_[number];
}

std::size_t BareClient::round(std::vector<std::string> const& paths) {
    std::size_t bytes = 0;
    std::string const server = to_string(access_.server);
    for (std::size_t i = 0; i < paths.size(); ++i) {
        CURL* easy = handle(i);
        curl_easy_setopt(easy, CURLOPT_URL, (server + paths[i]).c_str());
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &bytes);
        curl_multi_add_handle(multi_, easy);
    }
    for (int running = 1; running > 0;) {
        curl_multi_perform(multi_, &running);
        if (running > 0) curl_multi_poll(multi_, nullptr, 0, 1000, nullptr);
    }
    for (std::size_t i = 0; i < paths.size(); ++i) {
        long status = 0;
        curl_easy_getinfo(handles_[i], CURLINFO_RESPONSE_CODE, &status);
        curl_multi_remove_handle(multi_, handles_[i]);
        if (status == 200) continue;
        std::cerr << "bench: GET " << paths[i] << " was answered " << status << std::endl;
        std::exit(EXIT_FAILURE);
    }
    return bytes;
}

PageClient::PageClient(k8s::ClusterAccess const& access, std::string const& accept)
    : server_(to_string(access.server)), ca_(access.ca), easy_(curl_easy_init()) {
    auto const credentials = access.credentials(k8s::Freshness::Cached);
    headers_ = curl_slist_append(headers_, ("Authorization: " + k8s::authorization_of(**credentials)).c_str());
    headers_ = curl_slist_append(headers_, ("Accept: " + accept).c_str());
    curl_blob ca{ca_.data(), ca_.size(), CURL_BLOB_NOCOPY};
    curl_easy_setopt(easy_, CURLOPT_CAINFO_BLOB, &ca);
    curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, keep_bytes);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, &body_);
    curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy_, CURLOPT_PROXY, "");
}

PageClient::~PageClient() {
    curl_easy_cleanup(easy_);
    curl_slist_free_all(headers_);
}

std::size_t PageClient::fetch_all(std::string const& path) {
    std::string token;
    std::size_t pages = 0;
    do {
        body_.clear();
        curl_easy_setopt(easy_, CURLOPT_URL, (server_ + path + (token.empty() ? "" : "&continue=" + token)).c_str());
        CURLcode const failure = curl_easy_perform(easy_);
        long status = 0;
        curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
        if (failure != CURLE_OK || status != 200) give_up("GET " + path + " was answered " + std::to_string(status));
        ++pages;
        std::string const plain = continue_token(body_);
        char* escaped = curl_easy_escape(easy_, plain.data(), static_cast<int>(plain.size()));
        token = plain.empty() ? std::string{} : std::string{escaped};
        curl_free(escaped);
    } while (!token.empty());
    return pages;
}

std::string get_text(std::uint16_t port, std::string const& path) {
    std::string body;
    CURL* easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, ("http://127.0.0.1:" + std::to_string(port) + path).c_str());
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    CURLcode const failure = curl_easy_perform(easy);
    curl_easy_cleanup(easy);
    if (failure != CURLE_OK) give_up("GET " + path + ": " + curl_easy_strerror(failure));
    return body;
}

}  // namespace bench
