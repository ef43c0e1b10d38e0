#pragma once

#include "k8s/kubeconfig.hpp"

#include <curl/curl.h>

#include <cstdint>
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

/// The same for the pages of a list: one after the other, each page's body looked at for its continue token alone.
class PageClient {
  public:
    PageClient(k8s::ClusterAccess const& access, std::string const& accept);
    ~PageClient();
    PageClient(PageClient const&) = delete;
    PageClient& operator=(PageClient const&) = delete;

    /// GETs the path, and again with `&continue=` until there is no more. How many pages there were.
    std::size_t fetch_all(std::string const& path);

  private:
    std::string server_;
    std::string ca_;
    CURL* easy_;
    curl_slist* headers_ = nullptr;
    std::string body_;
};

/// The body of a GET to a port of this machine.
std::string get_text(std::uint16_t port, std::string const& path);

}  // namespace bench
