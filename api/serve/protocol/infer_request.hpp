// The body of an inference request of the Open Inference Protocol (KServe v2): JSON, or JSON with binary tensors behind
// it.
//
//     const InferRequest request = read_infer_request(body, json_bytes, model);
//     const NamedValues outputs = serving.run(request.inputs).get();
//
// Numbers are read straight into the memory of the tensors, which lie on the model's device; on the CPU device, body
// and tensors are all the memory. Nothing is allocated for an element that cannot be in the bytes that came, and no
// nesting uses the stack.
//
// What is taken:
// - `data` is flat, or nested as `shape` says. Any other nesting is refused.
// - Integer types take integers within their range. Float types take any number within their range; digits beyond
//   their precision are rounded to nearest even. BOOL takes true, false, 1 and 0.
// - FP16 and BF16 come in binary only. NaN and infinities have no JSON, so they come in binary, too.
// - `id`, `parameters` and `outputs` may be null, as some clients write what they do not have.
// - Unknown keys and parameters are ignored. Known keys that occur twice in an object are refused.
//
// Pure functions; any thread; they do not block. Errors are thrown. Their reason() may be shown to the client, and
// text of the client in it is shortened and printable:
//
//     invalid_argument  malformed or too deeply nested JSON (with line and column), sizes that do not add up, missing
//                       and doubled inputs
//     not_found         an input or output that the model does not have (with the nearest name)
//     dtype_mismatch    another datatype than the model's, or data of another type
//     shape_mismatch    another shape than the model's, or data that do not fill it
//     unsupported       a part of the protocol that is not there: sequences, shared memory
//     limit_exceeded    beyond BodyLimits
//     out_of_memory, device_lost, closed   the device's; not the client's fault
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/model/core/model.hpp"

namespace stoker::serve::protocol {

inline constexpr const char* json_bytes_header = "Inference-Header-Content-Length";

struct RequestedOutput {
  std::string name = {};
  std::optional<bool> binary = {};   ///< none: as InferRequest::binary_outputs says
  std::uint32_t classification = 0;  ///< the number of classes; 0: the tensor itself
};

struct InferRequest {
  std::string id = {};                                    ///< empty: none came
  std::optional<std::chrono::microseconds> timeout = {};  ///< none for 0, the protocol's default
  std::optional<std::uint64_t> priority = {};             ///< none for 0
  NamedValues inputs = {};
  /// In the order of the answer. The request's; if it has none, all of the model's that the protocol can express.
  std::vector<RequestedOutput> outputs = {};
  bool names_outputs = false;   ///< whether `outputs` came from the request
  bool binary_outputs = false;  ///< the parameter `binary_data_output`

  /// The parameters of these names: microseconds, and a level.
  void set_timeout(std::uint64_t us) noexcept {
    // Longer than anybody waits, and short enough to be counted in nanoseconds.
    constexpr std::uint64_t longest = std::uint64_t{1} << 52U;
    if (us > 0) timeout = std::chrono::microseconds{us < longest ? us : longest};
  }
  void set_priority(std::uint64_t level) noexcept {
    if (level > 0) priority = level;
  }
  [[nodiscard]] bool is_binary(const RequestedOutput& output) const noexcept {
    return output.binary.value_or(binary_outputs);
  }
};

struct BodyLimits {
  /// Of all inputs together. An element of BYTES counts its bytes and those of a std::string.
  std::uint64_t tensor_bytes = std::uint64_t{1} << 30;
  std::uint32_t nesting = 64;  ///< lists and objects within each other
  std::size_t id_bytes = 1024;
};

/// `json_bytes`: the value of the header Inference-Header-Content-Length, if it came.
[[nodiscard]] InferRequest read_infer_request(std::span<const std::byte> body,
                                              std::optional<std::uint64_t> json_bytes,
                                              const AnyModel& model, const BodyLimits& limits = {});

}  // namespace stoker::serve::protocol
