// Sorting, choosing, and moving elements.
#include "families.hpp"

namespace stoker::compare {

void orders(Draw& draw, Record& record) {
  const Shape shape = draw.array(3, 6000);
  const auto axis = draw.integer(0, static_cast<std::int64_t>(shape.rank()) - 1);
  const DType dtype = draw.number();
  const bool down = draw.chance(0.5);
  const Direction direction = down ? Direction::descending : Direction::ascending;
  const Json along{{"axis", axis}, {"descending", down}};
  const double kind = draw.real(0, 1);
  if (kind < 0.2) {
    record.add("sort", along, {draw.tensor({dtype, shape}, Range::any)},
               [&](const Tensors& x) { return Tensors{sort(x[0], axis, direction)}; });
  } else if (kind < 0.4) {  // of equal ones the first stays first
    record.add("argsort", along, {draw.tensor({dtype, shape}, Range::moderate)},
               [&](const Tensors& x) { return Tensors{argsort(x[0], axis, direction)}; });
  } else if (kind < 0.55) {
    record.add(down ? "argmax" : "argmin", along, {draw.tensor({dtype, shape}, Range::moderate)},
               [&](const Tensors& x) {
                 return Tensors{down ? argmax(x[0], {.axis = axis}) : argmin(x[0], {.axis = axis})};
               });
  } else if (kind < 0.65) {
    record.add("median", along, {draw.tensor({draw.floating(), shape}, Range::moderate)},
               [&](const Tensors& x) { return Tensors{median(x[0], axis)}; });
  } else if (kind < 0.8) {
    const std::int64_t n = shape[static_cast<std::size_t>(axis)];
    const Tensor places =
        as_type(abs(draw.tensor({DType::s32, Shape{draw.integer(1, 70)}}, Range::moderate)) % n,
                DType::s32)
            .eval();
    record.add("take", along, {draw.tensor({dtype, shape}, Range::finite), places},
               [&](const Tensors& x) { return Tensors{take(x[0], x[1], axis)}; });
  } else if (kind < 0.9) {
    record.add("transpose", {}, {draw.tensor({dtype, shape}, Range::finite)},
               [&](const Tensors& x) { return Tensors{transpose(x[0]) * 1}; });
  } else {
    record.add("reverse", along, {draw.tensor({dtype, shape}, Range::finite)},
               [&](const Tensors& x) { return Tensors{reverse(x[0], Axes{axis})}; });
  }
}

}  // namespace stoker::compare
