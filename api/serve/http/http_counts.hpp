// What the servers of a service have seen, for its metrics.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>

namespace stoker::serve::http {

struct HttpCounts {
  std::atomic<std::int64_t> connections{0};  ///< open
  std::atomic<std::uint64_t> connected{0};   ///< since the start
};

}  // namespace stoker::serve::http
