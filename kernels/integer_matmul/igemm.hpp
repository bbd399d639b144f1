// Products of 8-bit integers by oneDNN, one thread at a time, as matmul/sgemm.hpp has those of f32.
#pragma once

#include "stoker/kernels/matmul/sgemm.hpp"

namespace stoker::kernels::integer_matmul::STOKER_ISA {

namespace mm = stoker::kernels::matmul::STOKER_ISA;

/// Whether oneDNN's sums are exact: without VNNI it adds pairs of products in 16 bits, which saturate.
[[nodiscard]] inline bool is_library_exact() noexcept {
  constexpr auto vnni = static_cast<unsigned>(dnnl_cpu_isa_avx512_core_vnni);
  return (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & vnni) == vnni;
}

/// A left side of s8 or u8 from which `zero` is subtracted, and a right side of s8.
struct Bytes {
  const std::byte* a;
  bool is_signed;
  int a_zero;
  const std::int8_t* b;
  int b_zero;
  std::int32_t* c;
};

/// Some rows and columns of what a Problem says. Strides are counted in elements.
inline dnnl_status_t call_igemm(const matmul::Problem& p, const Bytes& of, const mm::Part& part) {
  const dnnl_dim_t rows = part.m1 - part.m0, columns = part.n1 - part.n0;
  const std::byte* const a = of.a + part.m0 * p.a_row_step();
  const std::int8_t* const b = of.b + part.n0 * (p.transpose_b ? p.k : 1);
  std::int32_t* const c = of.c + part.m0 * p.n + part.n0;
  const char a_order = p.transpose_a ? 'T' : 'N', b_order = p.transpose_b ? 'T' : 'N';
  const dnnl_dim_t a_step = p.transpose_a ? p.m : p.k, b_step = p.transpose_b ? p.k : p.n;
  const auto b_zero = static_cast<std::int8_t>(of.b_zero);
  const std::int32_t none = 0;
  if (of.is_signed)
    return dnnl_gemm_s8s8s32(
        a_order, b_order, 'F', rows, columns, p.k, 1.0F, reinterpret_cast<const std::int8_t*>(a),
        a_step, static_cast<std::int8_t>(of.a_zero), b, b_step, b_zero, 0.0F, c, p.n, &none);
  return dnnl_gemm_u8s8s32(
      a_order, b_order, 'F', rows, columns, p.k, 1.0F, reinterpret_cast<const std::uint8_t*>(a),
      a_step, static_cast<std::uint8_t>(of.a_zero), b, b_step, b_zero, 0.0F, c, p.n, &none);
}

/// Makes the library's code, as mm::before_products() does for f32. False once the process exits.
[[nodiscard]] inline bool before_products() {
  static std::atomic<bool> done{false};
  return first_use(done, [] {
    static_cast<void>(keep_statics_of(reinterpret_cast<const void*>(&dnnl_gemm_u8s8s32)));
    for (const std::int64_t n : {2, 64})
      for (int which = 0; which < 8; ++which) {
        matmul::Problem p;
        p.m = p.n = p.k = n;
        p.transpose_a = (which & 1) != 0;
        p.transpose_b = (which & 2) != 0;
        const std::vector<std::int8_t> in(static_cast<std::size_t>(n * n));
        std::vector<std::int32_t> out(in.size());
        static_cast<void>(call_igemm(p,
                                     {reinterpret_cast<const std::byte*>(in.data()),
                                      (which & 4) != 0, 1, in.data(), 1, out.data()},
                                     {0, n, 0, n}));
      }
  });
}

/// C's part = (A - zero) · (B - zero). Throws out_of_memory if oneDNN has no room for its copies, closed once the
/// process exits.
inline void igemm(const matmul::Problem& p, const Bytes& of, const mm::Part& part,
                  const mm::LibraryThreads& threads) {
  // A tenth of a second or so: exit() waits for this thread to come out.
  constexpr double longest = std::int64_t{1} << 34;
  const std::int64_t rows = part.m1 - part.m0, columns = part.n1 - part.n0;
  const std::int64_t longer = std::max(rows, columns);
  const double work =
      static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(p.k);
  if (work > longest && longer > 1) {
    mm::Part first = part, second = part;
    (rows == longer ? first.m1 : first.n1) -= longer / 2;
    (rows == longer ? second.m0 : second.n0) = rows == longer ? first.m1 : first.n1;
    igemm(p, of, first, threads);
    return igemm(p, of, second, threads);
  }
  const ExitDelay in_library;
  const mm::OneThread one(threads);
  if (in_library.too_late() || !before_products()) throw process_exits("integer_matmul");
  const dnnl_status_t status = call_igemm(p, of, part);
  if (status != dnnl_success)
    throw Error{"integer_matmul",
                status == dnnl_out_of_memory ? ErrorCode::out_of_memory : ErrorCode::internal,
                "oneDNN refused the product",
                {{"status", std::to_string(status)}}};
}

}  // namespace stoker::kernels::integer_matmul::STOKER_ISA
