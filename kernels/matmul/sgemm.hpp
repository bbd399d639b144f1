// Large products of f32 by oneDNN, one thread at a time.
//
// oneDNN would start its own OpenMP threads beside the compute pool's and disturb them. It asks OpenMP
// how many it may use, and OpenMP keeps that number for each calling thread: so it is set to 1 around
// the call and restored, since the thread may be one of the host's. (Measured: two slices so reach
// 0.95 to 1.02 of oneDNN on two threads of its own.)
#pragma once

#include <dlfcn.h>
#include <dnnl.h>

#include <atomic>
#include <vector>

#include "stoker/kernels/matmul/blocks.hpp"
#include "stoker/kernels/matmul/onednn_error.hpp"
#include "stoker/runtime/base/exit_watch.hpp"
#include "stoker/runtime/base/kept_statics.hpp"

namespace stoker::kernels::matmul::STOKER_ISA {

/// OpenMP's thread count of the calling thread. Looked up by name: a oneDNN built on another runtime
/// brings no OpenMP, and then there is nothing to set.
struct LibraryThreads {
  int (*get)() = nullptr;
  void (*set)(int) = nullptr;

  [[nodiscard]] static LibraryThreads find() noexcept {
    LibraryThreads found;
    found.get = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
    found.set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
    if (found.get == nullptr) found.set = nullptr;
    return found;
  }
};

/// Sets the count to 1 while it lives.
class OneThread {
 public:
  explicit OneThread(const LibraryThreads& threads) noexcept
      : set_{threads.set}, before_{set_ == nullptr ? 1 : threads.get()} {
    if (before_ != 1) set_(1);
  }
  ~OneThread() {
    if (before_ != 1) set_(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  void (*set_)(int);
  int before_;
};

/// oneDNN compiles its code, tens of milliseconds of it, when a product first needs it, into static
/// objects of functions: once for large products, and for small ones once for each order of B. That is done
/// here, also where the library's statics are kept: a fork() waits for a first use, and would else leave a
/// child with objects that are for ever being made. False once the process exits.
[[nodiscard]] inline bool before_products() {
  static std::atomic<bool> done{false};
  return first_use(done, [] {
    static_cast<void>(keep_statics_of(reinterpret_cast<const void*>(&dnnl_sgemm)));
    for (const dnnl_dim_t n : {2, 64}) {
      const std::vector<float> in(static_cast<std::size_t>(n * n));
      std::vector<float> out(in.size());
      for (const char b : {'N', 'T'})
        static_cast<void>(
            dnnl_sgemm('N', b, n, n, n, 1.0F, in.data(), n, in.data(), n, 0.0F, out.data(), n));
    }
  });
}

/// The part of the sum over t that is added up: all of it, or t from `begin` to `end`.
struct Depth {
  std::int64_t begin;
  std::int64_t end;
};

/// C's part = A · B over that depth. Throws out_of_memory if oneDNN has no room for its copies, closed
/// once the process exits.
inline void sgemm(const Problem& p, const float* a, const float* b, float* c, const Part& part,
                  const Depth& depth, const LibraryThreads& threads) {
  // A tenth of a second or so: exit() waits for this thread to come out.
  constexpr double longest = std::int64_t{1} << 33;
  const std::int64_t rows = part.m1 - part.m0, columns = part.n1 - part.n0;
  const std::int64_t longer = std::max(rows, columns);
  const double work = static_cast<double>(rows) * static_cast<double>(columns) *
                      static_cast<double>(depth.end - depth.begin);
  if (work > longest && longer > 1) {
    Part first = part, second = part;
    (rows == longer ? first.m1 : first.n1) -= longer / 2;
    (rows == longer ? second.m0 : second.n0) = rows == longer ? first.m1 : first.n1;
    sgemm(p, a, b, c, first, depth, threads);
    return sgemm(p, a, b, c, second, depth, threads);
  }
  const ExitDelay in_library;
  const OneThread one(threads);
  if (in_library.too_late() || !before_products()) throw process_exits("matmul");
  const std::int64_t b_column = p.transpose_b ? p.k : 1;
  const std::int64_t b_row = p.transpose_b ? 1 : p.n;
  const dnnl_status_t status = dnnl_sgemm(
      p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', rows, columns, depth.end - depth.begin,
      1.0F, a + part.m0 * p.a_row_step() + depth.begin * p.a_column_step(),
      p.transpose_a ? p.m : p.k, b + part.n0 * b_column + depth.begin * b_row,
      p.transpose_b ? p.k : p.n, 0.0F, c + part.m0 * p.n + part.n0, p.n);
  if (status != dnnl_success) throw onednn_error("matmul", "oneDNN refused the product", status);
}

/// The same over the whole depth.
inline void sgemm(const Problem& p, const float* a, const float* b, float* c, const Part& part,
                  const LibraryThreads& threads) {
  sgemm(p, a, b, c, part, {0, p.k}, threads);
}

}  // namespace stoker::kernels::matmul::STOKER_ISA
