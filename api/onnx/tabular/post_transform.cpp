#include "stoker/api/onnx/tabular/post_transform.hpp"

#include <algorithm>
#include <array>
#include <numbers>

#include "stoker/api/tensor/core/constants.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"

namespace stoker::onnx {
namespace {

constexpr std::array<std::string_view, 5> names{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                                "PROBIT"};

Tensor softmax_of_others(const Tensor& scores) {
  const Reduce along{.axes = Axes{-1}, .keepdims = true};
  const Tensor counts = greater(abs(scores), 1e-7);
  // The largest of all, as others compute it; only the rounding depends on it.
  const Tensor powers = select(counts, exp(scores - reduce_max(scores, along)), zeros_like(scores));
  const Tensor total = sum(powers, along);
  return powers / select(equal(total, 0), ones_like(total), total);
}

}  // namespace

PostTransform post_transform_of(const Call& call) {
  const Attribute* given = call.node().find("post_transform");
  if (given == nullptr) return PostTransform::none;
  std::int64_t number = -1;
  std::string said;
  if (const auto* text = std::get_if<std::string>(&given->value)) {
    const auto* const found = std::ranges::find(names, *text);
    if (found != names.end()) number = found - names.begin();
    said = "'" + *text + "'";
  } else {
    number = call.node().integer("post_transform");
    said = std::to_string(number);
  }
  if (number < 0 || number >= static_cast<std::int64_t>(names.size()))
    call.refuse(ErrorCode::invalid_parameter, "there is no post_transform " + said);
  return static_cast<PostTransform>(number);
}

Tensor transformed(const Tensor& scores, PostTransform how) {
  switch (how) {
    case PostTransform::none: return scores;
    case PostTransform::softmax: return softmax(scores);
    case PostTransform::logistic: return sigmoid(scores);
    case PostTransform::softmax_zero: return softmax_of_others(scores);
    case PostTransform::probit: return std::numbers::sqrt2 * erf_inv(2 * scores - 1);
  }
  return scores;
}

}  // namespace stoker::onnx
