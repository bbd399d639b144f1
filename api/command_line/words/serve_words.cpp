#include "serve_words.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string_view>

#include "stoker/api/command_line/numbers.hpp"

namespace stoker::command_line {
namespace {

constexpr std::uint16_t default_port = 8000;
constexpr std::uint64_t most_port = 65535;
constexpr std::uint64_t most_levels = 100;

constexpr const char* footer = R"(
Examples:
  stoker serve mnist.onnx
  stoker serve digits=mnist.onnx faces.onnx edges=edges_model.lua --port 8080 --device vulkan
  stoker serve mnist.onnx --check
  stoker serve --repository models --control explicit --load-model faces
  curl localhost:8000/v2/models/mnist

MODEL is an ONNX file, a network that Stoker saved, or a script that returns a model. Without NAME= its name is that of
the file, without its ending. The protocol is the Open Inference Protocol (KServe v2): GET /v2/health/ready,
GET /v2/models/NAME, POST /v2/models/NAME/infer, GET /metrics; with --control explicit also
POST /v2/repository/index, /v2/repository/models/NAME/load and …/unload. The server runs until Ctrl-C or SIGTERM; then it accepts
no more, answers what it has accepted, and ends. Exit code 0: it ended so, or --check found nothing wrong; 1: a model
failed; 2: the command line is wrong; 3: no such file or device, no model, an address that is taken or not there.)";

}  // namespace

std::vector<std::pair<std::string, std::string>> ServeWords::named_models() const {
  std::vector<std::pair<std::string, std::string>> named;
  std::set<std::string> names;
  if (models.empty() && repository.empty())
    throw CLI::ValidationError{"MODEL", "give a model, or --repository"};
  if (repository.empty() && control != "none")
    throw CLI::ValidationError{"--control", "it needs --repository"};
  if (!load.empty() && control != "explicit")
    throw CLI::ValidationError{"--load-model", "it needs --control explicit"};
  for (const std::string& word : models) {
    const std::size_t equals = word.find('=');
    // A path may have an '=' of its own.
    const bool has_name = equals != std::string::npos && word.find('/') > equals;
    std::string file = has_name ? word.substr(equals + 1) : word;
    std::string name =
        has_name ? word.substr(0, equals) : std::filesystem::path{word}.stem().string();
    if (name.empty() || file.empty())
      throw CLI::ValidationError{"MODEL", "'" + word + "' is neither FILE nor NAME=FILE"};
    const bool is_in_repository =
        !repository.empty() && std::filesystem::exists(std::filesystem::path{repository} / name);
    if (is_in_repository || !names.insert(name).second)
      throw CLI::ValidationError{"MODEL", "two models are named '" + name + "'; write NAME=FILE"};
    named.emplace_back(std::move(name), std::move(file));
  }
  return named;
}

void ServeWords::require_consistent() const {
  if (tls_cert.empty() != tls_key.empty())
    throw CLI::ValidationError{tls_cert.empty() ? "--tls-key" : "--tls-cert",
                               "a certificate and its key are needed, both"};
  if (default_priority > priority_levels)
    throw CLI::ValidationError{
        "--default-priority",
        "there are only " + std::to_string(priority_levels) + " --priority-levels"};
  if (poll_interval_s <= 0) throw CLI::ValidationError{"--poll-interval", "it must be above 0"};
}

std::uint16_t ServeWords::chosen_port() const {
  if (port) return static_cast<std::uint16_t>(*port);
  const char* const given =
      std::getenv("PORT");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (given == nullptr || *given == '\0') return default_port;
  const std::string_view text{given};
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size() || number > most_port)
    throw CLI::ValidationError{"PORT",
                               "the environment has '" + std::string{text} + "', which is no port"};
  return static_cast<std::uint16_t>(number);
}

void add_serve_words(CLI::App& verb, ServeWords& words) {
  verb.footer(footer);
  verb.add_option("MODEL", words.models, "FILE or NAME=FILE, for each model")->type_name("MODEL");
  verb.add_option("--repository", words.repository,
                  "A directory of models, NAME/VERSION/model.onnx (.safetensors, .lua)")
      ->type_name("DIR");
  verb.add_option("--control", words.control,
                  "When models of the repository are loaded: all at the start (none), by clients "
                  "(explicit), or as the directory changes (poll)")
      ->check(CLI::IsMember({"none", "explicit", "poll"}))
      ->capture_default_str();
  verb.add_option("--load-model", words.load,
                  "Under --control explicit: a model that is loaded at the start; *: all")
      ->type_name("NAME")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  add_seconds(verb, "--poll-interval", 0.001, words.poll_interval_s,
              "Under --control poll: how often the directory is looked at (15)");
  verb.add_option("--address", words.address, "Where to listen (127.0.0.1); 0.0.0.0: everywhere")
      ->type_name("ADDRESS");
  add_whole(
      verb, "--port", {0, most_port}, [&words](std::uint64_t n) { words.port = n; },
      "The port (PORT of the environment, else 8000); 0: any that is free");
  add_whole(
      verb, "--grpc-port", {0, most_port}, [&words](std::uint64_t n) { words.grpc_port = n; },
      "The port for gRPC; 0: any that is free. Without it, there is no gRPC");
  verb.add_option("--socket", words.socket, "Listen at this Unix socket, too")->type_name("PATH");
  words.script.add_device(verb);
  add_whole(
      verb, "--batch-size", {1, 1'000'000'000}, [&words](std::uint64_t n) { words.batch_size = n; },
      "The most rows of a batch (32)");
  add_seconds(verb, "--batch-timeout", 0.001, words.batch_timeout_s,
              "How long a batch waits to be full; 0 (default): not at all");
  add_whole(
      verb, "--queue", {1, 1'000'000'000}, [&words](std::uint64_t n) { words.queue = n; },
      "Requests that may wait for each model (1024); others are refused");
  add_whole(
      verb, "--priority-levels", {1, most_levels},
      [&words](std::uint64_t n) { words.priority_levels = n; },
      "Levels of the parameter 'priority' (1); 1 is served first");
  add_whole(
      verb, "--default-priority", {1, most_levels},
      [&words](std::uint64_t n) { words.default_priority = n; },
      "The level of requests that name none, or none that is there (1)");
  add_whole(
      verb, "--threads", {1, 1024}, [&words](std::uint64_t n) { words.threads = n; },
      "Threads that read and write connections (1)");
  add_seconds(verb, "--drain-timeout", 0.001, words.drain_timeout_s,
              "How long accepted requests may take at the end (30)");
  verb.add_option(
          "--tls-cert", words.tls_cert,
          "Speak TLS with this certificate, and those that signed it, in PEM. Read again on SIGHUP")
      ->type_name("FILE");
  verb.add_option("--tls-key", words.tls_key, "The key of --tls-cert, in PEM")->type_name("FILE");
  verb.add_option(
          "--token-file", words.token_file,
          "Clients need one of its tokens, one a line; health is open. Read again on SIGHUP")
      ->type_name("FILE");
  verb.add_option("--admin-token-file", words.admin_token_file,
                  "Control needs one of its tokens, which open the rest, too. Without it, control "
                  "is for loopback only")
      ->type_name("FILE");
  add_whole(
      verb, "--client-connections", {0, 1'000'000'000},
      [&words](std::uint64_t n) { words.client_connections = n; },
      "Connections of one client address; 0 (default): any number");
  add_whole(
      verb, "--client-rate", {0, 1'000'000'000},
      [&words](std::uint64_t n) { words.client_rate = n; },
      "Requests a second of one client address; 0 (default): any number");
  verb.add_option("--access-log", words.access_log,
                  "A line for each answer at the end of this file; -: on standard error")
      ->type_name("FILE");
  verb.add_option("--access-log-format", words.access_log_format,
                  "The form of these lines: text or json (text)")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORM");
  verb.add_flag("--metrics-triton", words.triton_metrics,
                "/metrics has the names of Triton's metrics, too");
  verb.add_flag("--check", words.check, "Load the models, say what each will do, and end");
  verb.add_option("--allow", words.script.allow,
                  "A further directory whose files a model that is a script may use")
      ->type_name("DIR")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  words.script.add_bounds(verb);
}

void describe_serve(CLI::App& verb) {
  const auto words = std::make_shared<ServeWords>();
  add_serve_words(verb, *words);
  verb.callback([words] {});  // keeps the words for as long as the parser
}

}  // namespace stoker::command_line
