#include "stoker/api/serve/http/security/tls_certificate.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/ssl/context.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "stoker/runtime/base/error.hpp"

namespace stoker {
namespace {

namespace ssl = boost::asio::ssl;

/// A key with a password is refused: OpenSSL would ask for it at the terminal.
int no_password(char*, int, int, void*) { return 0; }

std::shared_ptr<ssl::context> context_of(const TlsFiles& files) {
  const auto refuse = [](const std::filesystem::path& file, ErrorCode code,
                         const std::string& why) {
    throw Error{
        "tls_certificate", code, "'" + file.string() + "' " + why, {{"file", file.string()}}};
  };
  for (const auto& file : {files.certificate, files.key}) {
    std::error_code unknown;
    if (!std::filesystem::exists(file, unknown)) refuse(file, ErrorCode::not_found, "is not there");
  }
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_default_passwd_cb(native, &no_password);
  boost::system::error_code failure;
  context->use_certificate_chain_file(files.certificate.string(), failure);
  if (failure) refuse(files.certificate, ErrorCode::invalid_argument, "has no certificate in PEM");
  context->use_private_key_file(files.key.string(), ssl::context::pem, failure);
  if (failure || SSL_CTX_check_private_key(native) != 1) {
    ERR_clear_error();
    refuse(files.key, ErrorCode::invalid_argument,
           "has no key in PEM that belongs to the certificate and needs no password");
  }
  return context;
}

}  // namespace

TlsCertificate::TlsCertificate(TlsFiles files) : files_{std::move(files)} { reload(); }

void TlsCertificate::reload() {
  std::shared_ptr<ssl::context> context = context_of(files_);
  const std::lock_guard lock{mutex_};
  context_.swap(context);
}

std::shared_ptr<ssl::context> TlsCertificate::context() const {
  const std::lock_guard lock{mutex_};
  return context_;
}

}  // namespace stoker
