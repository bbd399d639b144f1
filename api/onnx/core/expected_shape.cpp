#include "stoker/api/onnx/core/expected_shape.hpp"

#include <algorithm>

namespace stoker::onnx {
namespace {

bool fits(const Shape& shape, const Axes& extents) {
  return std::ranges::equal(extents_of(shape), extents, [](std::int64_t came, std::int64_t wanted) {
    return wanted == any_extent || came == wanted;
  });
}

std::string text_of(const Axes& extents) {
  std::string text;
  for (const std::int64_t extent : extents)
    text += (text.empty() ? "" : ",") +
            (extent == any_extent ? std::string{"?"} : std::to_string(extent));
  return "[" + text + "]";
}

}  // namespace

void expect_shape(const Call& call, std::size_t i, std::string_view name, const Axes& extents) {
  expect_shape(call, i, name, {extents});
}

void expect_shape(const Call& call, std::size_t i, std::string_view name,
                  std::initializer_list<Axes> either) {
  if (!call.has(i)) return;
  if (std::ranges::any_of(either, [&](const Axes& one) { return fits(call.shape(i), one); }))
    return;
  std::string wanted;
  for (const Axes& one : either) wanted += (wanted.empty() ? "" : " or ") + text_of(one);
  call.refuse(ErrorCode::shape_mismatch,
              std::string{name} + ": expected " + wanted + ", got " + call.input(i).to_string());
}

}  // namespace stoker::onnx
