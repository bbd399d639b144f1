#include "stoker/device/cpu/memory_steps.hpp"

#include <algorithm>
#include <cstring>

namespace stoker::device::cpu {
namespace {

// Below this a second thread costs more than it brings.
constexpr std::size_t grain = 256 * 1024;
constexpr double bytes_per_ns = 10;

void fill_range(std::byte* out, std::size_t bytes, const std::array<std::byte, 8>& pattern,
                std::uint8_t pattern_bytes) noexcept {
  const bool uniform = std::all_of(pattern.begin(), pattern.begin() + pattern_bytes,
                                   [&](std::byte b) { return b == pattern[0]; });
  if (uniform) {
    std::memset(out, std::to_integer<int>(pattern[0]), bytes);
    return;
  }
  // Double what is there already: memcpy runs at full speed from a few hundred bytes on.
  std::size_t done = std::min<std::size_t>(pattern_bytes, bytes);
  std::memcpy(out, pattern.data(), done);
  constexpr std::size_t largest = 64 * 1024;
  while (done < bytes) {
    const std::size_t piece = std::min({done, bytes - done, largest});
    std::memcpy(out + done, out, piece);
    done += piece;
  }
}

}  // namespace

std::shared_ptr<const CpuExecutable> copy_executable(std::uint64_t bytes) {
  auto executable = std::make_shared<CpuExecutable>();
  const std::uint32_t slices = slice_count(bytes, grain);
  executable->kernel = "copy";
  executable->plan.cost_ns = 20 + static_cast<double>(bytes) / bytes_per_ns;
  executable->plan.stages.push_back(
      {slices, [=](const CpuArgs& args, std::uint32_t index) {
         const auto [begin, end] = slice_range(bytes, slices, index, 4096);
         if (begin == end) return;  // nothing may come without an address
         std::memcpy(args.out<std::byte>() + begin, args.in<std::byte>(0) + begin, end - begin);
       }});
  return executable;
}

std::shared_ptr<const CpuExecutable> fill_executable(std::uint64_t bytes,
                                                     std::array<std::byte, 8> pattern,
                                                     std::uint8_t pattern_bytes) {
  auto executable = std::make_shared<CpuExecutable>();
  const std::uint32_t slices = slice_count(bytes, grain);
  executable->kernel = "fill";
  executable->plan.cost_ns = 20 + static_cast<double>(bytes) / bytes_per_ns;
  executable->plan.stages.push_back(
      {slices, [=](const CpuArgs& args, std::uint32_t index) {
         const auto [begin, end] = slice_range(bytes, slices, index, 4096);
         fill_range(args.out<std::byte>() + begin, end - begin, pattern, pattern_bytes);
       }});
  return executable;
}

}  // namespace stoker::device::cpu
