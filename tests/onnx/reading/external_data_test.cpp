// Tensors in files beside the model.
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "message.hpp"
#include "stoker/api/onnx/core/known.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/pipeline/onnx/graph/file_bytes.hpp"

namespace stoker::onnx {
namespace {

namespace fs = std::filesystem;
using Entries = std::vector<std::pair<std::string, std::string>>;

Message external(std::string_view name, const Entries& entries, std::int64_t count = 2) {
  Message tensor = empty_tensor(name, ElementType::f32, {count}).integer(14, 1);
  for (const auto& [key, value] : entries)
    tensor.message(13, Message{}.text(1, key).text(2, value));
  return tensor;
}

/// Of the pages that are mapped from files, in KiB, as Linux counts them for this process.
std::int64_t resident_of_files() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;)
    if (std::int64_t size = 0; word == "RssFile:" && status >> size) return size;
  return 0;
}

class OnnxExternalData : public testing::Test {
 protected:
  OnnxExternalData() {
    fs::create_directories(folder_ / "inner");
    write(folder_ / "w.bin", raw<float>({1, 2, 3, 4}));
    write(folder_ / "inner/v.bin", raw<float>({5, 6}));
    write(root_ / "secret.bin", raw<float>({7, 8}));
  }
  ~OnnxExternalData() override { fs::remove_all(root_); }

  static void write(const fs::path& path, std::string_view content) {
    std::ofstream{path, std::ios::binary} << content;
  }
  [[nodiscard]] Result<ModelFile> load(const std::vector<Message>& tensors) const {
    write(folder_ / "m.onnx", model(graph({}, {}, {}, tensors)).bytes());
    return read_model(folder_ / "m.onnx");
  }
  void expect_refused(const Entries& entries, std::string_view why, std::int64_t count = 2) const {
    const Result<ModelFile> loaded = load({external("w", entries, count)});
    ASSERT_FALSE(loaded) << why;
    EXPECT_EQ(loaded.error().code(), ErrorCode::invalid_argument);
    EXPECT_NE(loaded.error().reason().find(why), std::string::npos) << loaded.error().what();
  }

  const fs::path root_ = fs::path{testing::TempDir()} / ("onnx" + std::to_string(::getpid()));
  const fs::path folder_ = root_ / "models";
};

TEST_F(OnnxExternalData, leaves_no_pages_of_the_file_behind_when_it_was_copied) {
  constexpr std::size_t count = std::size_t{8} << 20;
  write(folder_ / "large.bin", std::string(count * sizeof(float), 'x'));
  const ModelFile loaded = load({external("large", {{"location", "large.bin"}}, count)}).value();
  const SharedBytes& bytes = loaded.graph.initializers.at(0).tensor.bytes;
  const files::ByteSource* const file = file_of(bytes);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file_of(SharedBytes::own({})), nullptr);
  std::vector<std::byte> copy(bytes.view.size());
  const std::int64_t before = resident_of_files();
  copy_and_forget(bytes, *file, copy);
  EXPECT_LT(resident_of_files() - before, 8 << 10) << "of 32 MiB";
  EXPECT_TRUE(std::ranges::equal(copy, bytes.view)) << "read from the file again";
}

TEST_F(OnnxExternalData, goes_to_every_device_in_pieces_of_which_no_pages_stay) {
  std::vector<float> numbers((std::size_t{9} << 20) + 3);  // two pieces and a part of one
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 9973);
  write(folder_ / "large.bin", raw<float>(numbers));
  const auto count = static_cast<std::int64_t>(numbers.size());
  const System system;
  for (const char* name : {"cpu", "vulkan"}) {
    const ModelFile loaded = load({external("w", {{"location", "large.bin"}}, count)}).value();
    const Known weights{loaded.graph.initializers.at(0).tensor};
    const DeviceScope scope{system.device(name)};
    iota({4}, DType::f32)
        .eval()
        .computed()
        .get();  // the device's libraries are pages of files, too
    const std::int64_t before = resident_of_files();
    const Tensor copy = weights.tensor();
    EXPECT_LT(resident_of_files() - before, 16 << 10) << "of 36 MiB, " << name;
    EXPECT_EQ(copy.to_vector<float>(), numbers) << name;
  }
}

TEST_F(OnnxExternalData, lies_by_offset_and_length_in_files_that_are_mapped_once) {
  const ModelFile loaded =
      load({external("a", {{"location", "w.bin"}}),
            external("b", {{"location", "w.bin"}, {"offset", "8"}, {"length", "8"}}),
            external("c", {{"location", "inner/v.bin"}, {"checksum", "unused"}}),
            external("none", {{"location", "w.bin"}, {"offset", "16"}}, 0)})
          .value();
  const auto values = [&](const char* name) {
    return values_of<float>(loaded.graph.initializer(name)->tensor);
  };
  EXPECT_EQ(values("a"), (std::vector<float>{1, 2}));
  EXPECT_EQ(values("b"), (std::vector<float>{3, 4}));
  EXPECT_EQ(values("c"), (std::vector<float>{5, 6}));
  EXPECT_EQ(values("none"), std::vector<float>{});
  EXPECT_EQ(loaded.files.size(), 3U);
}

TEST_F(OnnxExternalData, takes_one_map_of_each_file_and_no_descriptor) {
  const auto descriptors = [] {
    const fs::directory_iterator open{"/proc/self/fd"};
    return std::distance(fs::begin(open), fs::end(open));
  };
  fs::create_symlink("w.bin", folder_ / "again.bin");
  const auto before = descriptors();
  const ModelFile loaded =
      load({external("a", {{"location", "w.bin"}}), external("b", {{"location", "./w.bin"}}),
            external("c", {{"location", ".//./w.bin"}}),
            external("d", {{"location", "again.bin"}})})
          .value();
  EXPECT_EQ(loaded.files.size(), 2U);
  EXPECT_EQ(descriptors(), before) << "a model may lie in more files than a process may open";
}

TEST_F(OnnxExternalData, never_leaves_the_models_folder) {
  expect_refused({{"location", "../secret.bin"}}, "not a path below");
  expect_refused({{"location", "inner/../../secret.bin"}}, "not a path below");
  expect_refused({{"location", (root_ / "secret.bin").string()}}, "not a path below");
  expect_refused({{"location", ""}}, "not a path below");
  expect_refused({{"location", std::string{"w.bin\0", 6}}}, "not a path below");
  fs::create_symlink(root_ / "secret.bin", folder_ / "link.bin");
  fs::create_directory_symlink(root_, folder_ / "up");
  expect_refused({{"location", "link.bin"}}, "leads out of");
  expect_refused({{"location", "up/secret.bin"}}, "leads out of");
}

TEST_F(OnnxExternalData, may_be_a_link_that_stays) {
  fs::create_symlink("w.bin", folder_ / "same.bin");
  EXPECT_TRUE(load({external("a", {{"location", "same.bin"}})}));
  // A cache keeps files elsewhere and links to them, to the model and to its data alike.
  fs::create_directories(root_ / "blobs");
  fs::create_directories(root_ / "snapshot");
  write(root_ / "blobs/1",
        model(graph({}, {}, {}, {external("a", {{"location", "w.bin"}})})).bytes());
  write(root_ / "blobs/2", raw<float>({1, 2}));
  fs::create_symlink("../blobs/1", root_ / "snapshot/m.onnx");
  fs::create_symlink("../blobs/2", root_ / "snapshot/w.bin");
  EXPECT_TRUE(read_model(root_ / "snapshot/m.onnx"));
}

TEST_F(OnnxExternalData, is_refused_where_it_does_not_fit) {
  expect_refused({{"location", "missing.bin"}}, "No such file");
  expect_refused({{"location", "inner"}}, "tensor 'w': external data 'inner': not a regular file");
  expect_refused({{"location", "w.bin"}, {"offset", "12"}}, "ends at byte 16");
  expect_refused({{"location", "w.bin"}, {"offset", "18446744073709551615"}}, "ends at byte 16");
  expect_refused({{"location", "w.bin"}}, "ends at byte 16", std::int64_t{1} << 50U);
  expect_refused({{"location", "w.bin"}, {"length", "4"}}, "needs 8 bytes, has 4");
  expect_refused({{"location", "w.bin"}, {"offset", "-1"}}, "expected a number");
  expect_refused({{"location", "w.bin"}, {"length", "8x"}}, "expected a number");
  expect_refused({{"offset", "0"}}, "without a location");
}

TEST_F(OnnxExternalData, of_a_model_in_memory_needs_a_folder) {
  const Message file = model(graph({}, {}, {}, {external("a", {{"location", "w.bin"}})}));
  EXPECT_NE(refusal(file).find("has no folder"), std::string::npos);
  EXPECT_TRUE(read(file, {.folder = folder_}));
}

}  // namespace
}  // namespace stoker::onnx
