#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/image/blur_rows.hpp"
#include "stoker/kernels/sharpen/options.hpp"

namespace stoker::kernels::sharpen::STOKER_ISA {
namespace {

using namespace image::STOKER_ISA;

template <class T, class Line> CpuPlan plan_for(const Shape& shape, const Sharpen& given) {
  const auto strength = static_cast<float>(given.strength);
  return blur_plan<T, Line>(
      shape, image::Blur::of(given),
      [strength](const CpuArgs& args, const BlurRows& blur, std::byte* scratch, std::size_t begin,
                 std::size_t end) {
        const T* const input = args.in<T>(0);
        T* const output = args.out<T>();
        const std::size_t row = blur.row();
        const auto sharpened = [&](std::size_t i, Floats blurred, auto part) {
          const Floats own = load(input + i, part);
          store(output + i, own + strength * (own - blurred), part);
        };
        blur_band<T, Line>(blur, input, scratch, begin, end,
                           [&](std::size_t y, std::size_t i, auto blurred, auto part) {
                             const std::size_t at = y * row + i;
                             if constexpr (std::is_same_v<Line, float>)
                               sharpened(at, blurred, part);
                             else
                               over_halves(part, [&](auto half, std::size_t offset, auto piece) {
                                 sharpened(at + offset,
                                           signed_half<half()>(blurred) * (1.0F / 128.0F), piece);
                               });
                           });
        if (!blur.extent.has_alpha()) return;
        const auto pixels = static_cast<std::size_t>(blur.extent.width) * (end - begin);
        copy_alpha(output + begin * row, input + begin * row, pixels);
      });
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  const auto given = options::from<Sharpen>(call.params);
  return by_line(call.dtype(), given.radius,
                 [&]<class T, class Line>() { return plan_for<T, Line>(call.shape(), given); });
}

}  // namespace

void implement(CpuTable& table) { table.set("sharpen", plan); }

}  // namespace stoker::kernels::sharpen::STOKER_ISA
