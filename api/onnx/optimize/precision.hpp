// The type in which a model's f32 numbers are stored and computed on request, and a report on the
// nodes that stay in f32.
//
// Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::onnx {

enum class Precision : std::uint8_t {
  full,  ///< the types of the file
  f16,   ///< IEEE 754 binary16: 11 bits of precision, up to 65504
  bf16,  ///< bfloat16: 8 bits of precision, the range of f32
};

/// "full", "f16", "bf16".
[[nodiscard]] std::string_view to_string(Precision precision) noexcept;
/// Nothing for any other word.
[[nodiscard]] std::optional<Precision> parse_precision(std::string_view word) noexcept;

/// The effect of a precision on a model.
struct PrecisionReport {
  /// Nodes of one operator that stay in f32 for one reason.
  struct Kept {
    std::string name;       ///< "Exp", "com.microsoft.FusedMatMul"
    std::string why;        ///< "it is sensitive to rounding"
    std::size_t nodes = 0;  ///< in all graphs
    std::string first;      ///< Node::place() of the first one, escaped
  };

  Precision precision = Precision::full;
  std::size_t narrowed = 0;        ///< nodes that compute in it, in all graphs
  std::size_t weights = 0;         ///< constants that are stored in it
  std::uint64_t weight_bytes = 0;  ///< of these constants; in f32 twice as many
  std::vector<Kept> kept = {};     ///< by name and reason, without nodes that have no f32 operand
};

}  // namespace stoker::onnx
