// The classification extension of the Open Inference Protocol: the largest numbers of an output, as strings
// "value:index", or "value:index:label", where a value may be inf, -inf or nan.
//
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "stoker/runtime/base/shape.hpp"

namespace stoker::serve::protocol {

/// Names of the classes of outputs, by the name of the output.
using ClassLabels = std::map<std::string, std::vector<std::string>, std::less<>>;

struct Classes {
  Shape shape;
  std::vector<std::string> strings;
};

/// The `count` largest numbers of each row, largest first; of equal ones the first, and NaN last. Rows lie along the
/// first axis, and the index counts through all others; a vector is one row. The shape is [rows, n] or [n], n at most
/// the numbers of a row. `labels`: names of the first classes.
[[nodiscard]] Classes classes_of(const TensorSpec& spec, std::span<const std::byte> elements,
                                 std::uint32_t count, std::span<const std::string> labels = {});

}  // namespace stoker::serve::protocol
