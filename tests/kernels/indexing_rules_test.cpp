#include <gtest/gtest.h>

#include "cpu_run.hpp"

namespace stoker {
namespace {

TensorSpec f32(const Shape& shape) { return {DType::f32, shape}; }
TensorSpec s32(const Shape& shape) { return {DType::s32, shape}; }

Shape shape_of(std::string_view name, const std::vector<TensorSpec>& inputs,
               const Params& params = {}) {
  return infer(name, inputs, params).value()[0].shape;
}

ErrorCode refusal(std::string_view name, const std::vector<TensorSpec>& inputs,
                  const Params& params = {}) {
  const auto result = infer(name, inputs, params);
  if (result.has_value()) return ErrorCode::internal;
  EXPECT_EQ(result.error().op(), name);
  return result.error().code();
}

TEST(IndexingRules, pad_counts_the_crop_after_the_dilation) {
  const Params params{{"low", {-1, 2}}, {"high", {0, -3}}, {"interior", {2, 0}}};
  EXPECT_EQ(shape_of("pad", {f32({4, 5}), f32({})}, params), (Shape{9, 4}));
  EXPECT_EQ(shape_of("pad", {f32({0}), f32({})}, {{"low", {2}}, {"interior", {7}}}), (Shape{2}));
}

TEST(IndexingRules, pad_refuses_what_has_no_shape) {
  const std::vector inputs{f32({4, 5}), f32({})};
  EXPECT_EQ(refusal("pad", inputs, {{"low", {1}}}), ErrorCode::invalid_parameter);
  EXPECT_EQ(refusal("pad", inputs, {{"low", {-3, 0}}, {"high", {-2, 0}}}),
            ErrorCode::invalid_parameter);
  const auto kernel = KernelRegistry::builtin().find("pad").value();
  EXPECT_TRUE(ParamSet::resolve("pad", kernel->params, {{"interior", {-1, 0}}}).has_error());
  EXPECT_EQ(refusal("pad", {f32({4}), s32({})}), ErrorCode::dtype_mismatch);
  EXPECT_EQ(refusal("pad", {f32({4}), f32({2})}), ErrorCode::shape_mismatch);
}

TEST(IndexingRules, concatenate_adds_up_one_axis) {
  EXPECT_EQ(shape_of("concatenate", {f32({2, 3}), f32({2, 0}), f32({2, 4})}, {{"axis", -1}}),
            (Shape{2, 7}));
  EXPECT_EQ(refusal("concatenate", {f32({2, 3}), f32({3, 3})}, {{"axis", 1}}),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(refusal("concatenate", {f32({2, 3}), f32({2})}), ErrorCode::shape_mismatch);
  EXPECT_EQ(refusal("concatenate", {f32({2}), s32({2})}), ErrorCode::dtype_mismatch);
  EXPECT_EQ(refusal("concatenate", {f32({}), f32({})}), ErrorCode::invalid_parameter);
  EXPECT_EQ(refusal("concatenate", std::vector(17, f32({2}))), ErrorCode::arity_mismatch);
}

TEST(IndexingRules, take_puts_the_indices_axes_in_place_of_the_axis) {
  EXPECT_EQ(shape_of("take", {f32({2, 3, 4}), s32({5, 6})}, {{"axis", 1}}), (Shape{2, 5, 6, 4}));
  EXPECT_EQ(shape_of("take", {f32({2, 3, 4}), s32({})}, {{"axis", -1}}), (Shape{2, 3}));
  EXPECT_EQ(refusal("take", {f32({2}), f32({5})}), ErrorCode::dtype_mismatch);
  EXPECT_EQ(refusal("take", {f32({2}), {DType::boolean, {5}}}), ErrorCode::dtype_mismatch);
  EXPECT_EQ(refusal("take", {f32({2}), s32({5})}, {{"axis", 1}}), ErrorCode::invalid_parameter);
  EXPECT_EQ(refusal("take", {f32({0}), s32({5})}), ErrorCode::shape_mismatch);
  EXPECT_EQ(refusal("take", {f32({2, 2}), s32({1, 1, 1, 1, 1, 1, 1, 1})}),
            ErrorCode::invalid_argument);
}

TEST(IndexingRules, take_along_axis_wants_the_same_extents_beside_the_axis) {
  EXPECT_EQ(shape_of("take_along_axis", {f32({2, 3}), s32({2, 7})}, {{"axis", 1}}), (Shape{2, 7}));
  EXPECT_EQ(refusal("take_along_axis", {f32({2, 3}), s32({1, 7})}, {{"axis", 1}}),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(refusal("take_along_axis", {f32({2, 3}), s32({7})}, {{"axis", 1}}),
            ErrorCode::shape_mismatch);
}

TEST(IndexingRules, gather_takes_as_many_coordinates_as_axes) {
  EXPECT_EQ(shape_of("gather", {f32({2, 3, 4}), s32({5, 6, 2})}), (Shape{5, 6, 4}));
  EXPECT_EQ(shape_of("gather", {f32({2, 3, 4}), s32({5, 1})}, {{"axes", {-2}}}), (Shape{5, 2, 4}));
  EXPECT_EQ(refusal("gather", {f32({2, 3}), s32({5, 3})}), ErrorCode::shape_mismatch);
  EXPECT_EQ(refusal("gather", {f32({2, 3}), s32({})}), ErrorCode::shape_mismatch);
  EXPECT_EQ(refusal("gather", {f32({2, 3}), s32({5, 1})}, {{"axes", {0, 1}}}),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(refusal("gather", {f32({2, 3}), s32({5, 2})}, {{"axes", {1, -1}}}),
            ErrorCode::invalid_parameter);
}

TEST(IndexingRules, updates_are_shaped_like_what_gather_yields) {
  for (const char* name :
       {"indexed_add", "indexed_multiply", "indexed_max", "indexed_min", "indexed_put"}) {
    EXPECT_EQ(shape_of(name, {f32({2, 3, 4}), s32({5, 2}), f32({5, 4})}), (Shape{2, 3, 4}));
    EXPECT_EQ(refusal(name, {f32({2, 3, 4}), s32({5, 2}), f32({5})}), ErrorCode::shape_mismatch);
    EXPECT_EQ(refusal(name, {f32({2, 3, 4}), s32({5, 2}), s32({5, 4})}), ErrorCode::dtype_mismatch);
    EXPECT_EQ(refusal(name, {f32({2, 3, 4}), f32({5, 2}), f32({5, 4})}), ErrorCode::dtype_mismatch);
  }
}

TEST(IndexingRules, dynamic_slice_rounds_its_extents_up) {
  const std::vector inputs{f32({7, 10}), s32({2})};
  EXPECT_EQ(shape_of("dynamic_slice", inputs, {{"lengths", {3, 10}}}), (Shape{3, 10}));
  EXPECT_EQ(shape_of("dynamic_slice", inputs, {{"lengths", {3, 10}}, {"strides", {2, 3}}}),
            (Shape{2, 4}));
  EXPECT_EQ(refusal("dynamic_slice", inputs, {{"lengths", {8, 1}}}), ErrorCode::invalid_parameter);
  EXPECT_EQ(refusal("dynamic_slice", inputs, {{"lengths", {3}}}), ErrorCode::invalid_parameter);
  EXPECT_EQ(refusal("dynamic_slice", {f32({7, 10}), s32({3})}, {{"lengths", {3, 3}}}),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(refusal("dynamic_slice", {f32({7, 10}), f32({2})}, {{"lengths", {3, 3}}}),
            ErrorCode::dtype_mismatch);
}

TEST(IndexingRules, put_slice_wants_a_slice_that_fits) {
  EXPECT_EQ(shape_of("put_slice", {f32({7, 10}), f32({7, 2}), s32({2})}), (Shape{7, 10}));
  EXPECT_EQ(refusal("put_slice", {f32({7, 10}), f32({8, 2}), s32({2})}), ErrorCode::shape_mismatch);
  EXPECT_EQ(refusal("put_slice", {f32({7, 10}), f32({7}), s32({2})}), ErrorCode::shape_mismatch);
  EXPECT_EQ(refusal("put_slice", {f32({7, 10}), s32({7, 2}), s32({2})}), ErrorCode::dtype_mismatch);
}

}  // namespace
}  // namespace stoker
