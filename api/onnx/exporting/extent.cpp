#include "stoker/api/onnx/exporting/extent.hpp"

namespace stoker::onnx {

std::optional<Extent> extent_of(std::int64_t first, std::int64_t second,
                                const BatchSizes& sizes) noexcept {
  if (first == second) return Extent{first, 0};
  const std::int64_t grown = sizes.second - sizes.first;
  if (grown == 0 || (second - first) % grown != 0) return std::nullopt;
  const std::int64_t per_batch = (second - first) / grown;
  return Extent{first - per_batch * sizes.first, per_batch};
}

std::optional<ExtentList> extents_of(std::span<const std::int64_t> first,
                                     std::span<const std::int64_t> second,
                                     const BatchSizes& sizes) {
  if (first.size() != second.size()) return std::nullopt;
  ExtentList made;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::optional<Extent> one = extent_of(first[i], second[i], sizes);
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
