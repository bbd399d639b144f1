// The tokens that a server takes, from files: one a line; empty lines and lines that begin with '#' are skipped.
//
//     auto tokens = std::make_shared<AccessTokens>(AccessTokenFiles{.inference = "tokens"});
//     const HttpService service{system, models, {.tokens = tokens}};
//     …
//     tokens->reload();      // on SIGHUP
//
// A client sends one as `Authorization: Bearer TOKEN`. Those of `inference` open everything but control, those of
// `control` everything; health needs none. Without a file for inference, inference is open. Without a file for control,
// control is as open as inference to who comes to a loopback address or a Unix socket, and closed to all others.
//
// Threads: any. The constructor and reload() read files. Errors, which are thrown: not_found (no such file), io_error,
// invalid_argument (a file without a token, or with a line that is none: letters, digits and -._~+/=).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>

namespace stoker {

/// Empty: there are none.
struct AccessTokenFiles {
  std::filesystem::path inference = {};
  std::filesystem::path control = {};
};

class AccessTokens {
 public:
  explicit AccessTokens(AccessTokenFiles files);

  /// Reads the files again. If it throws, the tokens are those from before.
  void reload();

  /// What a token opens.
  enum class Opens : std::uint8_t { nothing, inference, all };
  /// How long it takes depends on the length of `token` and on the number of tokens only.
  [[nodiscard]] Opens opened_by(std::string_view token) const;
  /// The same for the value of an `Authorization`: "Bearer TOKEN".
  [[nodiscard]] Opens opened_by_header(std::string_view authorization) const {
    return opened_by(bearer(authorization));
  }
  /// The token of "Bearer TOKEN"; empty if there is none.
  [[nodiscard]] static std::string_view bearer(std::string_view authorization) noexcept;
  [[nodiscard]] const AccessTokenFiles& files() const noexcept { return files_; }

 private:
  struct Lists;

  const AccessTokenFiles files_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Lists> lists_;
};

}  // namespace stoker
