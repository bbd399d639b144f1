// ONNX Runtime through its C interface, opened at run time: nothing of it is needed to build.
//
// The few entries that are used are declared here. OrtApi is a table of function pointers whose order is a promise:
// the entries of its first version keep their places in all later ones.
// https://onnxruntime.ai/docs/api/c/struct_ort_api.html
//
// Threads: Session::run() from any, also several at once. Errors are thrown: std::runtime_error with the
// runtime's words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "stoker/bench/onnx/model_case.hpp"

namespace stoker::bench {

class OnnxRuntime {
 public:
  /// STOKER_BENCH_ONNXRUNTIME, a path, else the system's libonnxruntime. Throws if there is none.
  OnnxRuntime();
  ~OnnxRuntime();
  OnnxRuntime(const OnnxRuntime&) = delete;
  OnnxRuntime& operator=(const OnnxRuntime&) = delete;

  /// "1.30.0".
  [[nodiscard]] std::string version() const;

  /// A loaded model with inputs that were given once. It must not outlive the runtime.
  class Session {
   public:
    /// All of the runtime's optimisations are on. `threads` within an operator; operators run one after the other.
    Session(const OnnxRuntime& runtime, const ModelCase& model, int threads);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// One run with these inputs, whose outputs the runtime allocates and which are released.
    void run() const;

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker::bench
