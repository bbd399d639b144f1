// A model's declaration of a value: its name, kind, element type and dimensions, some of which may
// be symbols.
//
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/pipeline/onnx/graph/element_type.hpp"

namespace stoker::onnx {

/// A known extent, a symbol ("batch"), or neither: unknown.
struct Dimension {
  std::optional<std::int64_t> extent;  ///< ≥ 0
  std::string symbol;                  ///< empty if known or unknown

  friend bool operator==(const Dimension&, const Dimension&) = default;
};

enum class ValueKind : std::uint8_t {
  unknown,        ///< the file does not say
  tensor,         ///< `element` and `dims`
  sparse_tensor,  ///< `element` and `dims`
  sequence,       ///< of `inner[0]`
  optional,       ///< none or one `inner[0]`
  map,            ///< from `element` (an integer or string) to `inner[0]`
  opaque,         ///< of another domain
};

struct ValueType {
  ValueKind kind = ValueKind::unknown;
  ElementType element = ElementType::undefined;
  std::optional<std::vector<Dimension>> dims;  ///< nothing: the rank is unknown, too
  /// One for sequence, optional and map; otherwise empty.
  std::vector<ValueType> inner;

  /// "float[batch,3,?,?]", "seq(int64[...])", "optional(float[2])", "map(string,float[])",
  /// "unknown". "[...]" is any rank.
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ValueType&, const ValueType&) = default;
};

struct ValueInfo {
  std::string name;
  ValueType type;
  std::string doc;
};

}  // namespace stoker::onnx
