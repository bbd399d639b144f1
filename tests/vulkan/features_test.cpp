// Drivers that lack things: what is asked of them is what they have, and what cannot run says why.
#include <algorithm>
#include <utility>

#include "fixture.hpp"
#include "stoker/device/vulkan/instance/features.hpp"

namespace stoker::device::vulkan::testing {
namespace {

/// A driver with parts hidden, and a look at what the device was created with.
struct Hidden {
  static inline std::vector<std::string> extensions;
  static inline void (*features)(VkPhysicalDeviceFeatures2&) = nullptr;
  static inline std::uint32_t version = 0;  // 0: the driver's own
  static inline std::vector<std::string> asked_for;

  static DriverOptions driver() { return {default_library_names(), install}; }
  static void reset() {
    extensions.clear();
    features = nullptr;
    version = 0;
    asked_for.clear();
  }

  template <class Struct>
  static Struct* find(VkPhysicalDeviceFeatures2& chain, VkStructureType type) {
    for (auto* each = static_cast<VkBaseOutStructure*>(chain.pNext); each; each = each->pNext)
      if (each->sType == type) return reinterpret_cast<Struct*>(each);
    return nullptr;
  }

 private:
  static inline PFN_vkEnumerateDeviceExtensionProperties list = nullptr;
  static inline PFN_vkGetPhysicalDeviceFeatures2 get_features = nullptr;
  static inline PFN_vkGetPhysicalDeviceProperties2 get_properties = nullptr;
  static inline PFN_vkCreateDevice create = nullptr;

  static void install(VulkanApi& api) {
    if (!api.vkEnumerateDeviceExtensionProperties || api.vkCreateDevice == on_create) return;
    list = std::exchange(api.vkEnumerateDeviceExtensionProperties, on_list);
    get_features = std::exchange(api.vkGetPhysicalDeviceFeatures2, on_features);
    get_properties = std::exchange(api.vkGetPhysicalDeviceProperties2, on_properties);
    create = std::exchange(api.vkCreateDevice, on_create);
  }
  static VkResult VKAPI_CALL on_list(VkPhysicalDevice device, const char* layer,
                                     std::uint32_t* count, VkExtensionProperties* out) {
    std::uint32_t all = 0;
    list(device, layer, &all, nullptr);
    std::vector<VkExtensionProperties> listed(all);
    list(device, layer, &all, listed.data());
    std::erase_if(listed, [](const VkExtensionProperties& each) {
      return std::ranges::find(extensions, each.extensionName) != extensions.end();
    });
    *count = static_cast<std::uint32_t>(listed.size());
    if (out) std::ranges::copy(listed, out);
    return VK_SUCCESS;
  }
  static void VKAPI_CALL on_features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* out) {
    get_features(device, out);
    if (features) features(*out);
  }
  static void VKAPI_CALL on_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* out) {
    get_properties(device, out);
    if (version) out->properties.apiVersion = version;
  }
  static VkResult VKAPI_CALL on_create(VkPhysicalDevice device, const VkDeviceCreateInfo* info,
                                       const VkAllocationCallbacks* allocator, VkDevice* out) {
    asked_for.assign(info->ppEnabledExtensionNames,
                     info->ppEnabledExtensionNames + info->enabledExtensionCount);
    return create(device, info, allocator, out);
  }
};

void hide_full_subgroups(VkPhysicalDeviceFeatures2& chain) {
  if (auto* subgroups = Hidden::find<VkPhysicalDeviceSubgroupSizeControlFeatures>(
          chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES))
    subgroups->computeFullSubgroups = VK_FALSE;
}

class HiddenFeatures : public ::testing::Test {
 protected:
  void SetUp() override {
    Hidden::reset();
    if (make_driver()->devices().empty()) GTEST_SKIP() << "no Vulkan device here";
  }
  void TearDown() override { Hidden::reset(); }

  std::unique_ptr<OpenDevice> open(bool validation = true) {
    OpenOptions options;
    options.validation = validation;
    std::string why;
    auto device = OpenDevice::open(why, options, Hidden::driver());
    EXPECT_TRUE(device) << why;
    return device;
  }

  /// A kernel, a copy and a fill in a chain, replayed: everything a device does.
  static void works(OpenDevice& device) {
    const auto x = device.filled<float>(std::vector<float>(100, 0.0F));
    const auto y = device.backend().allocate(400, MemoryKind::readback).value();
    const auto executable = device.prepare(affine_kernel(), 100);
    const std::vector steps{fill_step(whole(x), 4.0F),
                            dispatch_step(executable, whole(x), whole(y), {0}),
                            copy_step(whole(y), whole(x), {1})};
    device.run(steps, true);
    const auto recording = device.backend().record(steps).value();
    Submission replay;
    replay.recording = recording.get();
    const QueuePoint before{QueueKind::compute, 1};
    replay.waits = {&before, 1};
    EXPECT_TRUE(device.wait({QueueKind::compute, device.submit(replay)}));
    EXPECT_EQ(values_of<float>(x), std::vector<float>(100, 9.0F));
    EXPECT_EQ(device.backend().counters().validation_messages, 0U);
  }
};

TEST_F(HiddenFeatures, each_wanted_extension_may_be_absent) {
  for (const WantedExtension& extension : wanted_extensions()) {
    SCOPED_TRACE(extension.name);
    Hidden::reset();
    Hidden::extensions = {extension.name};
    const auto device = open();
    ASSERT_TRUE(device);
    works(*device);
    EXPECT_TRUE(std::ranges::find(Hidden::asked_for, extension.name) == Hidden::asked_for.end());
  }
}

TEST_F(HiddenFeatures, without_synchronization2_the_older_calls_do_the_same) {
  Hidden::features = [](VkPhysicalDeviceFeatures2& chain) {
    if (auto* sync2 = Hidden::find<VkPhysicalDeviceSynchronization2Features>(
            chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES))
      sync2->synchronization2 = VK_FALSE;
  };
  const auto device = open();
  ASSERT_TRUE(device);
  const auto& features = device->backend().info().features;
  EXPECT_TRUE(std::ranges::find(features, "synchronization2") == features.end());
  works(*device);
}

TEST_F(HiddenFeatures, a_device_of_vulkan_1_2_works) {
  Hidden::version = VK_API_VERSION_1_2;
  const auto device = open(false);
  ASSERT_TRUE(device);
  works(*device);
}

TEST_F(HiddenFeatures, a_device_of_vulkan_1_1_is_rejected_by_version) {
  Hidden::version = VK_API_VERSION_1_1;
  const auto driver = make_driver(Hidden::driver());
  EXPECT_TRUE(driver->devices().empty());
  EXPECT_NE(driver->diagnose().back().reason.find("1.2 is needed"), std::string::npos);
}

TEST_F(HiddenFeatures, a_device_without_a_required_feature_is_rejected_by_name) {
  Hidden::features = [](VkPhysicalDeviceFeatures2& chain) {
    Hidden::find<VkPhysicalDeviceVulkan12Features>(
        chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)
        ->bufferDeviceAddress = VK_FALSE;
  };
  const auto driver = make_driver(Hidden::driver());
  EXPECT_TRUE(driver->devices().empty());
  EXPECT_NE(driver->diagnose().back().reason.find("bufferDeviceAddress"), std::string::npos);
}

TEST_F(HiddenFeatures, a_kernel_of_an_absent_dtype_is_refused_by_feature) {
  Hidden::features = [](VkPhysicalDeviceFeatures2& chain) {
    chain.features.shaderFloat64 = VK_FALSE;
  };
  const auto device = open();
  ASSERT_TRUE(device);
  const auto& dtypes = device->backend().info().dtypes;
  EXPECT_TRUE(std::ranges::find(dtypes, DType::f64) == dtypes.end());
  const TensorSpec spec{DType::f64, Shape{4}};
  const ParamSet params;
  const auto refused = device->backend().prepare(
      std::make_shared<const Kernel>(affine_kernel(DType::f64)), {{&spec, 1}, params}, {&spec, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
  EXPECT_EQ(refused.error().detail("feature"), "shaderFloat64");
}

TEST_F(HiddenFeatures, every_dtype_the_device_claims_computes) {
  const auto device = open();
  ASSERT_TRUE(device);
  for (const DType dtype : device->backend().info().dtypes) {
    SCOPED_TRACE(std::string{to_string(dtype)});
    const auto x = device->backend().allocate(64 * size_of(dtype), MemoryKind::readback).value();
    const auto y = device->backend().allocate(64 * size_of(dtype), MemoryKind::readback).value();
    const auto executable = device->prepare(affine_kernel(dtype), 64, dtype);
    ASSERT_TRUE(executable);
    device->run(std::vector{dispatch_step(executable, whole(x), whole(y))});
  }
  EXPECT_EQ(device->backend().counters().validation_messages, 0U);
}

TEST_F(HiddenFeatures, kernels_are_told_whether_threads_can_exchange_values) {
  const auto traits_of = [](OpenDevice& device) {
    GpuTraits seen;
    Kernel kernel = affine_kernel();
    kernel.gpu = [&seen, plan = kernel.gpu](const KernelCall& call,
                                            std::span<const TensorSpec> outputs,
                                            const GpuTraits& traits) {
      seen = traits;
      return plan(call, outputs, traits);
    };
    device.prepare(kernel, 16);
    return seen;
  };
  const auto device = open();
  ASSERT_TRUE(device);
  const auto& features = device->backend().info().features;
  const bool promised = std::ranges::find(features, "computeFullSubgroups") != features.end();
  EXPECT_EQ(traits_of(*device).subgroup_shuffles, promised);
  EXPECT_EQ(traits_of(*device).subgroup_size, device->backend().info().limits.subgroup_size);

  Hidden::features = hide_full_subgroups;
  const auto lesser = open();
  ASSERT_TRUE(lesser);
  EXPECT_FALSE(traits_of(*lesser).subgroup_shuffles);
}

TEST(MissingFor, finds_the_first_capability_that_is_absent) {
  const std::vector<std::uint32_t> spirv{0x07230203, 0x00010500,      0, 10, 0, (2U << 16) | 17,
                                         1,          (2U << 16) | 17, 10};
  EXPECT_EQ(missing_for(spirv, {{}, 0}), "shaderFloat64");
  EXPECT_EQ(missing_for(spirv, {{"shaderFloat64"}, 0}), "");
}

TEST(MissingFor, checks_subgroup_operations) {
  const std::vector<std::uint32_t> spirv{0x07230203, 0x00010500, 0, 10, 0, (2U << 16) | 17, 63};
  EXPECT_EQ(missing_for(spirv, {{}, VK_SUBGROUP_FEATURE_BASIC_BIT}), "subgroup arithmetic");
  EXPECT_EQ(missing_for(spirv, {{}, VK_SUBGROUP_FEATURE_ARITHMETIC_BIT}), "");
}

TEST(MissingFor, names_a_capability_it_does_not_know) {
  const std::vector<std::uint32_t> spirv{0x07230203, 0x00010500, 0, 10, 0, (2U << 16) | 17, 5290};
  EXPECT_EQ(missing_for(spirv, {}), "capability 5290");
}

TEST(MissingFor, refuses_what_is_no_spirv) { EXPECT_EQ(missing_for({}, {}), "valid SPIR-V"); }

}  // namespace
}  // namespace stoker::device::vulkan::testing
