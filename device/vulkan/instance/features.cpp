#include "stoker/device/vulkan/instance/features.hpp"

#include <algorithm>

namespace stoker::device::vulkan {
namespace {

struct FeatureRule {
  const char* name;
  bool required;
  VkBool32 (*get)(const FeatureChain&);
  void (*set)(FeatureChain&, VkBool32);
};

#define STOKER_FEATURE(part, name, required)                                                       \
  FeatureRule {                                                                                    \
#name, required,                                                                               \
        [](const FeatureChain&                                                                     \
               chain) { return chain.part.name; }, [](FeatureChain & chain,                        \
                                                      VkBool32 value) { chain.part.name = value; } \
  }

// Required: what the submission model (timeline semaphores) and the shader preamble (buffers passed
// by address, scalar layout) are built on. Everything else widens what kernels can do.
const FeatureRule rules[] = {
    STOKER_FEATURE(v12, timelineSemaphore, true),
    STOKER_FEATURE(v12, bufferDeviceAddress, true),
    STOKER_FEATURE(v12, scalarBlockLayout, true),
    STOKER_FEATURE(v12, hostQueryReset, false),
    STOKER_FEATURE(sync2, synchronization2, false),
    STOKER_FEATURE(maintenance4, maintenance4, false),
    STOKER_FEATURE(core.features, shaderFloat64, false),
    STOKER_FEATURE(core.features, shaderInt64, false),
    STOKER_FEATURE(core.features, shaderInt16, false),
    STOKER_FEATURE(v11, storageBuffer16BitAccess, false),
    STOKER_FEATURE(v12, storageBuffer8BitAccess, false),
    STOKER_FEATURE(v12, shaderFloat16, false),
    STOKER_FEATURE(v12, shaderInt8, false),
    STOKER_FEATURE(v12, shaderBufferInt64Atomics, false),
    STOKER_FEATURE(v12, shaderSubgroupExtendedTypes, false),
    STOKER_FEATURE(v12, vulkanMemoryModel, false),
    STOKER_FEATURE(v12, vulkanMemoryModelDeviceScope, false),
    STOKER_FEATURE(subgroups, computeFullSubgroups, false),
    STOKER_FEATURE(fault, deviceFault, false),
};
#undef STOKER_FEATURE

// SPIR-V specification, section 3.31; features: Vulkan specification, appendix "SPIR-V Environment".
struct CapabilityRule {
  std::uint32_t capability;
  const char* feature;  // null: every device has it
};
constexpr CapabilityRule capability_rules[] = {
    {1, nullptr},                        // Shader
    {9, "shaderFloat16"},                // Float16
    {10, "shaderFloat64"},               // Float64
    {11, "shaderInt64"},                 // Int64
    {12, "shaderBufferInt64Atomics"},    // Int64Atomics
    {22, "shaderInt16"},                 // Int16
    {39, "shaderInt8"},                  // Int8
    {50, nullptr},                       // ImageQuery
    {4433, "storageBuffer16BitAccess"},  // StorageBuffer16BitAccess
    {4448, "storageBuffer8BitAccess"},   // StorageBuffer8BitAccess
    {5345, "vulkanMemoryModel"},
    {5346, "vulkanMemoryModelDeviceScope"},
    {5347, "bufferDeviceAddress"},  // PhysicalStorageBufferAddresses
};

struct SubgroupRule {
  std::uint32_t capability;
  VkSubgroupFeatureFlagBits operation;
  const char* name;
};
constexpr SubgroupRule subgroup_rules[] = {
    {61, VK_SUBGROUP_FEATURE_BASIC_BIT, "subgroup basic"},
    {62, VK_SUBGROUP_FEATURE_VOTE_BIT, "subgroup vote"},
    {63, VK_SUBGROUP_FEATURE_ARITHMETIC_BIT, "subgroup arithmetic"},
    {64, VK_SUBGROUP_FEATURE_BALLOT_BIT, "subgroup ballot"},
    {65, VK_SUBGROUP_FEATURE_SHUFFLE_BIT, "subgroup shuffle"},
    {66, VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT, "subgroup shuffle relative"},
    {67, VK_SUBGROUP_FEATURE_CLUSTERED_BIT, "subgroup clustered"},
    {68, VK_SUBGROUP_FEATURE_QUAD_BIT, "subgroup quad"},
};

constexpr WantedExtension extensions_in_use[] = {
    {VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME, VK_API_VERSION_1_3},
    {VK_KHR_MAINTENANCE_4_EXTENSION_NAME, VK_API_VERSION_1_3},
    {VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME, VK_API_VERSION_1_3},
    {VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, VK_API_VERSION_1_3},
    {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, 0},
    {VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME, 0},
    {VK_EXT_DEVICE_FAULT_EXTENSION_NAME, 0},
    {"VK_KHR_portability_subset", 0},  // must be asked for where it is there
};

std::string missing_capability(std::uint32_t capability, const ShaderSupport& support) {
  for (const CapabilityRule& rule : capability_rules) {
    if (rule.capability != capability) continue;
    const bool there = !rule.feature ||
                       std::ranges::find(support.features, rule.feature) != support.features.end();
    return there ? std::string{} : std::string{rule.feature};
  }
  for (const SubgroupRule& rule : subgroup_rules)
    if (rule.capability == capability)
      return (support.subgroup_operations & static_cast<VkSubgroupFeatureFlags>(rule.operation))
                 ? std::string{}
                 : std::string{rule.name};
  return "capability " + std::to_string(capability);
}

}  // namespace

std::span<const WantedExtension> wanted_extensions() noexcept { return extensions_in_use; }

void FeatureChain::link(std::uint32_t api_version, std::span<const std::string> extensions) {
  const auto has = [&](const char* name) {
    return std::ranges::find(extensions, name) != extensions.end();
  };
  void** tail = &core.pNext;
  const auto append = [&](auto& part) {
    *tail = &part;
    tail = &part.pNext;
    *tail = nullptr;
  };
  append(v11);
  append(v12);
  if (api_version >= VK_API_VERSION_1_3 || has(VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME))
    append(sync2);
  if (api_version >= VK_API_VERSION_1_3 || has(VK_KHR_MAINTENANCE_4_EXTENSION_NAME))
    append(maintenance4);
  if (api_version >= VK_API_VERSION_1_3 || has(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME))
    append(subgroups);
  if (has(VK_EXT_DEVICE_FAULT_EXTENSION_NAME)) append(fault);
}

void FeatureChain::take_wanted(const FeatureChain& supported) {
  for (const FeatureRule& rule : rules) rule.set(*this, rule.get(supported));
}

const char* FeatureChain::missing() const noexcept {
  for (const FeatureRule& rule : rules)
    if (rule.required && !rule.get(*this)) return rule.name;
  return nullptr;
}

std::vector<std::string> FeatureChain::names() const {
  std::vector<std::string> on;
  for (const FeatureRule& rule : rules)
    if (rule.get(*this)) on.emplace_back(rule.name);
  return on;
}

std::string missing_for(std::span<const std::uint32_t> spirv, const ShaderSupport& support) {
  constexpr std::uint32_t magic = 0x07230203;
  constexpr std::uint32_t op_capability = 17;
  constexpr std::size_t header_words = 5;
  if (spirv.size() < header_words || spirv[0] != magic) return "valid SPIR-V";
  // A module begins with its capabilities, one instruction of two words each.
  for (std::size_t at = header_words;
       at + 1 < spirv.size() && (spirv[at] & 0xffffU) == op_capability; at += 2)
    if (std::string missing = missing_capability(spirv[at + 1], support); !missing.empty())
      return missing;
  return {};
}

}  // namespace stoker::device::vulkan
