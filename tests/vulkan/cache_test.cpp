// Compiled pipelines survive the process; damaged caches do no harm.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "fixture.hpp"
#include "stoker/device/vulkan/pipelines/cache_file.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::device::vulkan::testing {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "stoker-cache-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

std::vector<std::byte> some_bytes() {
  std::vector<std::byte> bytes(1000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31);
  return bytes;
}

std::string text_of(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream{file, std::ios::binary} << text;
}

TEST(CacheFile, gives_back_what_was_written) {
  const Folder folder;
  const fs::path file = folder.path / "deep" / "er" / "a.cache";
  ASSERT_TRUE(write_cache_file(file, some_bytes()));
  EXPECT_EQ(read_cache_file(file), some_bytes());
}

TEST(CacheFile, replaces_the_file_and_leaves_no_draft) {
  const Folder folder;
  const fs::path file = folder.path / "a.cache";
  ASSERT_TRUE(write_cache_file(file, some_bytes()));
  ASSERT_TRUE(write_cache_file(file, std::vector<std::byte>(3)));
  EXPECT_EQ(read_cache_file(file).size(), 3U);
  EXPECT_EQ(std::distance(fs::directory_iterator{folder.path}, {}), 1);
}

TEST(CacheFile, is_whole_when_threads_write_it_at_once) {
  const Folder folder;
  const fs::path file = folder.path / "a.cache";
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 4; ++i)
      writers.emplace_back([&] {
        for (int j = 0; j < 50; ++j) EXPECT_TRUE(write_cache_file(file, some_bytes()));
      });
  }
  EXPECT_EQ(read_cache_file(file), some_bytes());
  EXPECT_EQ(std::distance(fs::directory_iterator{folder.path}, {}), 1);  // no drafts left
}

TEST(CacheFile, a_missing_file_is_empty) {
  EXPECT_TRUE(read_cache_file("/nowhere/at/all").empty());
}

TEST(CacheFile, any_changed_or_missing_byte_empties_it) {
  const Folder folder;
  const fs::path file = folder.path / "a.cache";
  ASSERT_TRUE(write_cache_file(file, some_bytes()));
  const std::string good = text_of(file);
  for (const std::size_t at : {std::size_t{0}, std::size_t{8}, std::size_t{16}, std::size_t{24},
                               std::size_t{40}, good.size() - 1}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    write_text(file, bad);
    EXPECT_TRUE(read_cache_file(file).empty()) << "byte " << at;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, good.size() - 1}) {
    write_text(file, good.substr(0, size));
    EXPECT_TRUE(read_cache_file(file).empty()) << "size " << size;
  }
}

TEST(CacheFile, a_folder_that_cannot_be_made_is_an_error) {
  const Folder folder;
  write_text(folder.path / "file", "x");
  const auto refused = write_cache_file(folder.path / "file" / "a.cache", some_bytes());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::io_error);
}

/// What the faked driver does with its pipeline cache: it remembers that it compiled something.
struct FakeCache {
  static inline PFN_vkCreatePipelineCache create = nullptr;
  static inline PFN_vkCreateComputePipelines compile = nullptr;
  static inline PFN_vkGetPipelineCacheData get_data = nullptr;
  static inline VkPhysicalDeviceProperties properties{};
  static inline bool warm = false;

  static void install(VulkanApi& api) {
    if (api.vkGetPhysicalDeviceProperties2 && !get_properties)
      get_properties = api.vkGetPhysicalDeviceProperties2;
    if (api.vkGetPhysicalDeviceProperties2) api.vkGetPhysicalDeviceProperties2 = on_properties;
    if (api.vkCreatePipelineCache && api.vkCreatePipelineCache != on_create)
      create = std::exchange(api.vkCreatePipelineCache, on_create);
    if (api.vkCreateComputePipelines && api.vkCreateComputePipelines != on_compile)
      compile = std::exchange(api.vkCreateComputePipelines, on_compile);
    if (api.vkGetPipelineCacheData && api.vkGetPipelineCacheData != on_data)
      get_data = std::exchange(api.vkGetPipelineCacheData, on_data);
  }

 private:
  static inline PFN_vkGetPhysicalDeviceProperties2 get_properties = nullptr;
  static void VKAPI_CALL on_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* out) {
    get_properties(device, out);
    properties = out->properties;
  }
  static VkResult VKAPI_CALL on_create(VkDevice device, const VkPipelineCacheCreateInfo* info,
                                       const VkAllocationCallbacks* allocator,
                                       VkPipelineCache* out) {
    warm = info->initialDataSize > 0;
    VkPipelineCacheCreateInfo empty = *info;
    empty.initialDataSize = 0;
    return create(device, &empty, allocator, out);
  }
  static VkPipelineCreationFeedbackFlags flags() {
    VkPipelineCreationFeedbackFlags flags = VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT;
    if (warm) flags |= VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
    return flags;
  }
  static VkResult VKAPI_CALL on_compile(VkDevice device, VkPipelineCache cache, std::uint32_t count,
                                        const VkComputePipelineCreateInfo* infos,
                                        const VkAllocationCallbacks* allocator, VkPipeline* out) {
    const VkResult result = compile(device, cache, count, infos, allocator, out);
    for (auto* each = static_cast<const VkBaseInStructure*>(infos->pNext); each; each = each->pNext)
      if (each->sType == VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO)
        reinterpret_cast<const VkPipelineCreationFeedbackCreateInfo*>(each)
            ->pPipelineCreationFeedback->flags = flags();
    return result;
  }
  static VkResult VKAPI_CALL on_data(VkDevice, VkPipelineCache, std::size_t* size, void* out) {
    VkPipelineCacheHeaderVersionOne header{};
    header.headerSize = sizeof header;
    header.headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE;
    header.vendorID = properties.vendorID;
    header.deviceID = properties.deviceID;
    std::memcpy(header.pipelineCacheUUID, properties.pipelineCacheUUID, VK_UUID_SIZE);
    if (out) std::memcpy(out, &header, sizeof header);
    *size = sizeof header;
    return VK_SUCCESS;
  }
};

class PipelineCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (make_driver()->devices().empty()) GTEST_SKIP() << "no Vulkan device here";
  }
  /// Opens a device with this cache folder, prepares a kernel, closes it.
  BackendCounters use_once() { return use_once(folder_.path); }
  static BackendCounters use_once(const fs::path& folder) {
    OpenOptions options;
    options.cache_dir = folder.string();
    std::string why;
    auto device = OpenDevice::open(why, options, {default_library_names(), FakeCache::install});
    EXPECT_TRUE(device) << why;
    EXPECT_TRUE(device->prepare(affine_kernel(), 100));
    return device->backend().counters();
  }
  Folder folder_;
};

TEST_F(PipelineCacheTest, a_second_opening_compiles_nothing) {
  const BackendCounters first = use_once();
  EXPECT_EQ(first.pipelines_created, 1U);
  EXPECT_EQ(first.pipelines_from_cache, 0U);
  const BackendCounters second = use_once();
  EXPECT_EQ(second.pipelines_created, 1U);
  EXPECT_EQ(second.pipelines_from_cache, 1U);
}

TEST_F(PipelineCacheTest, a_damaged_file_is_ignored_and_replaced) {
  use_once();
  const fs::path file = fs::directory_iterator { folder_.path } -> path();
  const std::string good = text_of(file);
  write_text(file, good.substr(0, good.size() - 4) + "oops");
  EXPECT_EQ(use_once().pipelines_from_cache, 0U);
  EXPECT_EQ(text_of(file), good);
}

TEST_F(PipelineCacheTest, a_folder_that_cannot_be_written_is_told_once) {
  write_text(folder_.path / "file", "x");
  const LogCapture log{LogLevel::warn};
  use_once(folder_.path / "file");  // saves when it has compiled, and at its end
  EXPECT_EQ(std::ranges::count_if(log.lines(),
                                  [](const std::string& line) {
                                    return line.find("the pipeline cache was not saved") !=
                                           line.npos;
                                  }),
            1);
}

TEST_F(PipelineCacheTest, data_of_another_device_never_reaches_the_driver) {
  use_once();
  const fs::path file = fs::directory_iterator { folder_.path } -> path();
  std::vector<std::byte> data = read_cache_file(file);
  data[8] ^= std::byte{1};  // the vendor's id
  ASSERT_TRUE(write_cache_file(file, data));
  EXPECT_EQ(use_once().pipelines_from_cache, 0U);
}

}  // namespace
}  // namespace stoker::device::vulkan::testing
