// Convolutions whose windows are single entries: for each image and group a product of the kernel with
// the pixels, which oneDNN multiplies as they lie.
#pragma once

#include "stoker/kernels/conv/problem.hpp"
#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/matmul/sgemm.hpp"

namespace stoker::kernels::conv::STOKER_ISA {

namespace mm = stoker::kernels::matmul::STOKER_ISA;

/// Whether rows of the operands and of the output are matrices in memory, and large enough for a product
/// of oneDNN's.
[[nodiscard]] inline bool suits_products(const Problem& p) noexcept {
  constexpr double onednn_work = 1 << 19;
  std::int64_t dense = 1;
  for (std::size_t i = p.rank; i-- > 0; dense *= p.axes[i].out)
    if (p.axes[i].out > 1 && (p.axes[i].x_step != dense || p.axes[i].y_step != dense)) return false;
  return p.pointwise() && p.x_channel == dense && p.y_output == dense && p.k_channel == 1 &&
         p.k_output == p.channels &&
         p.work() >= onednn_work * static_cast<double>(p.images * p.groups);
}

/// For a problem that suits_products() takes, of f32.
[[nodiscard]] inline CpuPlan pointwise_plan(const Problem& p) {
  matmul::Problem product;
  product.m = p.outputs;
  product.n = p.pixels();
  product.k = p.channels;
  const std::int64_t products = p.images * p.groups;
  const std::int64_t cores = slice_count(std::size_t{1} << 30, 1) / 4;
  // Few images are cut into rows, so that every core has work.
  const auto parts = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>((cores + products - 1) / products, 1, (product.m + 15) / 16));
  const auto jobs = static_cast<std::size_t>(products) * parts;
  const auto slices = static_cast<std::uint32_t>(
      std::min<std::size_t>(jobs, slice_count(static_cast<std::size_t>(p.work()), 1 << 20)));
  const mm::LibraryThreads threads = mm::LibraryThreads::find();
  CpuPlan plan;
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(jobs, slices, index, 1);
                           for (std::size_t job = range.begin; job < range.end; ++job) {
                             const auto at = static_cast<std::int64_t>(job / parts);
                             const std::int64_t image = at / p.groups, group = at % p.groups;
                             const SliceRange rows = slice_range(
                                 static_cast<std::size_t>(product.m), parts,
                                 static_cast<std::uint32_t>(job % parts), mm::tile_rows);
                             const mm::Part part{static_cast<std::int64_t>(rows.begin),
                                                 static_cast<std::int64_t>(rows.end), 0, product.n};
                             float* y = args.out<float>() + image * p.y_image + group * p.y_group;
                             mm::sgemm(product, args.in<float>(1) + group * p.k_group,
                                       args.in<float>(0) + image * p.x_image + group * p.x_group, y,
                                       part, threads);
                             if (!p.bias) continue;
                             for (std::int64_t m = part.m0; m < part.m1; ++m) {
                               const float bias = args.in<float>(2)[group * product.m + m];
                               for (std::int64_t j = 0; j < product.n; ++j)
                                 y[m * product.n + j] += bias;
                             }
                           }
                         }});
  return plan;
}

}  // namespace stoker::kernels::conv::STOKER_ISA
