#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/non_max_suppression/options.hpp"

namespace stoker::kernels::non_max_suppression::STOKER_ISA {
namespace {

/// Corners in order, whichever were given.
struct Box {
  float y1, x1, y2, x2;
  [[nodiscard]] float area() const noexcept { return (y2 - y1) * (x2 - x1); }
};

Box box_at(const float* boxes, std::int32_t i, bool centers) noexcept {
  const float* const b = boxes + std::ptrdiff_t{4} * i;
  if (centers) return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

bool overlaps(const Box& a, const Box& b, float limit) noexcept {
  const float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const float width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (!(height > 0) || !(width > 0)) return false;
  const float both = height * width;
  const float either = a.area() + b.area() - both;
  return either > 0 && both / either > limit;
}

/// Of one class. `order` has room for the places of all its boxes. Returns how many are chosen.
std::int32_t choose(const NonMaxSuppression& how, const float* boxes, std::span<const float> scores,
                    std::span<std::int32_t> order, std::span<std::int32_t> chosen) {
  std::size_t candidates = 0;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (!std::isnan(scores[i]) && (!how.bounded || scores[i] > static_cast<float>(how.least_score)))
      order[candidates++] = static_cast<std::int32_t>(i);
  std::ranges::sort(order.first(candidates), [&](std::int32_t a, std::int32_t b) {
    const float left = scores[static_cast<std::size_t>(a)];
    const float right = scores[static_cast<std::size_t>(b)];
    return left > right || (left == right && a < b);
  });
  std::size_t found = 0;
  for (const std::int32_t i : order.first(candidates)) {
    if (found == chosen.size()) break;
    const Box box = box_at(boxes, i, how.centers);
    const bool is_free = std::ranges::none_of(chosen.first(found), [&](std::int32_t better) {
      return overlaps(box, box_at(boxes, better, how.centers), static_cast<float>(how.overlap));
    });
    if (is_free) chosen[found++] = i;
  }
  std::ranges::fill(chosen.subspan(found), 0);
  return static_cast<std::int32_t>(found);
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  const auto how = options::from<NonMaxSuppression>(call.params);
  const Shape& scores = call.shape(1);
  const auto classes = static_cast<std::size_t>(scores[1]);
  const std::size_t lists = static_cast<std::size_t>(scores[0]) * classes;
  const auto n = static_cast<std::size_t>(scores[2]);
  const auto most = static_cast<std::size_t>(how.most);
  CpuPlan made;
  if (lists == 0) return made;
  made.scratch_bytes = lists * n * sizeof(std::int32_t);
  constexpr double ns_of_score = 30;
  made.cost_ns = 100 + static_cast<double>(lists * n) * ns_of_score;
  const std::uint32_t slices =
      std::min(slice_count(lists * n, std::size_t{1} << 10),
               static_cast<std::uint32_t>(std::min<std::size_t>(lists, std::size_t{1} << 16)));
  made.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           auto* const order = reinterpret_cast<std::int32_t*>(args.scratch);
                           const SliceRange range = slice_range(lists, slices, index, 1);
                           for (std::size_t list = range.begin; list < range.end; ++list)
                             args.out<std::int32_t>(1)[list] =
                                 choose(how, args.in<float>(0) + list / classes * n * 4,
                                        {args.in<float>(1) + list * n, n}, {order + list * n, n},
                                        {args.out<std::int32_t>(0) + list * most, most});
                         }});
  return made;
}

}  // namespace

void implement(CpuTable& table) { table.set("non_max_suppression", &plan); }

}  // namespace stoker::kernels::non_max_suppression::STOKER_ISA
