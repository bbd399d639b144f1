#include "stoker/kernels/linear_algebra/batches.hpp"
// After the settings in batches.hpp:
#include <Eigen/Cholesky>

#include "stoker/kernels/linear_algebra/matrices.hpp"

namespace stoker::kernels::cholesky::STOKER_ISA {
namespace {

namespace algebra = stoker::kernels::linear_algebra::STOKER_ISA;

/// The lower triangle of row-major memory is the upper one of column-major memory: A = UᵀU there.
template <class T> void factor(const T* a, T* l, std::int64_t n) {
  algebra::View<algebra::Columns<T>> upper(l, n, n);
  for (std::int64_t row = 0; row < n; ++row) {
    std::copy_n(a + row * n, row + 1, l + row * n);
    std::fill_n(l + row * n + row + 1, n - row - 1, T{0});
  }
  const Eigen::LLT<Eigen::Ref<algebra::Columns<T>>, Eigen::Upper> in_place(upper);
  // A NaN anywhere in the triangle reaches the diagonal, which Eigen does not take for a failure.
  if (in_place.info() != Eigen::Success || upper.diagonal().hasNaN()) algebra::fill_nan(l, n * n);
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  STOKER_ASSIGN(const auto m, linear_algebra::square_matrices("cholesky", call.inputs[0]));
  const auto n = m.rows;
  const double flops = std::pow(static_cast<double>(n), 3) / 3;
  const auto make = [&]<class T>() {
    return algebra::batch_plan(m.count, flops,
                               [n](const CpuArgs& args, std::int64_t begin, std::int64_t end) {
                                 for (std::int64_t i = begin; i < end; ++i)
                                   factor(args.in<T>(0) + i * n * n, args.out<T>() + i * n * n, n);
                               });
  };
  return call.dtype() == DType::f64 ? make.template operator()<double>()
                                    : make.template operator()<float>();
}

}  // namespace

void implement(CpuTable& table) { table.set("cholesky", &plan); }

}  // namespace stoker::kernels::cholesky::STOKER_ISA
