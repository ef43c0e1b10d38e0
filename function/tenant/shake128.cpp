#include "function/tenant/shake128.hpp"

#include <openssl/evp.h>

#include <cstdlib>

namespace kro {

Digest shake128(std::string_view text) {
    // To look it up takes longer than to use it.
    static EVP_MD const* const algorithm = EVP_MD_fetch(nullptr, "SHAKE128", nullptr);
    Digest digest{};
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    bool const done = context != nullptr && EVP_DigestInit_ex(context, algorithm, nullptr) == 1 &&
                      EVP_DigestUpdate(context, text.data(), text.size()) == 1 &&
                      EVP_DigestFinalXOF(context, digest.data(), digest.size()) == 1;
    EVP_MD_CTX_free(context);
    if (!done) std::abort();
    return digest;
}

}  // namespace kro
