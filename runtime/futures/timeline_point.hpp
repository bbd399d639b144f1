// One value of a timeline (timeline.hpp), for code that names a point without waiting for it.
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
