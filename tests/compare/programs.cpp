// Random programs, fused, traced and operation by operation.
#include "families.hpp"
#include "steps.hpp"

namespace stoker::compare {

void programs(Draw& draw, Record& record) {
  static const std::vector<DType> dtypes{DType::f32, DType::f32, DType::f64, DType::f16,
                                         DType::bf16};
  const DType dtype = draw.of(dtypes);
  const Shape shape{draw.extent(40), draw.extent(40)};
  const auto inputs = static_cast<std::size_t>(draw.integer(1, 3));
  const Steps steps{draw, inputs, static_cast<std::size_t>(draw.integer(2, 9)), false};
  Tensors given;
  for (std::size_t i = 0; i < inputs; ++i)
    given.push_back(draw.tensor({dtype, shape}, Range::moderate));
  for (const Way way : {Way::together, Way::apart, Way::traced})
    record.add(
        "program", {{"steps", steps.json()}}, given,
        [&](const Tensors& x) { return Tensors{steps.run(x, way == Way::apart)}; }, way);
}

}  // namespace stoker::compare
