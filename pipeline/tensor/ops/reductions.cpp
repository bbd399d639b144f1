// Fewer elements out of many.
#include "stoker/pipeline/tensor/kernel_op.hpp"
#include "stoker/pipeline/tensor/primitives.hpp"

namespace stoker::expr::ops::reductions {
namespace {

const std::vector<std::int64_t>& axes_of(const Backward& b) {
  return b.attributes.integers("axes");
}

/// A reduced value over its input's shape again.
Value spread(const Backward& b, const Value& reduced) {
  return broadcast_to(keep_axes(reduced, b.x().shape(), axes_of(b)), b.x().shape());
}

double reduced_count(const Backward& b) {
  return static_cast<double>(b.x().shape().elements()) /
         static_cast<double>(std::max<std::int64_t>(b.y().shape().elements(), 1));
}

Values of_sum(const Backward& b) { return {spread(b, b.g())}; }

Values of_mean(const Backward& b) { return {spread(b, b.g() / reduced_count(b))}; }

/// Shared evenly among all that equal the extreme.
Values of_extreme(const Backward& b) {
  const DType dtype = b.x().dtype();
  const Value best = cast(scalar("equal", {b.x(), spread(b, b.y())}), dtype);
  const Value count = sum(best, axes_of(b), false);
  return {best * spread(b, reshape(b.g(), count.shape()) / count)};
}

/// The product of the others: by division where no element is 0; where one is, only that one gets it.
Values of_product(const Backward& b) {
  const DType dtype = b.x().dtype();
  const Value zero = constant(0, dtype);
  const Value is_zero = scalar("equal", {b.x(), zero});
  const Value zeros = spread(b, sum(cast(is_zero, dtype), axes_of(b), false));
  const Value without = select(is_zero, constant(1, dtype), b.x());
  static const Op& product = find_op("product");
  const Value rest =
      spread(b, apply_one(product, {without}, {{"axes", axes_of(b)}, {"keepdims", false}}));
  const Value others =
      select(scalar("equal", {zeros, zero}), rest / without,
             select(scalar("logical_and", {is_zero, scalar("equal", {zeros, constant(1, dtype)})}),
                    rest, zero));
  return {spread(b, b.g()) * others};
}

Op without_gradient(std::string name, std::string_view kernel) {
  Op op = kernel_op(std::move(name), kernel);
  op.zero_gradient = true;
  return op;
}

}  // namespace

void define(OpTable& table) {
  table.add(kernel_op("sum", "reduce_sum", &of_sum));
  table.add(kernel_op("mean", "reduce_mean", &of_mean));
  table.add(kernel_op("reduce_max", "reduce_max", &of_extreme));
  table.add(kernel_op("reduce_min", "reduce_min", &of_extreme));
  table.add(kernel_op("product", "reduce_product", &of_product));
  table.add(without_gradient("all", "reduce_all"));
  table.add(without_gradient("any", "reduce_any"));
  table.add(without_gradient("argmax", "argmax"));
  table.add(without_gradient("argmin", "argmin"));
}

}  // namespace stoker::expr::ops::reductions
