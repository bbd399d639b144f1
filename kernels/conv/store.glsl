// FUSED: what becomes of the elements is said by functions that stand before this text
// (kernels/fused/convolution_gpu.cpp).
#ifdef FUSED
#define STORE(at, value) fused_store(at, value)
#else
#define STORE(at, value) y_store(at, value)
#endif
