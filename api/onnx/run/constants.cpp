#include "stoker/api/onnx/run/constants.hpp"

#include <algorithm>
#include <unordered_set>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/onnx/run/shared_tensors.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::onnx {
namespace {

bool is_lost(const Value& value) {
  bool lost = false;
  value.visit_cells([&](const std::shared_ptr<Value::Cell>& cell) {
    if (cell->tensor.evaluated()) lost |= cell->tensor.value().buffer().device()->is_lost();
  });
  return lost;
}

}  // namespace

Value Constants::of(const TensorData& data) {
  const std::scoped_lock lock{mutex_};
  const auto found = values_.find(&data);
  if (found != values_.end()) return found->second;
  Value made;
  if (data.type == ElementType::string) {
    made = Texts{Shape::make(data.dims, "onnx"), data.strings};
  } else {
    const auto table = current_device().client()->services().get<SharedTensors>();
    made = *shared_.emplace_back(table->of(data));
  }
  return values_.emplace(&data, made.as_constant(true)).first->second;
}

std::optional<Values> Constants::folded(const Node& node) {
  const std::scoped_lock lock{mutex_};
  const auto found = folded_.find(&node);
  if (found == folded_.end()) return {};
  if (std::ranges::any_of(found->second,
                          &is_lost)) {  // computed again, on the device as it is open now
    folded_.erase(found);
    return {};
  }
  return found->second;
}

Values Constants::keep(const Node& node, Values results) {
  const std::scoped_lock lock{mutex_};
  const auto [kept, is_first] = folded_.try_emplace(&node);
  if (is_first || std::ranges::any_of(kept->second, &is_lost)) kept->second = std::move(results);
  return kept->second;
}

Tensor Constants::prepared(const Node& node, std::size_t part,
                           const std::function<Tensor()>& make) {
  const std::pair key{&node, part};
  {
    const std::scoped_lock lock{mutex_};
    if (const auto found = prepared_.find(key); found != prepared_.end() && !is_lost(found->second))
      return found->second.tensor();
  }
  const Value made{make().eval()};
  const std::scoped_lock lock{mutex_};
  Value& kept = prepared_[key];
  if (!kept.is_given() || is_lost(kept)) kept = made;  // another thread's, if that was first
  return kept.tensor();
}

std::uint64_t Constants::device_bytes() const {
  std::unordered_set<const void*> seen;
  std::uint64_t bytes = 0;
  const auto add = [&](const Tensor& tensor) {
    if (!tensor.has_value() || !tensor.evaluated()) return;
    const DeviceBuffer buffer = tensor.value().buffer();
    if (!buffer.device()->is_lost() && seen.insert(buffer.cell().get()).second)
      bytes += buffer.spec().bytes();
  };
  const auto add_all = [&](const Value& value) {
    if (value.is_known()) add(value.known().copy());
    value.visit_cells([&](const std::shared_ptr<Value::Cell>& cell) { add(cell->tensor); });
  };
  const std::scoped_lock lock{mutex_};
  for (const auto& [data, value] : values_) add_all(value);
  for (const auto& [node, results] : folded_) std::ranges::for_each(results, add_all);
  for (const auto& [key, made] : prepared_) add_all(made);
  return bytes;
}

}  // namespace stoker::onnx
