// `stoker serve`: models of any kind over HTTP, until a signal comes.
#include <CLI/CLI.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/api/actors.hpp"
#include "stoker/api/command_line/interrupts.hpp"
#include "stoker/api/command_line/output.hpp"
#include "stoker/api/command_line/serve/access_log.hpp"
#include "stoker/api/command_line/serve/grpc_port.hpp"
#include "stoker/api/command_line/serve/reloads.hpp"
#include "stoker/api/command_line/serve/served_repository.hpp"
#include "stoker/api/command_line/verbs.hpp"
#include "stoker/api/command_line/words/serve_words.hpp"
#include "stoker/api/serve_http.hpp"
#include "stoker/api/system.hpp"
#include "stoker/runtime/base/printable.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::command_line {
namespace {

using NamedFiles = std::vector<std::pair<std::string, std::string>>;

/// What a model that is a script prints: standard output is for what the command says.
class Prints final : public ScriptObserver {
 public:
  void on_print(std::string_view text) noexcept override { std::cerr << text; }
};

std::chrono::nanoseconds time_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>{seconds});
}

void require_files(const NamedFiles& models) {
  for (const auto& [name, file] : models)
    if (!std::filesystem::exists(file))
      throw Error{"serve", ErrorCode::not_found, "no such file", {{"file", file}}};
}

LoadModelOptions load_options(const System& system, const ServeWords& words) {
  LoadModelOptions options{.device = system.device(words.script.device),
                           .limits = words.script.bounds(),
                           .observer = std::make_shared<Prints>()};
  for (const std::string& folder : words.script.allow)
    options.allowed_directories.emplace_back(folder);
  return options;
}

ServingOptions serving_options(const ServeWords& words, const std::string& name) {
  ServingOptions serving{.name = name,
                         .batch_size = static_cast<std::int64_t>(words.batch_size),
                         .priorities = std::vector<PriorityLevel>(words.priority_levels),
                         .default_priority = words.default_priority,
                         .max_requests = words.queue};
  if (words.batch_timeout_s > 0) {
    serving.batch_timeout = time_of(words.batch_timeout_s);
    serving.wait = BatchWait::full;
  }
  return serving;
}

Serving load(const System& system, const ServeWords& words, const std::string& name,
             const std::string& file) {
  return start_serving(system.supervisor(), load_model(file, load_options(system, words)),
                       serving_options(words, name));
}

std::unique_ptr<ServedRepository> repository_of(const System& system, const ServeWords& words,
                                                const NamedFiles& models,
                                                const std::shared_ptr<ServedModels>& served) {
  if (words.repository.empty()) return nullptr;
  ModelRepositoryOptions options{.directory = words.repository,
                                 .load = load_options(system, words),
                                 .serving = serving_options(words, "")};
  for (const auto& [name, file] : models) options.others.insert(name);
  return std::make_unique<ServedRepository>(system, served, words, std::move(options));
}

std::string list(const std::vector<onnx::ValueInfo>& values) {
  std::string text;
  for (const onnx::ValueInfo& value : values) {
    text += text.empty() ? "" : ", ";
    text += printable(value.name) + " " + value.type.to_string();
  }
  return text;
}

void describe(const std::string& name, const Serving& serving) {
  const AnyModel& model = serving.model();
  const Result<ServingStatus> status = serving.status().wait();
  if (!status) return;  // a client has unloaded it meanwhile
  std::cout << printable(name) << ": ready on " << model.device().name() << ", "
            << to_string(model.info().kind) << ", "
            << (status->joins ? "batches of up to " + std::to_string(status->batch_size) + " rows"
                              : "one request at a time: " + printable(status->reason))
            << std::endl;
}

void describe_more(const Serving& serving) {
  const AnyModel& model = serving.model();
  std::cout << "  inputs: " << list(model.inputs()) << "\n  outputs: " << list(model.outputs())
            << "\n  memory in use: " << model.device().stats().memory.in_use
            << " bytes on the device\n";
}

int check(const ServeWords& words, const NamedFiles& models) {
  const System system;
  for (const auto& [name, file] : models) {
    const Serving serving = load(system, words, name, file);
    describe(name, serving);
    describe_more(serving);
  }
  auto served = std::make_shared<ServedModels>();
  if (const auto repository = repository_of(system, words, models, served))
    repository->load(
        [](const std::string& name, const Serving& serving) {
          describe(name, serving);
          describe_more(serving);
        },
        Promise<void>{}.future());
  return ok;
}

/// Until the loop is stopped. Handlers deal with their own failures; one that does not must not end the server.
void run(boost::asio::io_context& loop) noexcept {
  for (;;) {
    try {
      loop.run();
      return;
    } catch (const std::exception& error) {
      log_failure(LogLevel::error, "event loop", error);
    }
  }
}

/// The threads of an event loop.
class LoopThreads {
 public:
  LoopThreads(boost::asio::io_context& loop, std::size_t count)
      : loop_{&loop}, work_{loop.get_executor()} {
    threads_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([&loop] { run(loop); });
  }
  ~LoopThreads() {
    work_.reset();
    loop_->stop();
  }
  LoopThreads(const LoopThreads&) = delete;
  LoopThreads& operator=(const LoopThreads&) = delete;

 private:
  boost::asio::io_context* loop_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::vector<std::jthread> threads_;
};

/// Null if the command line names no file of tokens.
std::shared_ptr<AccessTokens> tokens_of(const ServeWords& words) {
  if (words.token_file.empty() && words.admin_token_file.empty()) return nullptr;
  return std::make_shared<AccessTokens>(AccessTokenFiles{words.token_file, words.admin_token_file});
}

/// Null if the command line names no certificate.
std::shared_ptr<TlsCertificate> certificate_of(const ServeWords& words) {
  if (words.tls_cert.empty()) return nullptr;
  return std::make_shared<TlsCertificate>(TlsFiles{words.tls_cert, words.tls_key});
}

void listen(const HttpServer& server, const ServeWords& words, std::uint16_t wanted) {
  const std::uint16_t port = server.listen(words.address, wanted);
  const bool is_v6 = words.address.find(':') != std::string::npos;
  std::cout << "listening at http" << (words.tls_cert.empty() ? "" : "s") << "://"
            << (is_v6 ? "[" : "") << printable(words.address) << (is_v6 ? "]" : "") << ':' << port
            << std::endl;
  if (words.socket.empty()) return;
  server.listen(std::filesystem::path{words.socket});
  std::cout << "listening at " << printable(words.socket) << std::endl;
}

int serve(const ServeWords& words, const NamedFiles& models, std::uint16_t port) {
  require_files(models);
  if (words.check) return check(words, models);
  Interrupts interrupts;
  auto stop = std::make_shared<Promise<void>>();
  const Future<void> stopped = stop->future();
  interrupts.on_signal([stop] { stop->set(); });

  std::optional<AccessLog> log;
  if (!words.access_log.empty())
    log.emplace(words.access_log,
                words.access_log_format == "json" ? AccessLogFormat::json : AccessLogFormat::text);
  const System system;
  static_cast<void>(system.device(words.script.device));  // before anybody is told an address
  auto served = std::make_shared<ServedModels>();
  for (const auto& [name, file] : models) served->announce(name);
  const std::shared_ptr<AccessTokens> tokens = tokens_of(words);
  const std::unique_ptr<ServedRepository> repository = repository_of(system, words, models, served);
  const HttpService service{system,
                            served,
                            {.triton_metrics = words.triton_metrics,
                             .repository = repository ? repository->for_clients() : nullptr,
                             .tokens = tokens}};
  boost::asio::io_context loop;
  Reloads reloads{loop};
  if (tokens) reloads.add("tokens", [tokens] { tokens->reload(); });
  const std::shared_ptr<TlsCertificate> certificate = certificate_of(words);
  if (certificate) reloads.add("certificate", [certificate] { certificate->reload(); });
  HttpServerOptions options{.tls = certificate,
                            .client_connections = words.client_connections,
                            .client_rate = static_cast<double>(words.client_rate)};
  if (log) options.on_answer = [&log](const HttpAccess& access) { log->add(access); };
  const HttpServer server{loop.get_executor(), service, options};
  std::optional<GrpcPort> grpc;
  try {
    listen(server, words, port);
    grpc.emplace(system, served, words, tokens);
  } catch (const Error& error) {
    std::cerr << "stoker: " << command_line::describe(error);
    return no_such_thing;
  }
  std::optional<RepositoryPoll> poll;  // goes after the threads
  if (repository) repository->start_poll(loop.get_executor(), poll);
  const LoopThreads threads{loop, words.threads};
  for (const auto& [name, file] : models) {
    if (stopped.ready()) break;
    std::cout << printable(name) << ": loading " << printable(file) << std::endl;
    const Serving serving = load(system, words, name, file);
    served->set(name, serving);
    describe(name, serving);
  }
  if (repository) repository->load(&describe, stopped);
  if (!stopped.ready()) std::cout << "ready" << std::endl;
  stopped.wait();
  std::cout << "ending" << std::endl;
  const Future<void> drained = server.drain(time_of(words.drain_timeout_s));
  const Future<void> grpc_drained = grpc->drain(time_of(words.drain_timeout_s));
  // No more will come to fill a batch.
  const ServedModels::Snapshot now = served->snapshot();  // a poll may change the models meanwhile
  for (const auto& [name, model] : *now)
    for (const auto& [number, version] : model.versions)
      if (version.serving) version.serving->with_timeout(std::chrono::nanoseconds::zero());
  grpc_drained.get();
  drained.get();
  return ok;
}

}  // namespace

void add_serve(CLI::App& app, Choice& choice) {
  auto* verb = add_separate(app, serve_verb);
  auto words = std::make_shared<ServeWords>();
  add_serve_words(*verb, *words);
  verb->callback([&choice, words] {
    words->require_consistent();
    choice.run = [words, models = words->named_models(), port = words->chosen_port()] {
      return serve(*words, models, port);
    };
  });
}

}  // namespace stoker::command_line
