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

}  // namespace bench
