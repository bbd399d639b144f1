#include "stoker/kernels/integer_conv/problem.hpp"

#include <array>

#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::kernels::integer_conv {
namespace {

constexpr const char* op = "integer_conv";

/// The same call of conv, which asks for one dtype: that of the input stands for both.
class SameConv {
 public:
  SameConv(const KernelCall& call, const Shape& kernel)
      : specs_{TensorSpec{call.dtype(), call.shape(0)}, TensorSpec{call.dtype(), kernel}},
        params_{params_of(options::from<IntegerConv>(call.params))} {}
  [[nodiscard]] KernelCall call() const noexcept { return {specs_, params_}; }

 private:
  static ParamSet params_of(const IntegerConv& given) {
    static constinit NeverDestroyed<std::vector<ParamSpec>> schema;
    const std::vector<ParamSpec>& specs = schema.get([] { return options::specs<Conv>(); });
    return ParamSet::resolve(op, specs, options::given(as_conv(given))).value();
  }

  std::array<TensorSpec, 2> specs_;
  ParamSet params_;
};

}  // namespace

Conv as_conv(const IntegerConv& given) {
  return {.strides = given.strides,
          .padding_low = given.padding_low,
          .padding_high = given.padding_high,
          .kernel_dilation = given.kernel_dilation,
          .feature_groups = given.feature_groups};
}

Result<Shape> kernel_shape(const KernelCall& call) {
  const Shape& shape = call.shape(1);
  const auto given = options::from<IntegerConv>(call.params);
  if (!given.kernel_blocked) return shape;
  const std::size_t rank = call.shape().rank();
  const bool fits = rank >= 2 && shape.rank() == rank + 3 && shape[rank] == kernel_fours &&
                    shape[rank + 1] == kernel_block && shape[rank + 2] == kernel_fours &&
                    given.feature_groups == 1;
  if (!fits)
    return Error{
        op,
        ErrorCode::invalid_parameter,
        "kernel_blocked takes a kernel of three more axes than the input, which ends with "
        "[4,16,4], and one group; came kernel " +
            call.inputs[1].to_string() + ", groups " + std::to_string(given.feature_groups),
        {{"expected", "[outputs/16,channels/16,space,4,16,4]"}, {"got", shape.to_string()}}};
  std::array<std::int64_t, Shape::max_rank> extents{};
  for (std::size_t i = 0; i < rank; ++i) extents[i] = shape[i] * (i < 2 ? kernel_block : 1);
  return Shape::try_make(std::span{extents}.first(rank), op);
}

Result<TensorSpec> infer(const KernelCall& call) {
  STOKER_TRY(integer_matmul::check_dtype(op, call, 1, 1));
  if (call.shape().rank() > 5)
    return Error{op,
                 ErrorCode::shape_mismatch,
                 "one to three spatial axes are supported, input " + call.inputs[0].to_string(),
                 {{"expected", "rank 3 to 5"}, {"got", std::to_string(call.shape().rank())}}};
  STOKER_ASSIGN(const Shape kernel, kernel_shape(call));
  STOKER_ASSIGN(const TensorSpec made, conv::infer(SameConv{call, kernel}.call()));
  for (std::size_t i = 2; i < call.inputs.size(); ++i) {
    STOKER_TRY(integer_matmul::check_dtype(op, call, i, i - 2));
    STOKER_TRY(integer_matmul::check_zeros(op, call, i, i == 2 ? 1 : kernel[0]));
  }
  return TensorSpec{DType::s32, made.shape};
}

Problem describe(const KernelCall& call, const Shape& output) {
  return {conv::describe(SameConv{call, kernel_shape(call).value()}.call(), output),
          integer_matmul::side_of(call, 0, 2), integer_matmul::side_of(call, 1, 3),
          options::from<IntegerConv>(call.params).kernel_blocked};
}

}  // namespace stoker::kernels::integer_conv
