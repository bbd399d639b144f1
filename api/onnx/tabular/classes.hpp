// The classes of a classifier of ai.onnx.ml, and their labels: texts or integers.
//
// Immutable; any thread. Errors are thrown.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stoker/api/onnx/core/call.hpp"

namespace stoker::onnx {

class Classes {
 public:
  /// Reads the attribute classlabels_strings or the one named `integers`. Throws invalid_argument unless
  /// exactly one of them has labels.
  Classes(const Call& call, std::string_view integers);

  [[nodiscard]] std::int64_t count() const noexcept;
  [[nodiscard]] bool are_texts() const noexcept { return labels_.index() == 1; }
  /// All labels as a vector that the host knows.
  [[nodiscard]] Value all() const;
  /// The labels of `classes`, integers below count(). Text labels are values to come (value.hpp).
  [[nodiscard]] Value labels(const Tensor& classes) const;

 private:
  std::variant<std::vector<std::int64_t>, std::vector<std::string>> labels_;
};

}  // namespace stoker::onnx
