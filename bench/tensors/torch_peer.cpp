#include "stoker/bench/tensors/torch_peer.hpp"

namespace stoker::bench {

PeerProgram find_torch() {
  const auto program = own_program().parent_path() / "bench_torch_tensors";
  if (!std::filesystem::exists(program))
    return PeerProgram::absent("LibTorch 1.13", "bench_torch_tensors is built only where it is");
  // As bench/README.md says: untuned it multiplies by the reference BLAS, picks kernels for a smaller
  // processor and returns its pages.
  return {"LibTorch 1.13, tuned",
          {"/usr/bin/env", "LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/openblas-openmp",
           "OPENBLAS_CORETYPE=SkylakeX", "MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=17179869184",
           "OMP_NUM_THREADS=2", program}};
}

}  // namespace stoker::bench
