// Pictures as inputs of models. Numbers are worked out by hand.
#include "stoker/api/data/image_input.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

using Dims = std::vector<std::optional<std::int64_t>>;

class ImageInputs : public Tensors {
 protected:
  static ImageTarget target(Dims dims, DType dtype = DType::f32) {
    return {.name = "input", .type = "float[...]", .dtype = dtype, .dims = std::move(dims)};
  }
  /// [rows, columns, colours], the same everywhere but for the colours.
  static Tensor picture(std::int64_t rows, std::int64_t columns,
                        const std::vector<double>& colours) {
    const auto count = static_cast<std::int64_t>(colours.size());
    return as_type(broadcast(tensor(colours), {rows, columns, count}), DType::u8);
  }
  static std::string refusal(const Tensor& x, const ImageTarget& wanted,
                             const ImageOptions& options = {}) {
    try {
      static_cast<void>(image_input(x, wanted, options));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(error.detail("input"), "input");
      return std::string{error.reason()};
    }
    return "not refused";
  }

  Tensor rgb = picture(4, 8, {10, 20, 30});
};

TEST_F(ImageInputs, are_resized_to_the_declared_extents_and_laid_out) {
  const Tensor x = image_input(rgb, target({1, 3, 1, 2}));
  EXPECT_EQ(x.spec(), (TensorSpec{DType::f32, {1, 3, 1, 2}}));
  expect_near(x, {10, 10, 20, 20, 30, 30});
  const Tensor last = image_input(rgb, target({{}, {}, 2, 3}));
  EXPECT_EQ(last.shape(), (Shape{1, 4, 2, 3}));
  EXPECT_EQ(last.to_vector<float>()[4], 20);
  EXPECT_EQ(image_input(rgb, target({3, 2, 2})).shape(), (Shape{3, 2, 2}));
}

TEST_F(ImageInputs, keep_the_pictures_extents_where_the_model_leaves_them_open) {
  EXPECT_EQ(image_input(rgb, target({{}, 3, {}, {}})).shape(), (Shape{1, 3, 4, 8}));
  EXPECT_EQ(image_input(rgb, target({{}, 3, {}, 2})).shape(), (Shape{1, 3, 4, 2}));
  EXPECT_EQ(image_input(rgb, target({{}, 3, {}, {}}), {.size = {{6, 5}}}).shape(),
            (Shape{1, 3, 6, 5}));
}

// A triangle four pixels wide to each side; beyond the picture its edge goes on.
TEST_F(ImageInputs, average_all_pixels_that_become_one) {
  const Tensor half = as_type(less(iota_along({2, 8, 1}, 1), 4), DType::u8) * 200;
  expect_near(image_input(half, target({1, 1, 1, 2})), {175, 25});
}

TEST_F(ImageInputs, are_scaled_by_colour_or_alike) {
  const ImageTarget one = target({1, 3, 1, 1});
  expect_near(image_input(rgb, one, {.mean = {20}, .std = {5}}), {-2, 0, 2});
  expect_near(image_input(rgb, one, {.mean = {1, 2, 3}, .std = {9, 18, 27}}), {1, 1, 1});
  expect_near(image_input(rgb, one, {.colours = ImageColours::bgr}), {30, 20, 10});
}

TEST_F(ImageInputs, have_the_colours_that_the_model_takes) {
  expect_near(image_input(picture(2, 2, {50}), target({1, 3, 1, 1})), {50, 50, 50});
  expect_near(image_input(picture(2, 2, {10, 20, 30, 255}), target({1, 3, 1, 1})), {10, 20, 30});
  const Tensor grey = image_input(picture(1, 1, {90, 90, 90}), target({1, 1, 1, 1}));
  expect_near(grey, {90});
  EXPECT_EQ(image_input(picture(2, 2, {50}), target({1, {}, {}, {}})).shape(), (Shape{1, 1, 2, 2}));
}

TEST_F(ImageInputs, become_the_dtype_of_the_input) {
  EXPECT_EQ(image_input(rgb, target({1, 3, {}, {}}, DType::f16)).dtype(), DType::f16);
  const Tensor bytes = image_input(rgb, target({1, {}, {}, 3}, DType::u8));
  EXPECT_EQ(bytes.spec(), (TensorSpec{DType::u8, {1, 4, 8, 3}}));
  EXPECT_EQ(bytes.to_bytes(), rgb.to_bytes());
}

TEST_F(ImageInputs, are_taken_for_such_only_where_nothing_else_can_be_meant) {
  for (const Dims& dims : {Dims{1, 3, 240, 320}, Dims{{}, 1, {}, {}}, Dims{1, {}, {}, 3},
                           Dims{3, 8, 8}, Dims{8, 8, 1}, Dims{{}, {}, 3}})
    EXPECT_TRUE(takes_picture(target(dims)));
  for (const Dims& dims : {Dims{1, 64, 8, 8}, Dims{2, 3, 8, 8}, Dims{{}, {}, {}, {}},
                           Dims{{}, 8, 8}, Dims{{}, 8, 3}, Dims{8, 8}, Dims{1, 1, 3, 8, 8}})
    EXPECT_FALSE(takes_picture(target(dims)));
  EXPECT_TRUE(takes_picture(target({1, 8, 8, 3}, DType::u8)));
  EXPECT_FALSE(takes_picture(target({8, 8, 3}, DType::u8)));
  EXPECT_FALSE(takes_picture(target({1, 3, 8, 8}, DType::s64)));
  EXPECT_FALSE(takes_picture({.name = "x", .type = "", .dtype = DType::f32, .dims = {}}));
  EXPECT_TRUE(is_picture(rgb.spec()));
  EXPECT_FALSE(is_picture({DType::f32, {4, 8, 3}}));
  EXPECT_FALSE(is_picture({DType::u8, {4, 8, 2}}));
  EXPECT_FALSE(is_picture({DType::u8, {1, 4, 8, 3}}));
}

TEST_F(ImageInputs, say_what_does_not_fit) {
  const auto expect = [&](const std::string& part, const ImageTarget& wanted,
                          const ImageOptions& options = {}) {
    const std::string reason = refusal(rgb, wanted, options);
    EXPECT_NE(reason.find(part), std::string::npos) << reason;
  };
  const ImageTarget usual = target({1, 3, 8, 8});
  expect("not 64", target({1, 64, 8, 8}));
  expect("say its layout", target({8}));
  expect("does not become float8", {.name = "input", .type = "float8", .dtype = {}, .dims = {}});
  expect("colours=grey does not fit", usual, {.colours = ImageColours::grey});
  expect("2 numbers for 3 colours", usual, {.mean = {1, 2}});
  expect("std is not 0", usual, {.std = {0}});
  expect("mean is finite", usual, {.mean = {INFINITY}});
  expect("not 0", usual, {.size = {{0, 8}}});
  expect("not 65501", usual, {.size = {{8, 65'501}}});
  expect("not 4294967296", target({1, 3, 8, std::int64_t{1} << 32}));
  expect("not 0", target({1, 3, 0, 8}));
  EXPECT_NE(refusal(zeros({0, 8, 3}, DType::u8), usual).find("came u8[0,8,3]"), std::string::npos);
  const std::string reason = refusal(zeros({4, 8}), usual);
  EXPECT_NE(reason.find("came f32"), std::string::npos) << reason;
}

}  // namespace
}  // namespace stoker
