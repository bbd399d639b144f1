#include "stoker/kernels/linear_algebra/batches.hpp"
// After the settings in batches.hpp:
#include <Eigen/SVD>

#include "stoker/kernels/linear_algebra/matrices.hpp"
#include "stoker/kernels/svd/bidiagonal.hpp"

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
    algebra::View<Eigen::Matrix<T, Eigen::Dynamic, 1>>(singular, k) = values_.cast<T>();
    u_out = u_.cast<T>();
    vt_out = v_.transpose().cast<T>();
    for (std::int64_t i = 0; i < s_.u_columns; ++i) {
      if (!algebra::turns_around(u_.col(i))) continue;
      u_out.col(i) *= T{-1};
      if (i < k) vt_out.row(i) *= T{-1};
    }
    for (std::int64_t i = k; i < s_.v_rows; ++i)
      if (algebra::turns_around(v_.col(i))) vt_out.row(i) *= T{-1};
  }

 private:
  using Matrix = algebra::Columns<double>;

  template <class T> bool decompose(const T* a) {
    work_ = algebra::ConstView<algebra::Rows<T>>(a, s_.rows, s_.columns).template cast<double>();
    return std::min(s_.rows, s_.columns) < smallest_reduced ? by_rotations() : by_steps();
  }

  /// Of few rows or columns, whose small singular values it finds more exactly.
  bool by_rotations() {
    rotations_.compute(work_,
                       (s_.u_columns == s_.rows ? Eigen::ComputeFullU : Eigen::ComputeThinU) |
                           (s_.v_rows == s_.columns ? Eigen::ComputeFullV : Eigen::ComputeThinV));
    u_ = rotations_.matrixU();
    v_ = rotations_.matrixV();
    values_ = rotations_.singularValues();
    return rotations_.info() == Eigen::Success;
  }

  bool by_steps() {
    const bool wide = s_.columns > s_.rows;
    if (wide) work_.transposeInPlace();
    const double scale = work_.cwiseAbs().maxCoeff();
    if (scale > 0) work_ /= scale;
    Eigen::internal::UpperBidiagonalization<Matrix> reduced(work_);
    const Eigen::Index k = work_.cols();
    const Matrix band = reduced.bidiagonal().toDenseMatrix();
    values_ = band.diagonal();
    beside_.setZero(k);
    beside_.head(k - 1) = band.diagonal<1>();
    Matrix& left = wide ? v_ : u_;  // of what was reduced
    Matrix& right = wide ? u_ : v_;
    left_.setIdentity(k, k);
    right_.setIdentity(k, k);
    const auto size = static_cast<std::size_t>(k);
    if (!Bidiagonal{{values_.data(), size}, {beside_.data(), size}, left_, right_}.decompose())
      return false;
    if (scale > 0) values_ *= scale;
    left.setIdentity(work_.rows(), wide ? s_.v_rows : s_.u_columns);
    left.topLeftCorner(k, k) = left_;
    reduced.householderU().applyThisOnTheLeft(left);
    right = right_;
    reduced.householderV().applyThisOnTheLeft(right);
    return true;
  }

  static constexpr std::int64_t smallest_reduced = 16;
  Sizes s_;
  Matrix work_, u_, v_;
  Matrix left_, right_;  // of the bidiagonal matrix
  Eigen::VectorXd values_, beside_;
  Eigen::JacobiSVD<Matrix> rotations_;
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
