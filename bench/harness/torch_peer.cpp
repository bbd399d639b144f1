#include "stoker/bench/harness/torch_peer.hpp"

namespace stoker::bench {

PeerProgram find_torch() {
  const auto program = own_program().parent_path() / "bench_torch";
  if (!std::filesystem::exists(program))
    return PeerProgram::absent("LibTorch 1.13", "bench_torch is built only where it is");
  // As bench/README.md says: untuned it multiplies by the reference BLAS, picks kernels for a smaller
  // processor and returns its pages.
  // OpenBLAS takes the name at its word, so only where the processor has AVX-512.
  const char* const kernels = __builtin_cpu_supports("avx512f") ? "OPENBLAS_CORETYPE=SkylakeX"
                                                                : "OPENBLAS_CORETYPE=Haswell";
  return {
      "LibTorch 1.13, tuned",
      {"/usr/bin/env", "LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/openblas-openmp", kernels,
       "MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=17179869184", "OMP_NUM_THREADS=2", program}};
}

}  // namespace stoker::bench
