// One value of a timeline (timeline.hpp), for those who name a point and do not wait for it themselves.
//
// Ownership: shares the timeline. Threads: a value.
#pragma once

#include <cstdint>
#include <memory>

namespace stoker {

class Timeline;

/// A point of a timeline that the host advances.
struct TimelinePoint {
  std::shared_ptr<Timeline> timeline;
  std::uint64_t value = 0;
};

}  // namespace stoker
