#include "stoker/bench/onnx/onnx_programs.hpp"

#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "stoker/bench/harness/harness.hpp"
#include "stoker/bench/harness/peer_program.hpp"
#include "stoker/bench/harness/resident.hpp"
#include "stoker/bench/onnx/onnxruntime.hpp"
#include "stoker/bench/onnx/our_model.hpp"
#include "stoker/bench/onnx/turn.hpp"

namespace stoker::bench {
namespace {

constexpr int both_threads = 2;

/// The parent's questions: "version", or "CLIENTS CALLS SET FOLDER".
class Answers {
 public:
  [[nodiscard]] double seconds(std::istringstream question) {
    int clients = 0;
    int calls = 0;
    ModelCase model;
    std::string folder;
    question >> clients >> calls >> model.set >> std::ws;
    std::getline(question, folder);
    model.folder = folder;
    std::unique_ptr<OnnxRuntime::Session>& kept = sessions_[{clients, model.set, folder}];
    if (!kept)
      kept =
          std::make_unique<OnnxRuntime::Session>(runtime_, model, clients > 1 ? 1 : both_threads);
    const OnnxRuntime::Session& session = *kept;
    return seconds_per_run(calls, clients, [&] { session.run(); });
  }
  [[nodiscard]] std::string version() const { return runtime_.version(); }

 private:
  OnnxRuntime runtime_;
  std::map<std::tuple<int, int, std::string>, std::unique_ptr<OnnxRuntime::Session>> sessions_;
};

int serve_peer() {
  std::optional<Answers> answers;
  std::cout.precision(9);
  for (std::string line; std::getline(std::cin, line);) {
    try {
      if (!answers) answers.emplace();
      if (line == "version")
        std::cout << answers->version() << std::endl;
      else
        std::cout << answers->seconds(std::istringstream{line}) << std::endl;
    } catch (const std::exception& error) {
      std::cout << "refused: " << error.what() << std::endl;
    }
  }
  return 0;
}

int print_first_result(const std::string& device, std::int64_t start, const ModelCase& model) {
  if (device == "onnxruntime") {
    const OnnxRuntime runtime;
    OnnxRuntime::Session{runtime, model, both_threads}.run();
  } else {
    const System system;
    OurModel{system.device(device), model}.run();
  }
  const auto now = Clock::now().time_since_epoch();
  std::printf("%.9g\n%.0f\n",
              std::chrono::duration<double>(now - std::chrono::nanoseconds{start}).count(),
              peak_resident_bytes());
  return 0;
}

}  // namespace

OnnxRuntimePeer::OnnxRuntimePeer() : program_{"ONNX Runtime", {own_program(), "--onnx", "peer"}} {
  const std::string version = program_.ask_for_text("version");
  if (version.starts_with("refused")) throw std::runtime_error{version};
  name_ = "ONNX Runtime " + version;
}

double OnnxRuntimePeer::seconds(const ModelCase& model, int calls, int clients) {
  std::ostringstream question;
  question << clients << ' ' << calls << ' ' << model.set << ' ' << model.folder.string();
  return program_.ask(question.str());
}

FirstResult first_result(const ModelCase& model, const std::string& device) {
  const auto start = Clock::now().time_since_epoch();
  const std::int64_t nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(start).count();
  const PeerProgram program{"the first result",
                            {own_program(), "--onnx", "first", device, std::to_string(nanoseconds),
                             std::to_string(model.set)}};
  const Samples printed = program.run(model.folder.string(), 1);
  if (printed.size() != 2) throw std::runtime_error{"the first result: two numbers are expected"};
  return {.seconds = printed.values()[0], .peak_resident = printed.values()[1]};
}

int serve_onnx_program(const std::vector<std::string>& arguments) {
  if (arguments == std::vector<std::string>{"peer"}) return serve_peer();
  if (arguments.size() == 6 && arguments[0] == "first")
    return print_first_result(arguments[1], std::stoll(arguments[2]),
                              {.folder = arguments[4], .set = std::stoi(arguments[3])});
  throw std::invalid_argument{"usage: stoker_bench --onnx peer | first DEVICE START SET FOLDER 1"};
}

}  // namespace stoker::bench
