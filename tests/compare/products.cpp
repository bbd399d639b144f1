// Products of matrices, convolutions and Fourier transforms.
#include "families.hpp"

namespace stoker::compare {
namespace {

void product_of_matrices(Draw& draw, Record& record) {
  static const std::vector<DType> dtypes{DType::f32,  DType::f32, DType::f64, DType::f16,
                                         DType::bf16, DType::s32, DType::s64};
  const DType dtype = draw.of(dtypes);
  const std::int64_t m = draw.extent(260), k = draw.extent(draw.chance(0.1) ? 1025 : 130),
                     n = draw.extent(130);
  const bool ta = draw.chance(0.3), tb = draw.chance(0.3);
  const std::int64_t batches = draw.chance(0.3) ? draw.extent(9) : 0;
  const auto shape = [&](std::int64_t rows, std::int64_t columns, bool turned, bool batched) {
    std::vector<std::int64_t> extents;
    if (batches > 0 && batched) extents.push_back(batches);
    extents.push_back(turned ? columns : rows);
    extents.push_back(turned ? rows : columns);
    return Shape::make(extents, "compare");
  };
  const bool finishes = draw.chance(0.3) && is_float(dtype);
  const Tensor a = draw.tensor({dtype, shape(m, k, ta, true)}, Range::moderate);
  const Tensor b = draw.tensor({dtype, shape(k, n, tb, draw.chance(0.5))}, Range::moderate);
  record.add("matmul", {{"transpose_a", ta}, {"transpose_b", tb}, {"relu", finishes}}, {a, b},
             [&](const Tensors& x) {
               const auto turned = [](const Tensor& t, bool turn) {
                 return turn ? linalg::adjoint(t) : t;
               };
               const Tensor made = matmul(turned(x[0], ta), turned(x[1], tb));
               return Tensors{finishes ? relu(made) : made};
             });
}

void convolution(Draw& draw, Record& record) {
  static const std::vector<DType> dtypes{DType::f32, DType::f32, DType::f64, DType::f16,
                                         DType::bf16};
  const DType dtype = draw.of(dtypes);
  const auto rank = static_cast<std::size_t>(draw.integer(1, 2));
  const std::int64_t groups = draw.chance(0.25) ? 2 : 1;
  std::vector<std::int64_t> input{draw.integer(1, 3), groups * draw.integer(1, 9)};
  std::vector<std::int64_t> kernel{groups * draw.integer(1, 17), input[1] / groups};
  ConvOptions options;
  options.feature_group_size = groups;
  options.strides = Axes{};
  options.kernel_dilation = Axes{};
  std::vector<std::pair<std::int64_t, std::int64_t>> padding;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    kernel.push_back(draw.integer(1, 4));
    options.strides->push_back(draw.integer(1, 2));
    options.kernel_dilation->push_back(draw.integer(1, 2));
    padding.emplace_back(draw.integer(0, 2), draw.integer(0, 2));
    input.push_back(draw.integer(8, 21));
  }
  options.padding = padding;
  const Json attributes{{"groups", groups},
                        {"strides", *options.strides},
                        {"dilations", *options.kernel_dilation},
                        {"padding", padding}};
  record.add("conv", attributes,
             {draw.tensor({dtype, Shape::make(input, "compare")}, Range::moderate),
              draw.tensor({dtype, Shape::make(kernel, "compare")}, Range::moderate)},
             [&](const Tensors& x) { return Tensors{conv(x[0], x[1], options)}; });
}

void transform(Draw& draw, Record& record) {
  static const std::vector<DType> dtypes{DType::f32, DType::f64, DType::c64, DType::c128};
  const Tensor x = draw.tensor({draw.of(dtypes), draw.array(2, 4000)}, Range::moderate);
  const bool back = draw.chance(0.5);
  record.add(back ? "ifft" : "fft", {}, {x}, [&](const Tensors& in) {
    return Tensors{back ? ifft(in[0], {.eps = 0}) : fft(in[0], {.eps = 0})};
  });
}

}  // namespace

void products(Draw& draw, Record& record) {
  const double kind = draw.real(0, 1);
  if (kind < 0.6) return product_of_matrices(draw, record);
  if (kind < 0.85) return convolution(draw, record);
  transform(draw, record);
}

}  // namespace stoker::compare
