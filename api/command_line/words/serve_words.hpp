// The words of `stoker serve`, apart from models: the stoker command lists and completes them without linking them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "script_words.hpp"
#include "stoker/api/command_line/verbs.hpp"

namespace stoker::command_line {

struct ServeWords {
  std::vector<std::string> models;  ///< FILE or NAME=FILE
  std::string repository;           ///< a directory of models; empty: none
  std::string control = "none";     ///< none, explicit, poll
  std::vector<std::string> load;    ///< names of the repository's models; "*": all
  double poll_interval_s = 15;
  std::string address = "127.0.0.1";
  std::optional<std::uint64_t> port;
  std::optional<std::uint64_t> grpc_port;
  std::string socket;
  ScriptWords script;  ///< the device, --allow and the limits of models that are scripts
  std::uint64_t batch_size = 32;
  double batch_timeout_s = 0;
  std::uint64_t queue = 1024;
  std::uint64_t priority_levels = 1;
  std::uint64_t default_priority = 1;
  std::uint64_t threads = 1;
  double drain_timeout_s = 30;
  std::string tls_cert;
  std::string tls_key;
  std::string token_file;
  std::string admin_token_file;
  std::uint64_t client_connections = 0;
  std::uint64_t client_rate = 0;
  std::string access_log;  ///< a file, "-" for standard error; empty: none
  std::string access_log_format = "text";
  bool triton_metrics = false;
  bool check = false;

  /// The name and the file of each model, in order. Throws a CLI::ValidationError for two of one name, if there is
  /// neither a model nor a repository, and for words about a repository without one.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> named_models() const;
  /// Throws a CLI::ValidationError for options that do not go together.
  void require_consistent() const;
  /// --port, else PORT of the environment, else 8000. Throws a CLI::ValidationError for a PORT that is no port.
  [[nodiscard]] std::uint16_t chosen_port() const;
};

/// Adds the options that fill `words`, which outlives the parser.
void add_serve_words(CLI::App& verb, ServeWords& words);

}  // namespace stoker::command_line
