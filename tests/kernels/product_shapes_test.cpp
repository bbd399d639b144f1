#include <gtest/gtest.h>

#include "cpu_run.hpp"

namespace stoker {
namespace {

Result<std::vector<TensorSpec>> infer_f32(std::string_view name, const std::vector<Shape>& shapes,
                                          const Params& params = {}) {
  std::vector<TensorSpec> inputs;
  for (const Shape& shape : shapes) inputs.push_back({DType::f32, shape});
  return infer(name, inputs, params);
}

Shape shape_of(std::string_view name, const std::vector<Shape>& shapes, const Params& params = {}) {
  const auto result = infer_f32(name, shapes, params);
  EXPECT_TRUE(result.has_value()) << result.error().what();
  return result.has_value() ? (*result)[0].shape : Shape{};
}

TEST(Matmul, follows_numpys_rules_for_shapes) {
  EXPECT_EQ(shape_of("matmul", {Shape{3, 4}, Shape{4, 5}}), (Shape{3, 5}));
  EXPECT_EQ(shape_of("matmul", {Shape{4}, Shape{4, 5}}), (Shape{5}));
  EXPECT_EQ(shape_of("matmul", {Shape{3, 4}, Shape{4}}), (Shape{3}));
  EXPECT_EQ(shape_of("matmul", {Shape{4}, Shape{4}}), Shape{});
  EXPECT_EQ(shape_of("matmul", {Shape{2, 1, 3, 4}, Shape{7, 4, 5}}), (Shape{2, 7, 3, 5}));
  EXPECT_EQ(shape_of("matmul", {Shape{4, 3}, Shape{5, 4}},
                     {{"transpose_a", true}, {"transpose_b", true}}),
            (Shape{3, 5}));
  EXPECT_EQ(shape_of("matmul", {Shape{0, 4}, Shape{4, 5}}), (Shape{0, 5}));
}

TEST(Matmul, names_both_shapes_when_they_do_not_fit) {
  const auto result = infer_f32("matmul", {Shape{3, 4}, Shape{5, 6}});
  ASSERT_TRUE(result.has_error());
  EXPECT_EQ(result.error().code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(result.error().reason(), "shape mismatch: lhs [3,4], rhs [5,6]");
  EXPECT_EQ(result.error().detail("transpose_a"), "false");
}

TEST(Matmul, refuses_scalars_and_batches_that_do_not_broadcast) {
  EXPECT_EQ(infer_f32("matmul", {Shape{}, Shape{3, 3}}).error().code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(infer_f32("matmul", {Shape{2, 3, 3}, Shape{4, 3, 3}}).error().code(),
            ErrorCode::shape_mismatch);
}

TEST(Conv2d, follows_onnx_for_the_extent_of_its_output) {
  const Shape x{2, 4, 11, 13};
  EXPECT_EQ(shape_of("conv2d", {x, Shape{6, 4, 3, 3}}), (Shape{2, 6, 9, 11}));
  EXPECT_EQ(shape_of("conv2d", {x, Shape{6, 4, 3, 3}}, {{"padding", {1, 2}}}),
            (Shape{2, 6, 11, 15}));
  EXPECT_EQ(shape_of("conv2d", {x, Shape{6, 4, 3, 3}}, {{"padding", {1, 0, 0, 2}}}),
            (Shape{2, 6, 10, 13}));
  EXPECT_EQ(shape_of("conv2d", {x, Shape{6, 4, 3, 3}}, {{"stride", {2, 3}}, {"dilation", {2, 1}}}),
            (Shape{2, 6, 4, 4}));
  EXPECT_EQ(shape_of("conv2d", {x, Shape{6, 2, 3, 3}, Shape{6}}, {{"groups", 2}}),
            (Shape{2, 6, 9, 11}));
}

TEST(Conv2d, says_what_does_not_fit) {
  const Shape x{1, 4, 5, 5};
  const auto code = [&](const std::vector<Shape>& shapes, const Params& params = {}) {
    return infer_f32("conv2d", shapes, params).error().code();
  };
  EXPECT_EQ(code({x, Shape{6, 3, 3, 3}}), ErrorCode::shape_mismatch);
  EXPECT_EQ(code({x, Shape{6, 4, 7, 3}}), ErrorCode::shape_mismatch);
  EXPECT_EQ(code({x, Shape{6, 4, 3, 3}, Shape{5}}), ErrorCode::shape_mismatch);
  EXPECT_EQ(code({x, Shape{5, 2, 3, 3}}, {{"groups", 2}}), ErrorCode::shape_mismatch);
  EXPECT_EQ(code({Shape{4, 5, 5}, Shape{6, 4, 3, 3}}), ErrorCode::shape_mismatch);
  EXPECT_EQ(code({x, Shape{6, 4, 3, 3}}, {{"stride", {0, 1}}}), ErrorCode::invalid_parameter);
  EXPECT_EQ(code({x, Shape{6, 4, 3, 3}}, {{"padding", {1, 1, 1}}}), ErrorCode::invalid_parameter);
}

}  // namespace
}  // namespace stoker
