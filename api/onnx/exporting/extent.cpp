#include "stoker/api/onnx/exporting/extent.hpp"

namespace stoker::onnx {

std::optional<Extent> extent_of(const Traced<std::int64_t>& values,
                                const BatchSizes& sizes) noexcept {
  if (values[0] == values[1] && values[1] == values[2]) return Extent{values[0], 0};
  const std::int64_t grown = sizes[1] - sizes[0];
  if (grown == 0 || (values[1] - values[0]) % grown != 0) return std::nullopt;
  const std::int64_t per_batch = (values[1] - values[0]) / grown;
  if (values[2] - values[1] != per_batch * (sizes[2] - sizes[1])) return std::nullopt;
  return Extent{values[0] - per_batch * sizes[0], per_batch};
}

std::optional<ExtentList> extents_of(const Traced<std::span<const std::int64_t>>& values,
                                     const BatchSizes& sizes) {
  if (values[0].size() != values[1].size() || values[1].size() != values[2].size())
    return std::nullopt;
  ExtentList made;
  for (std::size_t i = 0; i < values[0].size(); ++i) {
    const std::optional<Extent> one = extent_of({values[0][i], values[1][i], values[2][i]}, sizes);
    if (!one) return std::nullopt;
    made.push_back(*one);
  }
  return made;
}

ExtentList broadcast(const ExtentList& a, const ExtentList& b) {
  const ExtentList& longer = a.size() < b.size() ? b : a;
  const ExtentList& shorter = a.size() < b.size() ? a : b;
  ExtentList made = longer;
  const std::size_t added = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i)
    if (made[added + i] == Extent{1, 0}) made[added + i] = shorter[i];
  return made;
}

}  // namespace stoker::onnx
