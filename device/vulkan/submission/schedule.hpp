// In what order steps are encoded, and before which of them a barrier is needed. Pure logic.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "stoker/device/backend.hpp"
#include "stoker/device/vulkan/submission/synchronization.hpp"

namespace stoker::device::vulkan {

/// Steps by levels: first those that depend on nothing, then those that depend on them, and so on;
/// within a level as they came. Two chains then share their barriers instead of each placing its
/// own. Keeps its arrays between uses.
class Schedule {
 public:
  void plan(std::span<const Step> steps);
  /// Indices of steps in the order to encode them.
  [[nodiscard]] std::span<const std::uint32_t> order() const noexcept { return order_; }
  /// Where a step stands in that order.
  [[nodiscard]] std::uint32_t position(std::uint32_t step) const noexcept {
    return position_[step];
  }

 private:
  std::vector<std::uint32_t> level_;
  std::vector<std::uint32_t> first_of_level_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> position_;
};

/// Which earlier work each stage has been made to wait for. Positions are those of a Schedule.
class Hazards {
 public:
  void reset() noexcept { seen_ = {}; }

  /// The stages that a barrier before a step must wait for; none: no barrier is needed. `stages` are
  /// those of all steps (compute or transfer), `to` is this step's and `after` what it depends on.
  [[nodiscard]] Stage needed(std::span<const Stage> stages, const Schedule& schedule, Stage to,
                             std::span<const std::uint32_t> after) const noexcept;
  /// A barrier stands before `position`: what `from` did earlier is seen by `to` from there on.
  void placed(Stage from, Stage to, std::uint32_t position) noexcept;

 private:
  [[nodiscard]] static std::size_t index_of(Stage one) noexcept {
    return one == Stage::compute ? 0 : 1;
  }
  /// seen_[a][b]: stage b sees everything that stage a did before this position.
  std::array<std::array<std::uint32_t, 2>, 2> seen_{};
};

}  // namespace stoker::device::vulkan
