// `stoker serve`: models over HTTP, until a signal comes. The commands of docs/serving.md run here as they stand.
#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "command_folder.hpp"
#include "stoker/tests/checkout/checkout.hpp"
#include "stoker/tests/serve/http/tls_client.hpp"

namespace stoker {
namespace {

constexpr const char* doubled = R"(
  return {inputs = {{name = "x", shape = {"rows", 2}}}, outputs = {"y"},
          predict = function(given) return {y = given.x * 2} end})";
const std::string body =
    R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}]})";

class ServeCommand : public CommandFolder {
 protected:
  void SetUp() override {
    CommandFolder::SetUp();
    write("double.lua", doubled);
    unsetenv("PORT");
  }
  void TearDown() override {
    unsetenv("PORT");
    CommandFolder::TearDown();
  }
  [[nodiscard]] CommandResult serve(std::vector<std::string> words) const {
    words.insert(words.begin(), "serve");
    return on_cpu(std::move(words));
  }
  /// A server that is ready, at a free port.
  [[nodiscard]] std::unique_ptr<CommandProcess> start(std::vector<std::string> words) const {
    words.insert(words.begin(), "serve");
    words.insert(words.end(), {"--device", "cpu"});
    auto process = std::make_unique<CommandProcess>(words, directory.string());
    EXPECT_TRUE(process->wait_for_output("\nready\n")) << process->output();
    return process;
  }
  static std::uint16_t port_of(const CommandProcess& process,
                               const std::string& mark = "http://127.0.0.1:") {
    const std::size_t at = process.output().find(mark);
    if (at == std::string::npos) return 0;
    return static_cast<std::uint16_t>(std::stoul(process.output().substr(at + mark.size())));
  }
};

TEST_F(ServeCommand, serves_until_a_signal_comes) {
  const auto process =
      start({"double.lua", "again=double.lua", "--port", "0", "--access-log", "-"});
  RawClient client{port_of(*process)};
  for (const char* name : {"double", "again"}) {
    const RawAnswer answer = client.ask(post("/v2/models/" + std::string{name} + "/infer", body));
    EXPECT_EQ(answer.status, 200U) << answer.body;
    EXPECT_EQ(nlohmann::json::parse(answer.body)["outputs"][0]["data"], (nlohmann::json{2, 4}));
  }
  process->signal(SIGTERM);
  EXPECT_TRUE(client.is_at_end());
  client.close();
  const CommandResult result = process->finish();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out,
                       "double: loading double.lua\ndouble: ready on cpu, pipeline script, "
                       "batches of up to 32 rows\n"))
      << result.out;
  EXPECT_TRUE(contains(result.out, "\nready\nending\n")) << result.out;
  EXPECT_TRUE(contains(result.err, "POST /v2/models/again/infer 200 ")) << result.err;
}

TEST_F(ServeCommand, serves_grpc_where_it_was_built_with_it) {
  const auto process = std::make_unique<CommandProcess>(
      std::vector<std::string>{"serve", "double.lua", "--port", "0", "--grpc-port", "0", "--device",
                               "cpu"},
      directory.string());
  if (!process->wait_for_output("\nready\n")) {
    const CommandResult result = process->finish();
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_TRUE(contains(result.err, "this command was built without gRPC")) << result.err;
    return;
  }
  EXPECT_NE(port_of(*process, "listening at grpc://127.0.0.1:"), 0) << process->output();
  process->signal(SIGTERM);
  EXPECT_EQ(process->finish().exit_code, 0);
}

TEST_F(ServeCommand, does_not_wait_for_full_batches_when_it_ends) {
  const auto process = start({"double.lua", "--port", "0", "--batch-timeout", "10000"});
  RawClient waiting{port_of(*process)};
  RawClient watching{port_of(*process)};
  waiting.send(post("/v2/models/double/infer", body));
  while (!contains(watching.ask(get("/metrics")).body,
                   "stoker_queue_depth{model=\"double\",version=\"1\",level=\"1\"} 1"))
    std::this_thread::yield();
  process->signal(SIGTERM);
  EXPECT_EQ(waiting.receive().status, 200U);
  waiting.close();
  watching.close();
  EXPECT_EQ(process->finish().exit_code, 0);
}

TEST_F(ServeCommand, asks_for_tokens_and_reads_them_again_on_sighup) {
  write("tokens", "first\n");
  const auto process = start({"double.lua", "--port", "0", "--token-file", "tokens"});
  const auto status = [&](const std::string& token) {
    return RawClient{port_of(*process)}
        .ask(post("/v2/models/double/infer", body, "Authorization: Bearer " + token + "\r\n"))
        .status;
  };
  EXPECT_EQ(RawClient{port_of(*process)}.ask(get("/v2/health/ready")).status, 200U);
  EXPECT_EQ(RawClient{port_of(*process)}.ask(get("/v2")).status, 401U);
  EXPECT_EQ(status("first"), 200U);
  EXPECT_EQ(status("second"), 401U);
  write("tokens", "second\n");
  process->signal(SIGHUP);
  while (status("second") != 200U) std::this_thread::yield();
  EXPECT_EQ(status("first"), 401U);
  process->signal(SIGTERM);
  const CommandResult result = process->finish();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result.err, "read again: tokens\n")) << result.err;
  EXPECT_EQ(serve({"double.lua", "--port", "0", "--token-file", "nothing"}).exit_code, 3);
}

TEST_F(ServeCommand, speaks_tls_and_reads_its_certificate_again_on_sighup) {
  write_certificate("first", directory / "cert.pem", directory / "key.pem");
  const auto process =
      start({"double.lua", "--port", "0", "--tls-cert", "cert.pem", "--tls-key", "key.pem"});
  const std::uint16_t port = port_of(*process, "https://127.0.0.1:");
  EXPECT_EQ(TlsClient{port}.server_name(), "first");
  EXPECT_EQ(TlsClient{port}.ask(post("/v2/models/double/infer", body)).status, 200U);
  write_certificate("second", directory / "cert.pem", directory / "key.pem");
  process->signal(SIGHUP);
  while (TlsClient{port}.server_name() != "second") std::this_thread::yield();
  process->signal(SIGTERM);
  EXPECT_EQ(process->finish().exit_code, 0);
  EXPECT_EQ(serve({"double.lua", "--port", "0", "--tls-cert", "cert.pem"}).exit_code, 2);
  EXPECT_EQ(serve({"double.lua", "--port", "0", "--tls-cert", "nothing", "--tls-key", "key.pem"})
                .exit_code,
            3);
}

TEST_F(ServeCommand, logs_answers_as_lines_of_json) {
  const auto process = start({"double.lua", "--port", "0", "--access-log", "log",
                              "--access-log-format", "json", "--metrics-triton"});
  RawClient client{port_of(*process)};
  std::string with_id = body;
  with_id.insert(1, R"("id":"first",)");
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  EXPECT_EQ(client
                .ask(post("/v2/models/double/infer", with_id,
                          "traceparent: 00-" + trace + "-00f067aa0ba902b7-01\r\n"))
                .status,
            200U);
  const RawAnswer metrics = client.ask(get("/metrics"));
  EXPECT_TRUE(contains(metrics.body, "\nnv_inference_count{model=\"double\",version=\"1\"} 1\n"));
  process->signal(SIGTERM);
  EXPECT_EQ(process->finish().exit_code, 0);
  std::ifstream lines{directory / "log"};
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const auto first = nlohmann::json::parse(line);
  EXPECT_EQ(first["method"], "POST");
  EXPECT_EQ(first["target"], "/v2/models/double/infer");
  EXPECT_EQ(first["status"], 200);
  EXPECT_EQ(first["model"], "double");
  EXPECT_EQ(first["version"], "1");
  EXPECT_EQ(first["id"], "first");
  EXPECT_EQ(first["rows"], 1);
  EXPECT_EQ(first["batch_rows"], 1);
  EXPECT_EQ(first["trace_id"], trace);
  EXPECT_GT(first["ms"], 0);
  EXPECT_GE(first["ms"], first["compute_ms"]);
  EXPECT_TRUE(first.contains("queue_ms"));
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_FALSE(nlohmann::json::parse(line).contains("model"));
}

TEST_F(ServeCommand, listens_at_the_port_of_its_surroundings) {
  setenv("PORT", "0", 1);
  const auto process = start({"double.lua"});
  EXPECT_EQ(RawClient{port_of(*process)}.ask(get("/v2/health/ready")).status, 200U);
  process->signal(SIGINT);
  EXPECT_EQ(process->finish().exit_code, 0);
  setenv("PORT", "many", 1);
  const CommandResult refused = serve({"double.lua"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.err, "'many', which is no port")) << refused.err;
}

TEST_F(ServeCommand, refuses_at_its_start_what_cannot_work) {
  boost::asio::io_context own;
  const boost::asio::ip::tcp::acceptor taken{own, {boost::asio::ip::address_v4::loopback(), 0}};
  const CommandResult port =
      serve({"double.lua", "--port", std::to_string(taken.local_endpoint().port())});
  EXPECT_EQ(port.exit_code, 3);
  EXPECT_TRUE(contains(port.err, "cannot listen at 127.0.0.1:")) << port.err;
  EXPECT_EQ(serve({"double.lua", "--port", "0", "--address", "203.0.113.1"}).exit_code, 3);
  EXPECT_EQ(serve({"nothing.onnx", "--port", "0"}).exit_code, 3);
  const CommandResult twice = serve({"double.lua", "double.onnx"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_TRUE(contains(twice.err, "two models are named 'double'")) << twice.err;
  const CommandResult option = serve({"double.lua", "--prot", "1"});
  EXPECT_EQ(option.exit_code, 2);
  EXPECT_TRUE(contains(option.err, "did you mean '--port'?")) << option.err;
  EXPECT_EQ(serve({}).exit_code, 2);
  EXPECT_EQ(serve({"double.lua", "--port", "70000"}).exit_code, 2);
  EXPECT_EQ(serve({"=double.lua"}).exit_code, 2);
  const CommandResult level =
      serve({"double.lua", "--priority-levels", "2", "--default-priority", "3"});
  EXPECT_EQ(level.exit_code, 2);
  EXPECT_TRUE(contains(level.err, "there are only 2 --priority-levels")) << level.err;
}

TEST_F(ServeCommand, refuses_what_is_no_model) {
  write("notes.txt", "this is no model");
  EXPECT_EQ(serve({"notes.txt", "--port", "0"}).exit_code, 3);
  write("broken.onnx", "neither is this");
  EXPECT_EQ(serve({"broken.onnx", "--port", "0"}).exit_code, 1) << "a file that is damaged";
}

TEST_F(ServeCommand, says_what_each_model_will_do) {
  const CommandResult result = serve({"double.lua", "--check", "--batch-size", "8"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "batches of up to 8 rows\n  inputs: x float[rows,2]\n"))
      << result.out;
  EXPECT_TRUE(contains(result.out, "memory in use: ")) << result.out;
  EXPECT_FALSE(contains(result.out, "listening"));
}

class RepositoryCommand : public ServeCommand {
 protected:
  void SetUp() override {
    ServeCommand::SetUp();
    write_model("twice", 1, 2);
    write_model("thrice", 4, 3);
  }
  /// y = n x.
  void write_model(const std::string& name, int version, int n) const {
    const std::string folder = "models/" + name + "/" + std::to_string(version);
    std::filesystem::create_directories(directory / folder);
    write(folder + "/model.lua",
          R"(return {inputs = {{name = "x", shape = {"rows", 2}}}, outputs = {"y"},
                     predict = function(given) return {y = given.x * )" +
              std::to_string(n) + " } end}");
  }
  static RawAnswer infer(std::uint16_t port, const std::string& name) {
    return RawClient{port}.ask(post("/v2/models/" + name + "/infer", body));
  }
};

TEST_F(RepositoryCommand, serves_the_models_of_a_directory) {
  const auto process = start({"double.lua", "--repository", "models", "--port", "0"});
  const std::uint16_t port = port_of(*process);
  EXPECT_EQ(nlohmann::json::parse(infer(port, "thrice").body)["model_version"], "4");
  EXPECT_EQ(infer(port, "twice").status, 200U);
  EXPECT_EQ(infer(port, "double").status, 200U);
  EXPECT_EQ(RawClient{port}.ask(post("/v2/repository/index", "")).status, 404U);
  process->signal(SIGTERM);
  const CommandResult result = process->finish();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result.out, "thrice: loading\nthrice version 4: ready on cpu"))
      << result.out;
}

TEST_F(RepositoryCommand, loads_for_clients_under_explicit_control) {
  const auto process = start(
      {"--repository", "models", "--control", "explicit", "--load-model", "twice", "--port", "0"});
  const std::uint16_t port = port_of(*process);
  EXPECT_EQ(infer(port, "twice").status, 200U);
  EXPECT_EQ(infer(port, "thrice").status, 503U);
  EXPECT_EQ(RawClient{port}.ask(post("/v2/repository/models/thrice/load", "")).status, 200U);
  EXPECT_EQ(infer(port, "thrice").status, 200U);
  process->signal(SIGTERM);
  EXPECT_EQ(process->finish().exit_code, 0);
}

TEST_F(RepositoryCommand, takes_new_versions_as_they_come) {
  const auto process = start(
      {"--repository", "models", "--control", "poll", "--poll-interval", "0.01", "--port", "0"});
  const std::uint16_t port = port_of(*process);
  write_model(".new", 2, 5);
  std::filesystem::rename(directory / "models/.new/2", directory / "models/twice/2");
  std::string version;
  while (version != "2")
    version = nlohmann::json::parse(infer(port, "twice").body)["model_version"].get<std::string>();
  process->signal(SIGTERM);
  EXPECT_EQ(process->finish().exit_code, 0);
}

TEST_F(RepositoryCommand, is_refused_at_its_start_if_it_cannot_work) {
  EXPECT_EQ(serve({"--repository", "nowhere", "--port", "0"}).exit_code, 3);
  EXPECT_EQ(serve({"--control", "poll", "double.lua"}).exit_code, 2);
  EXPECT_EQ(serve({"--repository", "models", "--load-model", "twice"}).exit_code, 2);
  EXPECT_EQ(serve({"--repository", "models", "--control", "often"}).exit_code, 2);
  EXPECT_EQ(serve({"--repository", "models", "--poll-interval", "0"}).exit_code, 2);
  const CommandResult twice = serve({"--repository", "models", "twice=double.lua"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_TRUE(contains(twice.err, "two models are named 'twice'")) << twice.err;
  const CommandResult unknown = serve(
      {"--repository", "models", "--control", "explicit", "--load-model", "twise", "--port", "0"});
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_TRUE(contains(unknown.err, "did you mean 'twice'?")) << unknown.err;
  write("models/twice/1/model.lua", "this is no script");
  EXPECT_NE(serve({"--repository", "models", "--port", "0"}).exit_code, 0);
  const CommandResult checked = serve({"--repository", "models", "--check"});
  EXPECT_NE(checked.exit_code, 0);
  EXPECT_TRUE(contains(checked.out, "thrice version 4: ready")) << checked.out;
}

/// The blocks of a page, with their languages.
std::vector<std::pair<std::string, std::string>> blocks_of(const std::filesystem::path& page) {
  std::vector<std::pair<std::string, std::string>> blocks;
  std::ifstream lines{page};
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.emplace_back(line.substr(3), "");
    } else if (inside) {
      blocks.back().second += line + "\n";
    }
  }
  return blocks;
}

std::string output_of(const std::string& command) {
  std::string output;
  FILE* const pipe = popen(command.c_str(), "r");
  char bytes[4096];
  while (const std::size_t count = std::fread(bytes, 1, sizeof bytes, pipe))
    output.append(bytes, count);
  pclose(pipe);
  return output;
}

TEST_F(ServeCommand, answers_the_curl_lines_of_its_guide) {
  if (std::system("curl --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "curl is not installed";
  const auto blocks = blocks_of(checkout_folder() / "docs" / "serving.md");
  std::unique_ptr<CommandProcess> server;
  std::size_t seen = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto& [language, text] = blocks[i];
    if (language != "sh") continue;
    if (text.starts_with("stoker serve ")) {
      std::istringstream line{text.substr(std::string{"stoker "}.size())};
      std::vector<std::string> words{std::istream_iterator<std::string>{line}, {}};
      words.insert(words.end(), {"--device", "cpu", "--port", "0"});
      server = std::make_unique<CommandProcess>(words, checkout_folder().string());
      ASSERT_TRUE(server->wait_for_output("\nready\n")) << server->output();
      // The port that curl will really ask.
      write(".curlrc", "silent\nconnect-to = \"localhost:8000:127.0.0.1:" +
                           std::to_string(port_of(*server)) + "\"\n");
      setenv("CURL_HOME", directory.c_str(), 1);
    } else if (text.starts_with("curl ")) {
      ASSERT_TRUE(server) << "it comes after `stoker serve`";
      ASSERT_LT(i + 1, blocks.size());
      ASSERT_EQ(blocks[i + 1].first, "json") << text;
      const std::string answer = output_of(text);
      EXPECT_EQ(nlohmann::json::parse(answer, nullptr, false),
                nlohmann::json::parse(blocks[i + 1].second))
          << text << answer;
      ++seen;
    }
  }
  unsetenv("CURL_HOME");
  EXPECT_GE(seen, 5U);
  ASSERT_TRUE(server);
  server->signal(SIGTERM);
  EXPECT_EQ(server->finish().exit_code, 0);
}

}  // namespace
}  // namespace stoker
