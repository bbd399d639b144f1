#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/gaussian_blur/options.hpp"
#include "stoker/kernels/image/blur_rows.hpp"

namespace stoker::kernels::gaussian_blur::STOKER_ISA {
namespace {

using namespace image::STOKER_ISA;
using image::Blur;

template <class T, class Line> CpuPlan plan_for(const Shape& shape, const Blur& of) {
  return blur_plan<T, Line>(shape, of,
                            [](const CpuArgs& args, const BlurRows& blur, std::byte* scratch,
                               std::size_t begin, std::size_t end) {
                              T* const output = args.out<T>();
                              const std::size_t row = blur.row();
                              blur_band<T, Line>(
                                  blur, args.in<T>(0), scratch, begin, end,
                                  [&](std::size_t y, std::size_t i, auto blurred, auto part) {
                                    T* const to = output + y * row + i;
                                    if constexpr (std::is_same_v<Line, float>)
                                      store(to, blurred, part);
                                    else
                                      store_words(to, (blurred + 64) >> 7, part);
                                  });
                            });
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  const auto blur = Blur::of(options::from<GaussianBlur>(call.params));
  return by_line(call.dtype(), blur.radius,
                 [&]<class T, class Line>() { return plan_for<T, Line>(call.shape(), blur); });
}

}  // namespace

void implement(CpuTable& table) { table.set("gaussian_blur", plan); }

}  // namespace stoker::kernels::gaussian_blur::STOKER_ISA
