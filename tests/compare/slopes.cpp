// Gradients of random programs: along a direction, and how they change along another.
#include "families.hpp"
#include "steps.hpp"

namespace stoker::compare {

void slopes(Draw& draw, Record& record) {
  const DType dtype = draw.chance(0.5) ? DType::f64 : DType::f32;
  const Shape shape{draw.integer(1, 5), draw.integer(1, 6)};
  const Steps steps{draw, 1, static_cast<std::size_t>(draw.integer(1, 5)), true};
  const TensorSpec spec{dtype, shape};
  Tensor x = draw.tensor(spec, Range::moderate);
  // Zeros, which divide nothing.
  if (draw.chance(0.4)) x = select(draw.tensor({DType::boolean, shape}, Range::any), x, 0).eval();
  const Tensor weights = draw.tensor(spec, Range::unit);
  const Tensor along = draw.tensor(spec, Range::unit);
  const auto loss = [&](const Tensor& v) { return sum(steps.run({v}, false) * weights); };
  const Way way = draw.chance(0.3) ? Way::traced : Way::together;
  record.add(
      "slope", {{"steps", steps.json()}}, {x, weights, along},
      [&](const Tensors& in) {
        const auto slope = [&](const Tensor& v) { return sum(grad(loss)(v) * in[2]); };
        return Tensors{grad(loss)(in[0]), grad(slope)(in[0])};
      },
      way);
}

}  // namespace stoker::compare
