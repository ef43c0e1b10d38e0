#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace support {

/// A certificate and its key, both PEM.
struct Certificate {
    std::string certificate;
    std::string key;
};

namespace detail {

template <auto free>
struct Free {
    void operator()(auto* pointer) const { free(pointer); }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using X509Pointer = std::unique_ptr<X509, Free<X509_free>>;
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;

inline std::string text_in(Bio const& bio) {
    char* data = nullptr;
    long const size = BIO_get_mem_data(bio.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

inline void extend(X509* certificate, X509* issuer, int kind, std::string const& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>> const extension{
        X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str())};
    X509_add_ext(certificate, extension.get(), -1);
}

inline Certificate signed_certificate(std::string const& name, std::string const& alternative_names, Certificate const* ca) {
    Key const key{EVP_EC_gen("P-256")};
    X509Pointer const certificate{X509_new()};
    X509_set_version(certificate.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ca == nullptr ? 1 : 2);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                               reinterpret_cast<unsigned char const*>(name.c_str()), -1, -1, 0);

    X509Pointer issuer;
    Key issuer_key;
    if (ca != nullptr) {
        Bio const pem{BIO_new_mem_buf(ca->certificate.data(), static_cast<int>(ca->certificate.size()))};
        issuer.reset(PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr));
        Bio const key_pem{BIO_new_mem_buf(ca->key.data(), static_cast<int>(ca->key.size()))};
        issuer_key.reset(PEM_read_bio_PrivateKey(key_pem.get(), nullptr, nullptr, nullptr));
    }
    X509* const signer = issuer ? issuer.get() : certificate.get();
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer));
    extend(certificate.get(), signer, NID_basic_constraints, ca == nullptr ? "critical,CA:TRUE" : "critical,CA:FALSE");
    if (!alternative_names.empty()) extend(certificate.get(), signer, NID_subject_alt_name, alternative_names);
    X509_sign(certificate.get(), issuer_key ? issuer_key.get() : key.get(), EVP_sha256());

    Bio const certificate_out{BIO_new(BIO_s_mem())};
    PEM_write_bio_X509(certificate_out.get(), certificate.get());
    Bio const key_out{BIO_new(BIO_s_mem())};
    PEM_write_bio_PrivateKey(key_out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return {text_in(certificate_out), text_in(key_out)};
}

}  // namespace detail

inline Certificate make_ca(std::string const& name = "test CA") { return detail::signed_certificate(name, "", nullptr); }

/// `alternative_names` as OpenSSL writes them: "IP:127.0.0.1,DNS:localhost".
inline Certificate issue(Certificate const& ca, std::string const& name, std::string const& alternative_names = "") {
    return detail::signed_certificate(name, alternative_names, &ca);
}

}  // namespace support
