// A certificate made for a test, and a client that speaks TLS.
#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "stoker/tests/serve/http_client.hpp"

namespace stoker {

/// Writes a key and a certificate of its own for that name, in PEM.
inline void write_certificate(const std::string& name, const std::filesystem::path& certificate,
                              const std::filesystem::path& key) {
  EVP_PKEY* const pair = EVP_EC_gen("prime256v1");
  X509* const made = X509_new();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made), 3600);
  X509_set_pubkey(made, pair);
  X509_NAME* const owner = X509_get_subject_name(made);
  X509_NAME_add_entry_by_txt(owner, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(made, owner);
  X509_sign(made, pair, EVP_sha256());
  FILE* file = std::fopen(certificate.c_str(), "w");
  PEM_write_X509(file, made);
  std::fclose(file);
  file = std::fopen(key.c_str(), "w");
  PEM_write_PrivateKey(file, pair, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
  X509_free(made);
  EVP_PKEY_free(pair);
}

class TlsClient final : public RawClient {
 public:
  /// `newest`: the newest version that it speaks; 0: the newest there is.
  explicit TlsClient(std::uint16_t port, int newest = 0) : RawClient{port} {
    std::signal(SIGPIPE, SIG_IGN);                  // OpenSSL writes without MSG_NOSIGNAL
    SSL_CTX_set_security_level(context_.get(), 0);  // or it would not offer old versions
    SSL_CTX_set_max_proto_version(context_.get(), newest);
    session_.reset(SSL_new(context_.get()));
    SSL_set_fd(session_.get(), socket());
    is_secure_ = SSL_connect(session_.get()) == 1;
    ERR_clear_error();
  }
  ~TlsClient() override = default;

  [[nodiscard]] bool is_secure() const { return is_secure_; }
  /// The name in the server's certificate.
  [[nodiscard]] std::string server_name() const {
    const std::unique_ptr<X509, void (*)(X509*)> shown{SSL_get1_peer_certificate(session_.get()),
                                                       &X509_free};
    char name[64] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(shown.get()), NID_commonName, name,
                              sizeof name);
    return name;
  }
  /// Says that it sends no more.
  void say_end() const { SSL_shutdown(session_.get()); }
  /// Whether the server has said that it sends no more, and not only gone.
  [[nodiscard]] bool was_told_the_end() const {
    return (SSL_get_shutdown(session_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }

 private:
  ssize_t write_some(std::string_view bytes) const override {
    return SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size()));
  }
  ssize_t read_some(char* into, std::size_t bytes) override {
    const int count = SSL_read(session_.get(), into, static_cast<int>(bytes));
    ERR_clear_error();
    return count > 0 ? count : 0;
  }

  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_{SSL_CTX_new(TLS_client_method()),
                                                              &SSL_CTX_free};
  std::unique_ptr<SSL, void (*)(SSL*)> session_{nullptr, &SSL_free};
  bool is_secure_ = false;
};

}  // namespace stoker
