// How many threads can really run at once in this process.
#pragma once

namespace stoker {

/// The cores this process may use, at least 1: those of its main thread's affinity (taskset, cpuset),
/// and no more than its control group has time for (`docker --cpus`), rounded up. The affinity of the
/// calling thread says nothing: a server may pin its loops. The C++ library's hardware_concurrency()
/// asks for neither. Reads a file each time; any thread.
[[nodiscard]] unsigned usable_cores() noexcept;

}  // namespace stoker
