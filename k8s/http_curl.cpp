#include "k8s/http_curl.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace k8s {
namespace {

/// The same on Debian 12 and 13.
constexpr char kSoname[] = "libcurl.so.4";

[[noreturn]] void give_up() {
    std::fprintf(stderr, "kro-function: libcurl can't be loaded: %s\n", dlerror());
    std::abort();
}

template <class Function>
void find(void* library, char const* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) give_up();
}

CurlLibrary load() {
    void* const library = dlopen(kSoname, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) give_up();
    CurlLibrary curl{};
    find(library, "curl_global_init", curl.global_init);
    find(library, "curl_easy_init", curl.easy_init);
    find(library, "curl_easy_cleanup", curl.easy_cleanup);
    find(library, "curl_easy_setopt", curl.easy_setopt);
    find(library, "curl_easy_getinfo", curl.easy_getinfo);
    find(library, "curl_easy_strerror", curl.easy_strerror);
    find(library, "curl_multi_init", curl.multi_init);
    find(library, "curl_multi_cleanup", curl.multi_cleanup);
    find(library, "curl_multi_setopt", curl.multi_setopt);
    find(library, "curl_multi_add_handle", curl.multi_add_handle);
    find(library, "curl_multi_remove_handle", curl.multi_remove_handle);
    find(library, "curl_multi_perform", curl.multi_perform);
    find(library, "curl_multi_poll", curl.multi_poll);
    find(library, "curl_multi_wakeup", curl.multi_wakeup);
    find(library, "curl_multi_info_read", curl.multi_info_read);
    find(library, "curl_share_init", curl.share_init);
    find(library, "curl_share_cleanup", curl.share_cleanup);
    find(library, "curl_share_setopt", curl.share_setopt);
    find(library, "curl_slist_append", curl.slist_append);
    find(library, "curl_slist_free_all", curl.slist_free_all);
    return curl;
}

}  // namespace

CurlLibrary const& curl() {
    static CurlLibrary const library = load();
    return library;
}

}  // namespace k8s
