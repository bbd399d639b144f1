// Extents beyond 65,535 and sums beyond 10^6. What comes back is small: results are summed up or picked.
#include "families.hpp"

namespace stoker::compare {

void large(Draw& draw, Record& record) {
  const std::int64_t n =
      draw.of(std::vector<std::int64_t>{65536, 65537, 100003, 300007, 1048583, 2097153});
  const DType dtype = draw.chance(0.7) ? DType::f32 : DType::f64;
  // Whole numbers, whose sums are exact, or what is rounded at every addition.
  const double more = draw.chance(0.5) ? 0.1 : 0;
  const auto ramp = [&](std::int64_t rows, std::int64_t columns) {
    return as_type(reshape(iota({rows * columns}) % 11 - 5, {rows, columns}), dtype) + more;
  };
  const std::int64_t columns = draw.integer(1, 3);
  const auto add = [&](const char* op, const Function& function) {
    record.add(
        op,
        {{"n", n}, {"columns", columns}, {"more", more}, {"dtype", std::string{to_string(dtype)}}},
        {}, function);
  };
  switch (draw.integer(0, 6)) {
    case 0:
      return add("large_row_product",
                 [&](const Tensors&) { return Tensors{matmul(ramp(1, n), ramp(n, columns))}; });
    case 1:
      return add("large_product",
                 [&](const Tensors&) { return Tensors{matmul(ramp(2, n), ramp(n, columns))}; });
    case 2:
      return add("large_sum",
                 [&](const Tensors&) { return Tensors{sum(ramp(n, columns), {Axes{0}})}; });
    case 3:
      return add("large_scan", [&](const Tensors&) {
        return Tensors{slice_along_axis(cumulative_sum(ramp(n, columns), 0), n - 3, 3)};
      });
    case 4:
      return add("large_softmax", [&](const Tensors&) {
        return Tensors{slice_along_axis(softmax(ramp(n, columns), 0), n - 3, 3)};
      });
    case 5:
      return add("large_rows", [&](const Tensors&) {
        return Tensors{sum(cumulative_sum(ramp(n, columns), 1), {Axes{0}})};
      });
    default:
      return add("large_sort", [&](const Tensors&) {
        return Tensors{slice_along_axis(sort(ramp(n, columns), 0), n / 2, 3)};
      });
  }
}

}  // namespace stoker::compare
