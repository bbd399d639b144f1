// Eigen's matrices to tensors and back.
#include "stoker/api/tensor/io/eigen.hpp"
#include "files_fixture.hpp"

namespace stoker {
namespace {

using EigenOn = Files;

TEST_P(EigenOn, matrices_of_any_order_become_tensors) {
  Eigen::MatrixXf columns(2, 3);
  columns << 1, 2, 3, 4, 5, 6;
  const std::vector<float> want{1, 2, 3, 4, 5, 6};
  expect_values<float>(tensor_from(columns), {2, 3}, want);
  const Eigen::Matrix<float, 2, 3, Eigen::RowMajor> rows = columns;
  expect_values<float>(tensor_from(rows), {2, 3}, want);
  expect_values<float>(tensor_from(columns.transpose()), {3, 2}, {1, 4, 2, 5, 3, 6});
  expect_values<float>(tensor_from(columns.rightCols(2) * 2), {2, 2}, {4, 6, 10, 12});
  const Eigen::Array22d array{{1, 2}, {3, 4}};
  expect_values<double>(tensor_from(array + 1), {2, 2}, {2, 3, 4, 5});
  const Eigen::Map<const Eigen::MatrixXf, 0, Eigen::OuterStride<>> part(columns.data(), 1, 3,
                                                                        Eigen::OuterStride<>(2));
  expect_values<float>(tensor_from(part), {1, 3}, {1, 2, 3});
}

TEST_P(EigenOn, vectors_have_one_axis) {
  expect_values<int>(tensor_from(Eigen::Vector3i{1, 2, 3}), {3}, {1, 2, 3});
  expect_values<int>(tensor_from(Eigen::RowVectorXi::LinSpaced(4, 0, 3)), {4}, {0, 1, 2, 3});
  EXPECT_EQ(tensor_from(Eigen::VectorXf{}).shape(), (Shape{0}));
  EXPECT_EQ(tensor_from(Eigen::MatrixXf(0, 3)).shape(), (Shape{0, 3}));
}

TEST_P(EigenOn, scalars_keep_their_dtype) {
  EXPECT_EQ(tensor_from(Eigen::Vector2d{1, 2}).dtype(), DType::f64);
  const Eigen::Matrix<Eigen::half, 2, 1> halves{Eigen::half{1.5F}, Eigen::half{-2.0F}};
  expect_values<float>(tensor_from(halves), {2}, {1.5F, -2});
  EXPECT_EQ(tensor_from(halves).dtype(), DType::f16);
  const Eigen::Matrix<Eigen::bfloat16, 2, 1> brains{Eigen::bfloat16{1.5F}, Eigen::bfloat16{3.0F}};
  EXPECT_EQ(tensor_from(brains).dtype(), DType::bf16);
  EXPECT_EQ(tensor_from(Eigen::Array<bool, 2, 1>{true, false}).dtype(), DType::boolean);
}

TEST_P(EigenOn, tensors_become_matrices) {
  const Tensor x = iota({2, 3}, DType::s32) * 2;
  Eigen::MatrixXi want(2, 3);
  want << 0, 2, 4, 6, 8, 10;
  EXPECT_EQ(to_eigen<Eigen::MatrixXi>(x), want);
  EXPECT_EQ((to_eigen<Eigen::Matrix<int, 2, 3, Eigen::RowMajor>>(x)), want);
  EXPECT_EQ(to_eigen<Eigen::MatrixXd>(x), want.cast<double>());
  EXPECT_EQ(to_eigen<Eigen::VectorXi>(iota({3})), (Eigen::Vector3i{0, 1, 2}));
  EXPECT_EQ(to_eigen<Eigen::RowVectorXf>(iota({3})), (Eigen::RowVector3f{0, 1, 2}));
  EXPECT_EQ(to_eigen<Eigen::MatrixXf>(tensor(2.5))(0, 0), 2.5F);
  EXPECT_EQ(to_eigen<Eigen::MatrixXf>(zeros({0, 4})).cols(), 4);
  using Truths = Eigen::Matrix<bool, Eigen::Dynamic, 1>;
  EXPECT_EQ(to_eigen<Truths>(iota({3})), (Truths{{false, true, true}}));
  using Halves = Eigen::Matrix<Eigen::half, Eigen::Dynamic, 1>;
  EXPECT_EQ(static_cast<float>(to_eigen<Halves>(tensor({1.0, 0.5}))(1)), 0.5F);
}

TEST_P(EigenOn, what_does_not_fit_is_refused) {
  EXPECT_EQ(code_of([] {
              return to_eigen<Eigen::Matrix2f>(zeros({2, 3}));
            }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([] {
              return to_eigen<Eigen::VectorXf>(zeros({2, 3}));
            }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([] {
              return to_eigen<Eigen::MatrixXf>(zeros({1, 2, 3}));
            }),
            ErrorCode::shape_mismatch);
}

INSTANTIATE_TEST_SUITE_P(Devices, EigenOn, every_device(), device_name);

class EigenViews : public Tensors {};

TEST_F(EigenViews, show_the_memory_itself) {
  const Tensor x = iota({2, 3}, DType::f32) + 1;
  const EigenView<float> view{x};
  EXPECT_EQ(view.map().sum(), 21);
  EXPECT_EQ(view.map()(1, 0), 4);
  EXPECT_EQ(reinterpret_cast<const std::byte*>(view.map().data()),
            x.buffer().host_view().bytes.data());
}

TEST_F(EigenViews, outlive_their_tensor) {
  Tensor x = iota({100}, DType::s32) + 1;
  const EigenView<int> view{x};
  x = Tensor{};
  EXPECT_EQ(view.map().sum(), 5050);
}

TEST_F(EigenViews, are_refused_where_they_would_lie) {
  EXPECT_EQ(error_of([] { return EigenView<double>{ones({2})}; }).code(),
            ErrorCode::dtype_mismatch);
  EXPECT_EQ(error_of([] {
              return EigenView<float>{ones({2, 2, 2})};
            }).code(),
            ErrorCode::shape_mismatch);
  const DeviceScope gpu{system.device("vulkan")};
  EXPECT_EQ(error_of([] { return EigenView<float>{ones({2})}; }).code(), ErrorCode::unsupported);
}

}  // namespace
}  // namespace stoker
