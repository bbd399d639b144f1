#include "stoker/api/train/loop/training_file.hpp"

#include <charconv>

#include "stoker/api/tensor/io/safetensors.hpp"

namespace stoker::nn {
namespace {

constexpr const char* epoch_key = "epoch";
constexpr const char* callbacks_key = "callbacks";

}  // namespace

void save_training(const Model& model, std::int64_t epoch, std::span<const Callback> callbacks,
                   const std::filesystem::path& path) {
  model.save(path, {{epoch_key, std::to_string(epoch)}, {callbacks_key, seen_by(callbacks)}});
}

std::int64_t recall_training(const std::filesystem::path& path,
                             std::span<const Callback> callbacks) {
  const TensorMetadata metadata = open_safetensors(path).metadata();
  const auto epoch_text = metadata.find(epoch_key);
  std::int64_t epoch = 0;
  const std::string text = epoch_text == metadata.end() ? "" : epoch_text->second;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), epoch);
  if (failure != std::errc{} || end != text.data() + text.size() || epoch < 0)
    throw Error{"train",
                ErrorCode::invalid_argument,
                path.string() + " does not say how many epochs it was trained",
                {{"file", path.string()}}};
  // Files of before callbacks had a memory say nothing of it.
  if (const auto seen = metadata.find(callbacks_key); seen != metadata.end())
    recall(callbacks, seen->second);
  return epoch;
}

}  // namespace stoker::nn
