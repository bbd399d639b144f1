#include "stoker/api/onnx/run/shared_tensors.hpp"

#include <algorithm>

#include "stoker/pipeline/onnx/graph/file_bytes.hpp"

namespace stoker::onnx {
namespace {

/// An entry of the table costs some hundred bytes.
constexpr std::size_t least_bytes = 4096;

/// Empty if it has no place in a file.
std::string place_of(const TensorData& data) {
  const files::ByteSource* const file = file_of(data.bytes);
  if (file == nullptr || data.bytes.view.size() < least_bytes) return {};
  std::string identity = file->identity();
  if (identity.empty()) return {};
  return std::move(identity) + '@' + std::to_string(data.bytes.view.data() - file->view().data()) +
         '+' + std::to_string(data.bytes.view.size()) + data.to_string();
}

}  // namespace

std::shared_ptr<const Known> SharedTensors::of(const TensorData& data) {
  auto made = std::make_shared<const Known>(data);
  std::string place = place_of(data);
  if (place.empty()) return made;
  const std::scoped_lock lock{mutex_};
  if (known_.size() >= most_) {
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    most_ = std::max<std::size_t>(256, 2 * known_.size());
  }
  std::weak_ptr<const Known>& kept = known_[std::move(place)];
  if (auto known = kept.lock()) return known;
  kept = made;
  return made;
}

}  // namespace stoker::onnx
