#include "stoker/kernels/linear_algebra/batches.hpp"
// After the settings in batches.hpp:
#include <Eigen/SVD>

#include "stoker/kernels/linear_algebra/matrices.hpp"

namespace stoker::kernels::svd::STOKER_ISA {
namespace {

namespace algebra = stoker::kernels::linear_algebra::STOKER_ISA;

struct Sizes {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t u_columns;
  std::int64_t v_rows;
};

/// Takes apart one matrix after another in the same memory. In f64 for both dtypes: this half of
/// Eigen takes longer to compile than everything else of a folder together.
class Decomposition {
 public:
  explicit Decomposition(const Sizes& sizes) : s_{sizes} {}

  template <class T> void run(const T* a, T* u, T* singular, T* vt) {
    const std::int64_t k = std::min(s_.rows, s_.columns);
    algebra::View<algebra::Rows<T>> u_out(u, s_.rows, s_.u_columns);
    algebra::View<algebra::Rows<T>> vt_out(vt, s_.v_rows, s_.columns);
    if (k == 0) {
      u_out.setIdentity();
      vt_out.setIdentity();
      return;
    }
    if (!algebra::all_finite(a, s_.rows * s_.columns) || !decompose(a)) {
      algebra::fill_nan(u, u_out.size());
      algebra::fill_nan(singular, k);
      algebra::fill_nan(vt, vt_out.size());
      return;
    }
    algebra::View<Eigen::Matrix<T, Eigen::Dynamic, 1>>(singular, k) =
        svd_.singularValues().cast<T>();
    u_out = svd_.matrixU().cast<T>();
    vt_out = svd_.matrixV().transpose().cast<T>();
    for (std::int64_t i = 0; i < s_.u_columns; ++i) {
      if (!algebra::turns_around(svd_.matrixU().col(i))) continue;
      u_out.col(i) *= T{-1};
      if (i < k) vt_out.row(i) *= T{-1};
    }
    for (std::int64_t i = k; i < s_.v_rows; ++i)
      if (algebra::turns_around(svd_.matrixV().col(i))) vt_out.row(i) *= T{-1};
  }

 private:
  using Matrix = algebra::Columns<double>;

  template <class T> bool decompose(const T* a) {
    work_ = algebra::ConstView<algebra::Rows<T>>(a, s_.rows, s_.columns).template cast<double>();
    if (s_.columns < smallest_divided) return decompose_by_rotations();
    svd_.setSwitchSize(smallest_divided);
    svd_.compute(work_, vectors());
    // Eigen 3.4 divides some matrices of low rank, or with equal singular values, into wrong parts.
    return (svd_.info() == Eigen::Success && holds()) || decompose_by_rotations();
  }

  bool decompose_by_rotations() {
    svd_.setSwitchSize(std::numeric_limits<int>::max());
    svd_.compute(work_, vectors());
    return svd_.info() == Eigen::Success;
  }

  [[nodiscard]] unsigned vectors() const noexcept {
    return (s_.u_columns == s_.rows ? Eigen::ComputeFullU : Eigen::ComputeThinU) |
           (s_.v_rows == s_.columns ? Eigen::ComputeFullV : Eigen::ComputeThinV);
  }

  /// Whether the factors make A and are orthonormal, but for some roundings in each of their elements.
  bool holds() {
    const Eigen::Index k = std::min(s_.rows, s_.columns);
    const auto& values = svd_.singularValues();
    const double unit = values[0] > 0 ? 1 / values[0] : 1;
    const double rounding = 16 * std::numeric_limits<double>::epsilon() *
                            std::sqrt(static_cast<double>(s_.rows + s_.columns));
    scaled_.noalias() = svd_.matrixU().leftCols(k) * (values * unit).asDiagonal();
    product_.noalias() = scaled_ * svd_.matrixV().leftCols(k).transpose();
    const bool is_a = (product_ - work_ * unit).norm() <= rounding * (values * unit).norm();
    return is_a && orthonormal(svd_.matrixU(), rounding) && orthonormal(svd_.matrixV(), rounding);
  }

  bool orthonormal(const Matrix& q, double rounding) {
    product_.noalias() = q.transpose() * q;
    product_.diagonal().array() -= 1;
    return product_.norm() <= rounding * std::sqrt(static_cast<double>(q.cols()));
  }

  static constexpr int smallest_divided = 16;
  Sizes s_;
  Matrix work_;
  Matrix scaled_;   // of holds()
  Matrix product_;  // of holds()
  Eigen::BDCSVD<Matrix> svd_;
};

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  STOKER_ASSIGN(const auto m, linear_algebra::matrices("svd", call.inputs[0]));
  STOKER_ASSIGN(const auto u, linear_algebra::matrices("svd", outputs[0]));
  STOKER_ASSIGN(const auto vt, linear_algebra::matrices("svd", outputs[2]));
  const Sizes s{m.rows, m.columns, u.columns, vt.rows};
  const double k = static_cast<double>(m.smaller());
  const double flops = 2700 * k * k + 8 * static_cast<double>(m.rows * m.columns) *
                                          static_cast<double>(std::max(u.columns, vt.rows));
  const auto make = [&]<class T>() {
    return algebra::batch_plan(
        m.count, flops,
        [s, k = m.smaller()](const CpuArgs& args, std::int64_t begin, std::int64_t end) {
          Decomposition decomposition{s};
          for (std::int64_t i = begin; i < end; ++i)
            decomposition.run(args.in<T>(0) + i * s.rows * s.columns,
                              args.out<T>(0) + i * s.rows * s.u_columns, args.out<T>(1) + i * k,
                              args.out<T>(2) + i * s.v_rows * s.columns);
        });
  };
  return call.dtype() == DType::f64 ? make.template operator()<double>()
                                    : make.template operator()<float>();
}

}  // namespace

void implement(CpuTable& table) { table.set("svd", &plan); }

}  // namespace stoker::kernels::svd::STOKER_ISA
