// Which matrices an item multiplies, and where its results go.

// AXES: those of the batches.
#ifndef AXES
#define AXES 6
#endif

#ifdef FUSED
#define STORE(at, value) fused_store(at, value)
#define STORE4(at, value) fused_store4(at, value)
#else
#define STORE(at, value) c_store(at, value)
#define STORE4(at, value) c_store4((at) / 4u, value)
#endif

uint matrix_a, matrix_b;  // of the batch

void find_matrices(uint batch) {
  matrix_a = 0u;
  matrix_b = 0u;
#if AXES > 0
  if (batches > 1u)
    for (int axis = AXES - 1; axis >= 0; --axis) {
      uint coordinate = batch % extents[axis];
      batch /= extents[axis];
      matrix_a += coordinate * a_steps[axis];
      matrix_b += coordinate * b_steps[axis];
    }
#endif
}
