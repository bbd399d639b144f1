// Random sequences of commands over few buffers end as if they had run one by one, whatever the
// device overlaps.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "stoker/api/stoker.hpp"

namespace stoker {
namespace {

constexpr std::size_t buffer_count = 6;
constexpr std::int64_t elements = 257;

/// The same integer arithmetic on the host.
struct Model {
  std::vector<std::vector<std::int32_t>> values;

  void apply(std::string_view kernel, std::size_t a, std::size_t b, std::size_t out) {
    std::vector<std::int32_t> result(elements);
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto x = static_cast<std::uint32_t>(values[a][i]);
      const auto y = static_cast<std::uint32_t>(values[b][i]);
      const std::uint32_t sum = kernel == "add" ? x + y : x - y;
      result[i] = static_cast<std::int32_t>(sum);
    }
    values[out] = std::move(result);
  }
};

class Hazards : public testing::TestWithParam<std::tuple<const char*, unsigned>> {};

TEST_P(Hazards, order_commands_as_if_they_ran_one_by_one) {
  const auto [name, seed] = GetParam();
  const System system;
  const Device device = system.device(name);
  std::mt19937 random{seed};
  const auto pick = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>{0, count - 1}(random);
  };

  Model model;
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < buffer_count; ++i) {
    std::vector<std::int32_t> start(elements);
    for (std::size_t k = 0; k < start.size(); ++k)
      start[k] = static_cast<std::int32_t>(i * 1000 + k);
    buffers.push_back(device.buffer(start));
    model.values.push_back(std::move(start));
  }
  std::vector<std::pair<Future<std::vector<std::int32_t>>, std::vector<std::int32_t>>> reads;
  for (int step = 0; step < 120; ++step) {
    const std::size_t a = pick(buffer_count);
    const std::size_t b = pick(buffer_count);
    const std::size_t out = pick(buffer_count);
    switch (pick(6)) {
      case 0: {
        const auto value = static_cast<std::int32_t>(pick(100));
        buffers[out].fill(value);
        model.values[out].assign(elements, value);
        break;
      }
      case 1:
        if (a == out) break;
        buffers[a].copy_to(buffers[out]);
        model.values[out] = model.values[a];
        break;
      case 2: {
        const std::vector<std::int32_t> part{1, 2, 3, static_cast<std::int32_t>(step)};
        const std::size_t at = pick(elements - 4);
        buffers[out].write(part, at);
        std::ranges::copy(part, model.values[out].begin() + static_cast<std::ptrdiff_t>(at));
        break;
      }
      case 3: reads.emplace_back(buffers[a].read<std::int32_t>(), model.values[a]); break;
      default: {
        if (out == a || out == b) break;
        const char* kernel = pick(2) ? "add" : "subtract";
        device.submit(kernel, {buffers[a], buffers[b]}, buffers[out]);
        model.apply(kernel, a, b, out);
      }
    }
  }
  for (std::size_t i = 0; i < buffer_count; ++i)
    EXPECT_EQ(buffers[i].read<std::int32_t>().get(), model.values[i]) << i;
  for (const auto& [got, want] : reads) EXPECT_EQ(got.get(), want);
}

INSTANTIATE_TEST_SUITE_P(Devices, Hazards,
                         testing::Combine(testing::Values("cpu", "vulkan"), testing::Range(1U, 9U)),
                         [](const auto& info) {
                           return std::string{std::get<0>(info.param)} + "_" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace stoker
