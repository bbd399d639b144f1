// How much memory this process holds right now.
#pragma once

namespace stoker::bench {

[[nodiscard]] double resident_bytes();
/// The most it has held so far.
[[nodiscard]] double peak_resident_bytes();
/// After the allocator has given back what it can.
[[nodiscard]] double resident_bytes_trimmed();

}  // namespace stoker::bench
