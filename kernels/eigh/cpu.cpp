#include "stoker/kernels/linear_algebra/batches.hpp"
// After the settings in batches.hpp:
#include <Eigen/Eigenvalues>

#include "stoker/kernels/linear_algebra/matrices.hpp"

namespace stoker::kernels::eigh::STOKER_ISA {
namespace {

namespace algebra = stoker::kernels::linear_algebra::STOKER_ISA;

/// Takes apart one matrix after another in the same memory.
template <class T> class Decomposition {
 public:
  void run(const T* a, T* values, T* vectors, std::int64_t n) {
    symmetric_.resize(n, n);
    bool finite = true;
    for (std::int64_t row = 0; row < n; ++row) {
      finite = finite && algebra::all_finite(a + row * n, row + 1);
      for (std::int64_t column = 0; column <= row; ++column)
        symmetric_(row, column) = symmetric_(column, row) = a[row * n + column];
    }
    if (finite) solver_.compute(symmetric_);
    if (!finite || solver_.info() != Eigen::Success) {
      algebra::fill_nan(values, n);
      algebra::fill_nan(vectors, n * n);
      return;
    }
    std::copy_n(solver_.eigenvalues().data(), n, values);
    symmetric_ = solver_.eigenvectors();
    for (std::int64_t column = 0; column < n; ++column)
      if (algebra::turns_around(symmetric_.col(column))) symmetric_.col(column) *= T{-1};
    algebra::View<algebra::Rows<T>>(vectors, n, n) = symmetric_;
  }

 private:
  algebra::Columns<T> symmetric_;
  Eigen::SelfAdjointEigenSolver<algebra::Columns<T>> solver_;
};

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  STOKER_ASSIGN(const auto m, linear_algebra::square_matrices("eigh", call.inputs[0]));
  const double size = static_cast<double>(m.rows);
  const double flops = (4 * size + 700) * size * size;
  const auto make = [&]<class T>() {
    return algebra::batch_plan(
        m.count, flops, [n = m.rows](const CpuArgs& args, std::int64_t begin, std::int64_t end) {
          Decomposition<T> decomposition;
          for (std::int64_t i = begin; i < end; ++i)
            decomposition.run(args.in<T>(0) + i * n * n, args.out<T>(0) + i * n,
                              args.out<T>(1) + i * n * n, n);
        });
  };
  return call.dtype() == DType::f64 ? make.template operator()<double>()
                                    : make.template operator()<float>();
}

}  // namespace

void implement(CpuTable& table) { table.set("eigh", &plan); }

}  // namespace stoker::kernels::eigh::STOKER_ISA
