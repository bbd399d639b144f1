#include "stoker/kernels/linear_algebra/batches.hpp"
#include "stoker/kernels/linear_algebra/matrices.hpp"
#include "stoker/kernels/triangular_solve/options.hpp"

namespace stoker::kernels::triangular_solve::STOKER_ISA {
namespace {

namespace algebra = stoker::kernels::linear_algebra::STOKER_ISA;

/// `x` is b before and the solution after. The transpose of row-major memory is the same memory in
/// column-major order, so `Order` says whether a is transposed; `Triangle` is that of op(a).
template <class T, int Order, unsigned Triangle, int Side>
void solve(const T* a, T* x, std::int64_t rows, std::int64_t columns) {
  const std::int64_t n = Side == Eigen::OnTheLeft ? rows : columns;
  const algebra::ConstView<algebra::Dense<T, Order>> matrix(a, n, n);
  algebra::View<algebra::Rows<T>> result(x, rows, columns);
  matrix.template triangularView<Triangle>().template solveInPlace<Side>(result);
}

template <class T> using Solver = void (*)(const T*, T*, std::int64_t, std::int64_t);

template <class T, int Order, unsigned Triangle> Solver<T> by_side(bool left) {
  return left ? &solve<T, Order, Triangle, Eigen::OnTheLeft>
              : &solve<T, Order, Triangle, Eigen::OnTheRight>;
}

template <class T> Solver<T> solver(bool lower, bool left, bool transpose) {
  if (transpose)
    return lower ? by_side<T, Eigen::ColMajor, Eigen::Upper>(left)
                 : by_side<T, Eigen::ColMajor, Eigen::Lower>(left);
  return lower ? by_side<T, Eigen::RowMajor, Eigen::Lower>(left)
               : by_side<T, Eigen::RowMajor, Eigen::Upper>(left);
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  STOKER_ASSIGN(const auto a, linear_algebra::square_matrices("triangular_solve", call.inputs[0]));
  STOKER_ASSIGN(const auto b, linear_algebra::matrices("triangular_solve", call.inputs[1]));
  const double flops = static_cast<double>(a.rows) * static_cast<double>(b.rows * b.columns);
  const auto make = [&]<class T>() {
    const auto given = options::from<TriangularSolve>(call.params);
    const Solver<T> run = solver<T>(given.lower, given.left_side, given.transpose);
    return algebra::batch_plan(
        b.count, flops,
        [run, size_a = a.rows * a.rows, rows = b.rows, columns = b.columns](
            const CpuArgs& args, std::int64_t begin, std::int64_t end) {
          const std::int64_t size = rows * columns;
          for (std::int64_t i = begin; i < end; ++i) {
            std::copy_n(args.in<T>(1) + i * size, size, args.out<T>() + i * size);
            run(args.in<T>(0) + i * size_a, args.out<T>() + i * size, rows, columns);
          }
        });
  };
  return call.dtype() == DType::f64 ? make.template operator()<double>()
                                    : make.template operator()<float>();
}

}  // namespace

void implement(CpuTable& table) { table.set("triangular_solve", &plan); }

}  // namespace stoker::kernels::triangular_solve::STOKER_ISA
