#include "stoker/kernels/linear_algebra/batches.hpp"
// After the settings in batches.hpp:
#include <Eigen/QR>

#include "stoker/kernels/linear_algebra/matrices.hpp"

namespace stoker::kernels::qr::STOKER_ISA {
namespace {

namespace algebra = stoker::kernels::linear_algebra::STOKER_ISA;

/// Factors one matrix after another in the same memory.
template <class T> class Factorization {
 public:
  /// q has `inner` columns, r as many rows.
  void run(const T* a, T* q, T* r, std::int64_t rows, std::int64_t columns, std::int64_t inner) {
    algebra::View<algebra::Rows<T>> q_out(q, rows, inner);
    if (columns == 0) {
      q_out.setIdentity();
      return;
    }
    qr_.compute(algebra::ConstView<algebra::Rows<T>>(a, rows, columns));
    algebra::View<algebra::Rows<T>> r_out(r, inner, columns);
    r_out = qr_.matrixQR().topRows(inner).template triangularView<Eigen::Upper>();
    q_.setIdentity(rows, inner);
    q_.applyOnTheLeft(qr_.householderQ());
    q_out = q_;
  }

 private:
  Eigen::HouseholderQR<algebra::Columns<T>> qr_;
  algebra::Columns<T> q_;
};

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  STOKER_ASSIGN(const auto m, linear_algebra::matrices("qr", call.inputs[0]));
  STOKER_ASSIGN(const auto q, linear_algebra::matrices("qr", outputs[0]));
  const double flops =
      8000 + 2 * static_cast<double>(m.rows * q.columns) * static_cast<double>(m.columns + 150);
  const auto make = [&]<class T>() {
    return algebra::batch_plan(
        m.count, flops,
        [rows = m.rows, columns = m.columns, inner = q.columns](
            const CpuArgs& args, std::int64_t begin, std::int64_t end) {
          Factorization<T> factorization;
          for (std::int64_t i = begin; i < end; ++i)
            factorization.run(args.in<T>(0) + i * rows * columns, args.out<T>(0) + i * rows * inner,
                              args.out<T>(1) + i * inner * columns, rows, columns, inner);
        });
  };
  return call.dtype() == DType::f64 ? make.template operator()<double>()
                                    : make.template operator()<float>();
}

}  // namespace

void implement(CpuTable& table) { table.set("qr", &plan); }

}  // namespace stoker::kernels::qr::STOKER_ISA
