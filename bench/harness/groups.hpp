// The benchmark groups. Each is a file; main.cpp lists them.
#pragma once

#include "stoker/bench/harness/harness.hpp"

namespace stoker::bench {

void machine(Context& context);         ///< cores, memory, FMA peak: what the rest is measured on
void overhead(Context& context);        ///< our own cost per command, on the null device
void actors(Context& context);          ///< actors against Asio strands, CAF and BEAM
void vulkan_latency(Context& context);  ///< submit to complete against a raw Vulkan program
void cpu_matmul(Context& context);      ///< matrix products against oneDNN
void cpu_conv(Context& context);        ///< convolutions against oneDNN
void cpu_integers(Context& context);    ///< both of 8-bit integers
void cpu_memory(Context& context);      ///< memory-bound kernels against a triad
void tensors(Context& context);         ///< tensors on the CPU against LibTorch and a triad
void tensors_first_call(Context& context);  ///< the first call of a fused kernel
void planning(Context& context);            ///< planning pipelines of thousands of kernels
void photo(Context& context);               ///< image kernels and the photo pipeline against OpenCV
void gpu_kernels(Context& context);         ///< kernels on a GPU against its memory and arithmetic
void gpu_tensors(Context& context);         ///< tensors on a GPU against copies
void training(Context& context);            ///< steps of training against LibTorch
void predictions(Context& context);         ///< predictions of models against LibTorch
void onnx(Context& context);                ///< ONNX models against ONNX Runtime
void memory_onnx(Context& context);     ///< what a million runs and ten thousand loads leave behind
void serving(Context& context);         ///< batches for many callers against offline batches
void serving_bodies(Context& context);  ///< bodies of requests in JSON, against nlohmann's document
void serving_http(Context& context);    ///< servings over HTTP, against a bare server
void epilogues(Context& context);       ///< products with what follows them
void server(Context& context);          ///< an event loop that shares its thread with Stoker
void soak(Context& context);            ///< a minute of crashes and lost devices
void memory(Context& context);          ///< what ten thousand runs leave behind

}  // namespace stoker::bench
