// The inputs of an inference request as they come, checked against those of the model. Bodies in JSON and messages of
// gRPC are read into it.
//
// Threads: as a value; the model must outlive it. Errors are thrown (infer_request.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/api/model/core/model.hpp"
#include "stoker/api/serve/protocol/json_elements.hpp"

namespace stoker::serve::protocol {

class RequestInputs {
 public:
  /// `most_bytes`: of all inputs together (BodyLimits::tensor_bytes).
  RequestInputs(const AnyModel& model, std::uint64_t most_bytes) noexcept
      : model_{model}, most_bytes_{most_bytes}, bytes_left_{most_bytes} {}

  /// Refuses a tensor that the model does not take, and one of a name that was added before.
  void check(const ExpectedTensor& tensor) const;
  /// Counts bytes of tensors.
  void spend(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t bytes_left() const noexcept { return bytes_left_; }
  /// A tensor of numbers; `fill` is given all bytes of its memory. Counts them.
  [[nodiscard]] onnx::Value made(const ExpectedTensor& tensor,
                                 const std::function<void(std::span<std::byte>)>& fill);
  /// A tensor in the protocol's binary form. Counts its bytes.
  [[nodiscard]] onnx::Value from_binary(const ExpectedTensor& tensor,
                                        std::span<const std::byte> bytes);
  /// A tensor of strings, counted already. Where the model declares one text, a list of one is that one. Precondition:
  /// check().
  [[nodiscard]] onnx::Value texts(const ExpectedTensor& tensor,
                                  std::vector<std::string> strings) const;
  void add(std::string name, onnx::Value value);

  /// Refuses if an input is missing.
  [[nodiscard]] NamedValues finish() &&;

 private:
  const AnyModel& model_;
  const std::uint64_t most_bytes_;
  std::uint64_t bytes_left_;
  NamedValues inputs_;
};

/// Throws what is wrong with that input.
[[noreturn]] void refuse_input(ErrorCode code, std::string_view name, const std::string& why);

}  // namespace stoker::serve::protocol
