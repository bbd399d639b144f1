#include "stoker/kernels/conv/added_bias.hpp"
#include "stoker/kernels/conv/direct.hpp"
#include "stoker/kernels/conv/few_pixels.hpp"
#include "stoker/kernels/conv/finished.hpp"
#include "stoker/kernels/conv/onednn.hpp"
#include "stoker/kernels/conv/output_lanes.hpp"
#include "stoker/kernels/conv/pointwise.hpp"
#include "stoker/kernels/conv/shifted.hpp"
#include "stoker/kernels/conv/winograd.hpp"
#include "stoker/kernels/cpu/convert.hpp"

namespace stoker::kernels::conv::STOKER_ISA {
namespace {

using Finish = std::shared_ptr<const mm::Finish>;

constexpr std::size_t grain = std::size_t{64} << 10;

std::size_t elements_of(const Problem& p) noexcept {
  return static_cast<std::size_t>(p.y_elements());
}

/// Rows of the output that slice `index` of `slices` covers.
mm::Elements rows_of_slice(const Problem& p, std::uint32_t slices, std::uint32_t index) noexcept {
  const auto row = static_cast<std::size_t>(row_of(p));
  const SliceRange rows = slice_range(elements_of(p) / row, slices, index, 1);
  return {rows.begin * row, rows.end - rows.begin, row, row};
}

/// `plan` with C in the place of its output, and a last stage in which `finish` takes all of it.
CpuPlan finished_after(CpuPlan plan, const Problem& p, std::size_t bytes, Finish finish) {
  if (!finish) return plan;
  const std::uint32_t slices = slice_count(elements_of(p), grain);
  const mm::Target target{std::move(finish), plan, elements_of(p) * bytes, slices};
  for (CpuStage& stage : plan.stages)
    stage.run = [target, run = std::move(stage.run)](const CpuArgs& args, std::uint32_t index) {
      void* outputs[] = {target.of(args)};
      run(CpuArgs{args.inputs, outputs, args.scratch}, index);
    };
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           target.done(args, index, rows_of_slice(p, slices, index));
                         }});
  return plan;
}

/// Beside such a kernel the output is small, and planes consist of columns between outputs for the most
/// part.
bool is_kernel_long(const Problem& p) noexcept { return p.taps() > 2 * p.pixels(); }

/// Whether those columns are few beside a tile of patches, which has no others than outputs', but gathers
/// them one by one.
template <class T> bool planes_win(const Problem& p) {
  if (!Planes::suit(p)) return false;
  if (!is_kernel_long(p)) return true;
  return p.images * ShiftedPlanes<T>::columns_of_image(p) <=
         2 * mm::round_up(p.images * p.pixels(), ShiftedPlanes<T>::width);
}

/// The plan that does not need oneDNN.
template <class T> CpuPlan own_plan(const Problem& p, const Finish& finish) {
  return finished_after(planes_win<T>(p) ? shifted_plan<T>(p) : direct_plan<T>(p), p, sizeof(T),
                        finish);
}

/// Where shifted planes are far behind oneDNN, which has ways of its own.
bool planes_lose(const Problem& p) noexcept {
  return (is_kernel_long(p) && p.images > 1) ||
         (p.channels == 1 && p.outputs == 1 && p.groups >= 8);
}

/// oneDNN computes blocks of 16 channels and 16 outputs, and reorders whole images for that: worth it
/// where blocks are full and threads have images of their own, or rows are shorter than vectors. Large
/// outputs of small sums are bound by memory, which it writes faster.
bool prefers_onednn(const Problem& p) {
  if (!Planes::suit(p) || suits_products(p) || planes_lose(p)) return true;
  constexpr double many_weights = 1 << 22;  // of one image, each is multiplied a few times
  if (is_kernel_long(p)) return p.work() >= many_weights;
  if (p.groups > 1 || p.taps() == 1 || p.outputs < 16) return false;
  constexpr std::size_t large = convert::stream_from_bytes / sizeof(float);
  if (p.channels * p.taps() <= 32 && elements_of(p) >= large) return true;
  constexpr double one_job = 1 << 23;
  return p.channels >= 16 && p.outputs >= 32 &&
         (p.images >= 8 || p.across().out < 12 || p.work() < one_job);
}

/// oneDNN's, if it has one; `last` is done at the end where that cannot be done on the way.
std::optional<CpuPlan> library_plan(const Problem& p, const Finish& last) {
  if (auto plan = onednn_plan(p, last)) return plan;
  auto plan = last ? onednn_plan(p, nullptr) : std::nullopt;
  if (!plan) return std::nullopt;
  return finished_after(*std::move(plan), p, sizeof(float), last);
}

/// OutputLanes, which do a short finish themselves.
CpuPlan lanes_plan(const Problem& p, const Finish& finish) {
  if (!finish) return output_lanes_plan(p, std::nullopt);
  const bool outputs_last = p.y_output == 1 && row_of(p) == p.outputs;
  const bool pixels_last = p.y_output == p.pixels() && row_of(p) == p.pixels() &&
                           (p.images == 1 || p.y_image == p.outputs * p.pixels());
  if (auto last = finish->in_short()) {
    const auto& bias = last->bias;
    const bool for_outputs =
        !bias || (bias->count == p.outputs && ((outputs_last && bias->repeats == 1) ||
                                               (pixels_last && bias->repeats == p.pixels())));
    if (for_outputs) return output_lanes_plan(p, last);
  }
  return finished_after(output_lanes_plan(p, std::nullopt), p, sizeof(float), finish);
}

/// Where OutputLanes are ahead: an image takes so little time that the library's reorders, calls and memory count.
bool lanes_win(const Problem& p) noexcept {
  constexpr double small_image = 1 << 22;
  if (p.work() >= small_image * static_cast<double>(p.images) || !OutputLanes::suit(p))
    return false;
  // They part images and rows among threads, but no row.
  return p.images * p.down().out >= OutputLanes::slices_wanted(p);
}

CpuPlan f32_plan(const Problem& p, const Finish& finish) {
  if (Winograd::suit(p)) return winograd_plan(p, finish);
  if (FewPixels::suit(p)) return finished_after(few_pixels_plan(p), p, sizeof(float), finish);
  if (suits_products(p) && !finish) return pointwise_plan(p);
  if (lanes_win(p)) return lanes_plan(p, finish);
  // Below, making and calling the library's code costs more than it gains.
  constexpr double onednn_work = 1 << 17;
  const Finish last = p.bias ? std::make_shared<const AddedBias>(p) : finish;
  if (p.work() >= onednn_work && prefers_onednn(p))
    if (auto plan = library_plan(p, last)) return *std::move(plan);
  return own_plan<float>(p, finish);
}

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// A plan for f32 between conversions: the 16-bit floats are summed in f32.
template <class S> CpuPlan widened(Problem p, Finish finish) {
  p.winograd = false;  // the option is for f32; numbers of bf16 may be too large for its sums
  CpuPlan inner = f32_plan(p, nullptr);
  const auto x = static_cast<std::size_t>(p.x_elements());
  const auto k = static_cast<std::size_t>(p.k_elements());
  const std::size_t y = elements_of(p);
  const auto bias = static_cast<std::size_t>(p.bias ? p.groups * p.outputs : 0);
  const std::size_t k_at = aligned(x * sizeof(float));
  const std::size_t bias_at = k_at + aligned(k * sizeof(float));
  const std::size_t y_at = bias_at + aligned(bias * sizeof(float));
  const std::size_t rest_at = y_at + aligned(y * sizeof(float));
  const auto floats = [](const CpuArgs& args, std::size_t at) {
    return reinterpret_cast<float*>(args.scratch + at);
  };
  CpuPlan plan;
  plan.scratch_bytes = rest_at + inner.scratch_bytes;
  const std::uint32_t loads = slice_count(x + k, grain);
  plan.stages.push_back({loads, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange of_x = slice_range(x, loads, index);
                           const SliceRange of_k = slice_range(k, loads, index);
                           convert::load_block(args.in<S>(0) + of_x.begin,
                                               floats(args, 0) + of_x.begin, of_x.end - of_x.begin);
                           convert::load_block(args.in<S>(1) + of_k.begin,
                                               floats(args, k_at) + of_k.begin,
                                               of_k.end - of_k.begin);
                           if (bias != 0 && index == 0)
                             convert::load_block(args.in<S>(2), floats(args, bias_at), bias);
                         }});
  for (CpuStage& stage : inner.stages)
    plan.stages.push_back(
        {stage.slices, [=, run = std::move(stage.run)](const CpuArgs& args, std::uint32_t index) {
           const void* inputs[] = {floats(args, 0), floats(args, k_at), floats(args, bias_at)};
           void* outputs[] = {floats(args, y_at)};
           run(CpuArgs{inputs, outputs, args.scratch + rest_at}, index);
         }});
  const std::uint32_t stores = slice_count(y, grain);
  const mm::Target target{std::move(finish), plan, y * sizeof(S), stores};
  plan.stages.push_back({stores, [=](const CpuArgs& args, std::uint32_t index) {
                           const mm::Elements rows = rows_of_slice(p, stores, index);
                           convert::store_block(
                               static_cast<const float*>(floats(args, y_at)) + rows.first,
                               reinterpret_cast<S*>(target.of(args)) + rows.first,
                               rows.rows * rows.columns);
                           target.done(args, index, rows);
                         }});
  return plan;
}

template <class S> CpuPlan plan_of_16_bits(const Problem& p, Finish finish) {
  if (Planes::suit(p) && !planes_lose(p))
    return finished_after(shifted_plan<S>(p), p, sizeof(S), finish);
  return widened<S>(p, std::move(finish));
}

CpuPlan plan_of(DType dtype, const Problem& p, Finish finish) {
  switch (dtype) {
    case DType::f64: return own_plan<double>(p, finish);
    // Signed integers are multiplied as unsigned ones: the bits are the same, and overflow wraps.
    case DType::s32: return own_plan<std::uint32_t>(p, finish);
    case DType::f16: return plan_of_16_bits<Half>(p, std::move(finish));
    case DType::bf16: return plan_of_16_bits<BFloat16>(p, std::move(finish));
    default: return f32_plan(p, finish);
  }
}

/// A plan for a dense kernel, which a first stage copies out of its blocks.
template <class Bits> CpuPlan unblocked(DType dtype, const Problem& p, Finish finish) {
  CpuPlan inner = plan_of(dtype, with_dense_kernel(p), nullptr);
  const std::size_t room = aligned(static_cast<std::size_t>(p.k_elements()) * sizeof(Bits));
  CpuPlan plan;
  plan.scratch_bytes = room + inner.scratch_bytes;
  const auto outputs = static_cast<std::size_t>(p.outputs);
  const auto slices = static_cast<std::uint32_t>(
      std::min(outputs, std::size_t{slice_count(static_cast<std::size_t>(p.k_elements()), grain)}));
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(outputs, slices, index, 1);
                           auto* to = reinterpret_cast<Bits*>(args.scratch);
                           const std::int64_t taps = p.taps(), b = p.kernel_block;
                           for (auto o = static_cast<std::int64_t>(range.begin);
                                o < static_cast<std::int64_t>(range.end); ++o)
                             for (std::int64_t c = 0; c < p.channels; ++c) {
                               const Bits* from =
                                   args.in<Bits>(1) +
                                   (o / b * (p.channels / b) + c / b) * taps * b * b + c % b * b +
                                   o % b;
                               for (std::int64_t t = 0; t < taps; ++t)
                                 to[(o * p.channels + c) * taps + t] = from[t * b * b];
                             }
                         }});
  for (CpuStage& stage : inner.stages)
    plan.stages.push_back(
        {stage.slices, [=, run = std::move(stage.run)](const CpuArgs& args, std::uint32_t index) {
           const void* inputs[] = {args.inputs[0], args.scratch};
           run(CpuArgs{inputs, args.outputs, args.scratch + room}, index);
         }});
  return finished_after(std::move(plan), p, sizeof(Bits), std::move(finish));
}

CpuPlan plan_with_blocks(DType dtype, const Problem& p, const Finish& finish) {
  if (dtype == DType::f32)
    if (auto plan = library_plan(p, finish)) return *std::move(plan);
  switch (size_of(dtype)) {
    case 2: return unblocked<std::uint16_t>(dtype, p, finish);
    case 4: return unblocked<std::uint32_t>(dtype, p, finish);
    default: return unblocked<std::uint64_t>(dtype, p, finish);
  }
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  return plan_finished(call.dtype(), describe(call, outputs[0].shape), nullptr);
}

}  // namespace

std::int64_t row_of(const Problem& p) noexcept {
  if (p.y_output == 1 && p.outputs > 1 && (p.groups == 1 || p.y_group == p.outputs))
    return p.groups * p.outputs;
  if (p.outputs == 1 && p.groups > 1 && p.y_group == 1) return p.groups;
  std::int64_t dense = 1;
  for (std::size_t axis = p.rank; axis-- > 0; dense *= p.axes[axis].out)
    if (p.axes[axis].y_step != dense) return 1;
  return dense;
}

CpuPlan plan_finished(DType dtype, const Problem& p, std::shared_ptr<const mm::Finish> finish) {
  CpuPlan result = p.kernel_block != 0 ? plan_with_blocks(dtype, p, finish)
                                       : plan_of(dtype, p, std::move(finish));
  result.cost_ns = p.work() * 0.03 + static_cast<double>(elements_of(p)) + 500;
  return result;
}

void implement(CpuTable& table) { table.set("conv", &plan); }

}  // namespace stoker::kernels::conv::STOKER_ISA
