#include "stoker/api/onnx/run/constants.hpp"

#include <algorithm>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/onnx/run/shared_tensors.hpp"
#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/pipeline/tensor/lowering/evaluation.hpp"

namespace stoker::onnx {

Constants::Kept::Kept(Values results) : values{std::move(results)} {
  for (const Value& value : values)
    value.visit_cells([&](const std::shared_ptr<Value::Cell>& cell) {
      if (cell->tensor.evaluated()) written.push_back(cell->tensor.buffer().written());
    });
}

bool Constants::Kept::is_sound() const {
  for (const Value& value : values) {
    bool lost = false;
    value.visit_cells([&](const std::shared_ptr<Value::Cell>& cell) {
      if (cell->tensor.evaluated()) lost |= cell->tensor.value().buffer().device()->is_lost();
    });
    if (lost) return false;
  }
  return std::ranges::none_of(written, [](const Future<>& one) {
    const Result<void>* const outcome = one.poll();
    return outcome && !*outcome;
  });
}

Value Constants::of(const TensorData& data) {
  std::shared_ptr<DeviceClient> client = current_device().client();
  std::unordered_map<const TensorData*, Value> lost;  // goes outside of the lock
  const std::scoped_lock lock{mutex_};
  if (client_.lock() != client) {
    // Opened again. Others may have come first, and its table knows what they read.
    lost.swap(values_);
    shared_.clear();
    client_ = client;
  }
  const auto found = values_.find(&data);
  if (found != values_.end()) return found->second;
  Value made;
  if (data.type == ElementType::string)
    made = Texts{Shape::make(data.dims, "onnx"), data.strings};
  else
    made = *shared_.emplace_back(client->services().get<SharedTensors>()->of(data));
  return values_.emplace(&data, made.as_constant(true)).first->second;
}

std::optional<Values> Constants::folded(const Node& node) {
  const std::scoped_lock lock{mutex_};
  const auto found = folded_.find(&node);
  if (found == folded_.end() || !found->second.is_sound()) return {};
  return found->second.values;
}

Values Constants::keep(const Node& node, Values results) {
  Kept made{std::move(results)};
  const std::scoped_lock lock{mutex_};
  const auto kept = folded_.find(&node);
  if (kept == folded_.end()) return folded_.emplace(&node, std::move(made)).first->second.values;
  if (!kept->second.is_sound()) std::swap(kept->second, made);
  return kept->second.values;  // another thread's, if that was first
}

Tensor Constants::prepared(const Node& node, std::size_t part,
                           const std::function<Tensor()>& make) {
  const std::pair key{&node, part};
  {
    const std::scoped_lock lock{mutex_};
    if (const auto found = prepared_.find(key);
        found != prepared_.end() && found->second.is_sound())
      return found->second.values[0].tensor();
  }
  Kept made{{Value{make().eval()}}};
  const std::scoped_lock lock{mutex_};
  const auto kept = prepared_.find(key);
  if (kept == prepared_.end())
    return prepared_.emplace(key, std::move(made)).first->second.values[0].tensor();
  if (!kept->second.is_sound()) std::swap(kept->second, made);
  return kept->second.values[0].tensor();  // another thread's, if that was first
}

void Constants::compute_for_plan(const Tensor& tensor) {
  if (tensor.evaluated()) return;
  // A node is computed as a whole, so the program that eval() finds has all of its results.
  const std::shared_ptr<expr::Node>& node = tensor.value().node();
  expr::Values values;
  for (std::uint32_t output = 0; output < node->specs().size(); ++output)
    values.emplace_back(node, output);
  const auto program =
      expr::plan_of({values.data(), values.size()}, [] { return current_device().client(); });
  tensor.eval();
  const std::shared_ptr<DeviceClient> client = tensor.value().buffer().device();
  client->services().get<expr::ProgramCache>()->forget(*program);
}

std::uint64_t Constants::device_bytes(Counted& counted) const {
  std::uint64_t bytes = 0;
  const auto add = [&](const Tensor& tensor) {
    if (!tensor.has_value() || !tensor.evaluated()) return;
    const DeviceBuffer buffer = tensor.value().buffer();
    if (!buffer.device()->is_lost() && counted.insert(buffer.cell().get()).second)
      bytes += buffer.spec().bytes();
  };
  const auto add_all = [&](const Value& value) {
    if (value.is_known()) add(value.known().copy());
    value.visit_cells([&](const std::shared_ptr<Value::Cell>& cell) { add(cell->tensor); });
  };
  const std::scoped_lock lock{mutex_};
  for (const auto& [data, value] : values_) add_all(value);
  for (const auto& [node, kept] : folded_) std::ranges::for_each(kept.values, add_all);
  for (const auto& [key, kept] : prepared_) std::ranges::for_each(kept.values, add_all);
  return bytes;
}

}  // namespace stoker::onnx
