// What the group `onnx` starts as processes of their own:
//
//     stoker_bench --onnx peer                       ONNX Runtime, asked in turns (bench/harness/asked_program.hpp):
//                                                    its threads spin after each call
//     stoker_bench --onnx first DEVICE START SET FOLDER 1   a program's first result: prints the seconds
//                                                    since START, nanoseconds of the steady clock, and its peak
//                                                    resident bytes; DEVICE "onnxruntime": by it
#pragma once

#include <string>
#include <vector>

#include "stoker/bench/harness/asked_program.hpp"
#include "stoker/bench/onnx/model_case.hpp"

namespace stoker::bench {

/// ONNX Runtime on two threads, or on one for each client.
class OnnxRuntimePeer {
 public:
  /// Starts it. Throws std::system_error, and std::runtime_error if there is no ONNX Runtime.
  OnnxRuntimePeer();
  /// "ONNX Runtime 1.30.0".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Seconds for a run, of so many in a row by each of so many clients at once. Throws std::runtime_error if the
  /// runtime refuses the model.
  [[nodiscard]] double seconds(const ModelCase& model, int calls, int clients = 1);

 private:
  std::string name_;
  AskedProgram program_;
};

struct FirstResult {
  double seconds = 0;        ///< from before the process was started until the result was there
  double peak_resident = 0;  ///< bytes
};

/// The first result of a model in a new process. `device` may be "onnxruntime". Throws std::runtime_error if the
/// program fails.
[[nodiscard]] FirstResult first_result(const ModelCase& model, const std::string& device);

/// The programs' main function.
int serve_onnx_program(const std::vector<std::string>& arguments);

}  // namespace stoker::bench
