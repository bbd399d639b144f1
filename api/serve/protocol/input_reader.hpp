// The list `inputs` of an inference request, entry by entry, into values of a model's inputs.
//
// Threads: as a value; the model and the reader must outlive it. Errors are thrown (infer_request.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "stoker/api/model/core/model.hpp"
#include "stoker/api/serve/protocol/infer_request.hpp"
#include "stoker/api/serve/protocol/json_reader.hpp"
#include "stoker/api/serve/protocol/request_inputs.hpp"

namespace stoker::serve::protocol {

class InputReader {
 public:
  /// `binary`: what follows the JSON; nothing if the header did not come.
  InputReader(JsonReader& reader, std::optional<std::span<const std::byte>> binary,
              const AnyModel& model, std::uint64_t most_bytes) noexcept;

  /// Reads the list, the reader before it.
  void read();
  /// Refuses inputs that are missing, and bytes that no input has. Call it at the end of the JSON.
  [[nodiscard]] NamedValues finish() &&;

 private:
  /// An entry of the list, as far as it was read.
  struct Entry {
    std::optional<std::string> name = {};
    std::optional<onnx::ElementType> type = {};
    std::optional<Shape> shape = {};
    std::optional<std::uint64_t> binary_size = {};
    const char* data = nullptr;  ///< where the value of `data` begins
    onnx::Value value = {};
  };
  void read_entry();
  [[nodiscard]] Shape read_shape();
  [[nodiscard]] onnx::ElementType read_datatype();
  void read_parameters(Entry& entry);
  void read_data(Entry& entry);
  /// Checks the entry against the model, then reads its elements.
  void fill(Entry& entry);
  [[nodiscard]] onnx::Value from_json(const ExpectedTensor& tensor, const char* data);
  [[nodiscard]] onnx::Value from_binary(const ExpectedTensor& tensor, std::uint64_t size);

  JsonReader& reader_;
  std::optional<std::span<const std::byte>> binary_;
  RequestInputs inputs_;
};

}  // namespace stoker::serve::protocol
