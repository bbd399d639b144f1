// The certificate and the key with which a server speaks TLS, from files in PEM.
//
//     auto certificate = std::make_shared<TlsCertificate>(TlsFiles{"server.pem", "server.key"});
//     HttpServer server{loop.get_executor(), service, {.tls = certificate}};
//     …
//     certificate->reload();      // on SIGHUP; for connections that begin from then on
//
// TLS is 1.2 or 1.3. The first certificate of the file is the server's; those that have signed it follow.
//
// Threads: any. The constructor and reload() read files. Errors, which are thrown: not_found (no such file),
// invalid_argument (no certificate, no key, a key that needs a password, or one of another certificate), out_of_memory.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>

namespace boost::asio::ssl {
class context;
}

namespace stoker {

struct TlsFiles {
  std::filesystem::path certificate = {};
  std::filesystem::path key = {};
};

class TlsCertificate {
 public:
  explicit TlsCertificate(TlsFiles files);

  /// Reads the files again. If it throws, the certificate is that from before.
  void reload();
  /// What connections begin with now; never null.
  [[nodiscard]] std::shared_ptr<boost::asio::ssl::context> context() const;

 private:
  const TlsFiles files_;
  mutable std::mutex mutex_;
  std::shared_ptr<boost::asio::ssl::context> context_;
};

}  // namespace stoker
