#include "stoker/kernels/pad/padding.hpp"

#include <algorithm>

#include "stoker/kernels/pad/options.hpp"

namespace stoker::kernels::pad {
namespace {

Result<void> check_entries(const KernelCall& call, const char* name, const Extents& given) {
  const std::size_t entries = given.list().size();
  // One default serves every rank.
  if (entries == call.shape().rank() || entries == 0) return {};
  return Error{"pad",
               ErrorCode::invalid_parameter,
               std::string{name} + ": " + std::to_string(entries) + " entries for rank " +
                   std::to_string(call.shape().rank()),
               {{"parameter", name}, {"input", call.shape().to_string()}}};
}

std::int64_t entry(const Extents& given, std::size_t axis) {
  return given.list().empty() ? 0 : given.list()[axis];
}

}  // namespace

Result<Shape> padded_shape(const KernelCall& call) {
  const auto given = options::from<Pad>(call.params);
  STOKER_TRY(check_entries(call, "low", given.low));
  STOKER_TRY(check_entries(call, "high", given.high));
  STOKER_TRY(check_entries(call, "interior", given.interior));
  std::vector<std::int64_t> extents;
  for (std::size_t axis = 0; axis < call.shape().rank(); ++axis) {
    const std::int64_t from = call.shape()[axis];
    const std::int64_t between = entry(given.interior, axis);
    std::int64_t inserted = 0;
    std::int64_t extent = 0;
    // Beyond what a shape may hold, even where it is cropped afterwards.
    if (__builtin_mul_overflow(std::max<std::int64_t>(from - 1, 0), between, &inserted) ||
        __builtin_add_overflow(from, inserted, &extent) || extent > (std::int64_t{1} << 62))
      return Error{"pad",
                   ErrorCode::invalid_parameter,
                   "interior: axis " + std::to_string(axis) + " would become too long",
                   {{"parameter", "interior"}, {"input", call.shape().to_string()}}};
    extent += entry(given.low, axis) + entry(given.high, axis);
    if (extent < 0)
      return Error{"pad",
                   ErrorCode::invalid_parameter,
                   "low and high crop axis " + std::to_string(axis) + " to " +
                       std::to_string(extent) + " entries",
                   {{"axis", std::to_string(axis)},
                    {"low", std::to_string(entry(given.low, axis))},
                    {"high", std::to_string(entry(given.high, axis))},
                    {"input", call.shape().to_string()}}};
    extents.push_back(extent);
  }
  return Shape::try_make(extents, "pad");
}

Padding padding(const KernelCall& call, const Shape& shape) {
  const auto given = options::from<Pad>(call.params);
  Padding result;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    Axis own{shape[axis], call.shape()[axis], entry(given.low, axis),
             entry(given.interior, axis) + 1};
    // However much is cropped or put before, more than everything makes no difference.
    const std::int64_t dilated = own.from == 0 ? 0 : (own.from - 1) * own.step + 1;
    own.low = std::clamp(own.low, -dilated, own.extent);
    const bool whole = own.low == 0 && own.step == 1 && own.extent == own.from;
    if (whole && !result.axes.empty() && result.axes.back().step == 1) {
      Axis& outside = result.axes.back();
      outside.extent *= own.extent;
      outside.from *= own.extent;
      outside.low *= own.extent;
    } else {
      result.axes.push_back(own);
    }
  }
  if (result.axes.empty()) result.axes.emplace_back();
  return result;
}

}  // namespace stoker::kernels::pad
