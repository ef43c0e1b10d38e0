#pragma once

#include "k8s/kubeconfig.hpp"

#include <curl/curl.h>

#include <string>
#include <vector>

namespace bench {

/// The least that a client can do: libcurl, one warm HTTP/2 connection, GETs at once, answers read and thrown away. What the program's
/// own requests are compared with.
class BareClient {
  public:
    explicit BareClient(k8s::ClusterAccess const& access);
    ~BareClient();
    BareClient(BareClient const&) = delete;
    BareClient& operator=(BareClient const&) = delete;

    /// GETs all paths at once and returns when every answer is there. Bytes of bodies; ends the program where one is not 200.
    std::size_t round(std::vector<std::string> const& paths);

  private:
    CURL* handle(std::size_t number);

    k8s::ClusterAccess access_;
    CURLM* multi_ = nullptr;
    curl_slist* headers_ = nullptr;
    std::vector<CURL*> handles_;
};

}  // namespace bench
