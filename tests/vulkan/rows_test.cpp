// softmax and layer_norm along rows of every kind of length, on a device whose threads exchange
// values within subgroups and on one whose threads cannot.
#include <cmath>
#include <limits>
#include <utility>

#include "fixture.hpp"

namespace stoker::device::vulkan::testing {
namespace {

/// Shows the driver without the promise of full subgroups.
struct Unpromising {
  static inline bool on = false;
  static DriverOptions driver() { return {default_library_names(), install}; }

 private:
  static inline PFN_vkGetPhysicalDeviceFeatures2 features = nullptr;
  static void install(VulkanApi& api) {
    if (api.vkGetPhysicalDeviceFeatures2 && api.vkGetPhysicalDeviceFeatures2 != on_features)
      features = std::exchange(api.vkGetPhysicalDeviceFeatures2, on_features);
  }
  static void VKAPI_CALL on_features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* out) {
    features(device, out);
    for (auto* each = static_cast<VkBaseOutStructure*>(out->pNext); on && each; each = each->pNext)
      if (each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES)
        reinterpret_cast<VkPhysicalDeviceSubgroupSizeControlFeatures*>(each)->computeFullSubgroups =
            VK_FALSE;
  }
};

class RowsTest : public VulkanTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    Unpromising::on = !GetParam();
    VulkanTest::SetUp();
  }
  void TearDown() override {
    VulkanTest::TearDown();
    Unpromising::on = false;
  }
  [[nodiscard]] DriverOptions driver_options() const override { return Unpromising::driver(); }

  /// The kernel along the last axis of `rows` rows.
  std::vector<float> run(const char* name, const std::vector<float>& x, std::size_t rows) {
    const auto kernel = KernelRegistry::builtin().find(name).value();
    const auto extent = [](std::size_t n) { return static_cast<std::int64_t>(n); };
    const TensorSpec spec{DType::f32, Shape{extent(rows), extent(x.size() / rows)}};
    const ParamSet params = ParamSet::resolve(name, kernel->params, {}).value();
    const auto executable =
        device_->backend().prepare(kernel, {{&spec, 1}, params}, {&spec, 1}).value();
    const auto from = device_->filled<float>(x);
    const auto to = device_->backend().allocate(spec.bytes(), MemoryKind::readback).value();
    device_->run(std::vector{dispatch_step(executable, whole(from), whole(to))});
    return values_of<float>(to);
  }
};

float noise(std::size_t i) {
  return static_cast<float>((i * 2654435761U >> 7U) % 20'001U) / 2000 - 5;
}

std::vector<double> softmax(const float* x, std::size_t length) {
  double m = -HUGE_VAL;
  double sum = 0;
  std::vector<double> y(length);
  for (std::size_t i = 0; i < length; ++i) m = std::max(m, static_cast<double>(x[i]));
  for (std::size_t i = 0; i < length; ++i) sum += y[i] = std::exp(x[i] - m);
  for (double& value : y) value /= sum;
  return y;
}

std::vector<double> layer_norm(const float* x, std::size_t length) {
  const auto n = static_cast<double>(length);
  double mean = 0;
  double variance = 0;
  std::vector<double> y(length);
  for (std::size_t i = 0; i < length; ++i) mean += x[i] / n;
  for (std::size_t i = 0; i < length; ++i) variance += (x[i] - mean) * (x[i] - mean) / n;
  for (std::size_t i = 0; i < length; ++i) y[i] = (x[i] - mean) / std::sqrt(variance + 1e-5);
  return y;
}

TEST_P(RowsTest, of_any_length_agree_with_the_reference) {
  constexpr std::size_t rows = 5;
  for (const std::size_t length : {1U, 3U, 4U, 20U, 31U, 64U, 127U, 128U, 130U, 516U, 1000U, 1001U,
                                   2048U, 4100U, 8191U, 16384U, 16388U, 40'001U}) {
    SCOPED_TRACE(length);
    std::vector<float> x(rows * length);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = noise(i);
    const auto soft = run("softmax", x, rows);
    const auto normal = run("layer_norm", x, rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto soft_reference = softmax(&x[row * length], length);
      const auto normal_reference = layer_norm(&x[row * length], length);
      for (std::size_t i = 0; i < length; ++i) {
        ASSERT_NEAR(soft[row * length + i], soft_reference[i], 2e-5 * soft_reference[i] + 1e-30);
        // A row of a few elements may be as narrow as chance has it.
        ASSERT_NEAR(normal[row * length + i], normal_reference[i], 1e-4);
      }
    }
  }
}

TEST_P(RowsTest, a_nan_anywhere_is_seen_by_its_whole_row_and_no_other) {
  for (const std::size_t length : {7U, 300U, 5000U, 20'000U})
    for (const std::size_t at : {std::size_t{0}, length / 2, length - 1}) {
      SCOPED_TRACE(std::to_string(length) + " " + std::to_string(at));
      std::vector<float> x(3 * length);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = noise(i);
      x[length + at] = std::numeric_limits<float>::quiet_NaN();
      for (const char* kernel : {"softmax", "layer_norm"}) {
        const auto y = run(kernel, x, 3);
        for (std::size_t i = 0; i < y.size(); ++i)
          ASSERT_EQ(std::isnan(y[i]), i / length == 1) << kernel << " " << i;
      }
    }
}

TEST_P(RowsTest, what_a_mask_sets_to_minus_infinity_has_no_share) {
  constexpr std::size_t length = 5000;
  std::vector<float> x(length, -std::numeric_limits<float>::infinity());
  for (std::size_t i = 4990; i < length; ++i) x[i] = noise(i);
  const auto y = run("softmax", x, 1);
  const auto reference = softmax(x.data(), length);
  for (std::size_t i = 0; i < length; ++i) ASSERT_NEAR(y[i], reference[i], 1e-5) << i;
}

INSTANTIATE_TEST_SUITE_P(Subgroups, RowsTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "shuffling" : "plain"; });

}  // namespace
}  // namespace stoker::device::vulkan::testing
