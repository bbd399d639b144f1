// Fewer elements out of many.
#include "stoker/pipeline/tensor/batching.hpp"
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

/// No axes are all of an element's. A scalar is reduced along an axis of its own.
Values batch_reduction(const Batch& b) {
  const std::size_t rank = element_spec(b).shape.rank();
  if (rank == 0)
    return apply(b.op, {reshape(b.x(), Shape{b.size, 1})},
                 with(b.attributes, {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", false}}));
  const auto& given = b.attributes.integers("axes");
  const auto axes = shifted(given.empty() ? all_axes(rank) : given, rank);
  return apply(b.op, {b.x()}, with(b.attributes, {{"axes", axes}}));
}

Op reduction(std::string name, std::string_view kernel,
             std::function<Values(const Backward&)> gradient) {
  Op op = kernel_op(std::move(name), kernel, std::move(gradient));
  op.batch = &batch_reduction;
  return op;
}

Op without_gradient(std::string name, std::string_view kernel) {
  Op op = kernel_op(std::move(name), kernel);
  op.zero_gradient = true;
  op.batch = &batch_reduction;
  return op;
}

}  // namespace

void define(OpTable& table) {
  table.add(reduction("sum", "reduce_sum", &of_sum));
  table.add(reduction("mean", "reduce_mean", &of_mean));
  table.add(reduction("reduce_max", "reduce_max", &of_extreme));
  table.add(reduction("reduce_min", "reduce_min", &of_extreme));
  table.add(reduction("product", "reduce_product", &of_product));
  table.add(without_gradient("all", "reduce_all"));
  table.add(without_gradient("any", "reduce_any"));
  for (const char* name : {"argmax", "argmin"}) {
    Op op = without_gradient(name, name);
    op.batch = &batch_axis;
    table.add(std::move(op));
  }
}

}  // namespace stoker::expr::ops::reductions
