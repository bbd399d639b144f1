// ONNX models that are damaged, but load, are run: a result or an Error, within a host's limits. The first byte says
// how often the graph is damaged, each time as the next bytes say; the rest is the file.
#include <algorithm>
#include <cstring>

#include "fuzz.hpp"
#include "onnx_damage.hpp"
#include "stoker/api/onnx.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/pipeline/onnx/reading/model_reader.hpp"
#include "stoker/pipeline/onnx/writing/model_writer.hpp"
#include "stoker/runtime/execution/clock.hpp"

namespace stoker::fuzz::onnx_run {
namespace {

using namespace stoker::onnx;

constexpr ReadLimits limits{.nodes = 512,
                            .items = 1U << 14U,
                            .inlined_bytes = 1U << 20U,
                            .nesting = 8,
                            .dense_bytes = 1U << 16U};
constexpr std::int64_t most_elements = 4096;
/// A host of strangers sets a deadline; an endless loop ends by it.
constexpr std::chrono::seconds most_time{2};

/// Nothing for what such a host does not give.
std::optional<Value> some(const ValueType& type) {
  switch (type.kind) {
    case ValueKind::sequence: {
      auto one = some(type.inner.at(0));
      if (!one) return {};
      return Value::sequence({*one, *one});
    }
    case ValueKind::optional: {
      auto one = some(type.inner.at(0));
      if (!one) return {};
      return Value::optional(*one);
    }
    case ValueKind::tensor: break;
    default: return {};
  }
  std::vector<std::int64_t> extents;
  std::int64_t count = 1;
  if (!type.dims) extents.push_back(count = 2);
  if (type.dims)
    for (const Dimension& one : *type.dims) {
      extents.push_back(one.extent.value_or(2));
      if (extents.back() > most_elements) return {};
      count *= extents.back();
      if (count > most_elements) return {};
    }
  if (extents.size() > Shape::max_rank) return {};
  const Shape shape = Shape::make(extents, "fuzz");
  const auto size = static_cast<std::size_t>(count);
  if (type.element == ElementType::string)
    return Texts{.shape = shape, .strings = std::vector<std::string>(size, "a b")};
  const ElementType element =
      type.element == ElementType::undefined ? ElementType::f32 : type.element;
  const auto carrier = carrier_of(element);
  if (!carrier || is_complex(*carrier)) return {};
  std::vector<double> numbers(size);
  for (std::size_t i = 0; i < size; ++i)
    numbers[i] = is_integer(*carrier) ? static_cast<double>(i % 2)
                                      : static_cast<double>((i * 37 + 11) % 64) / 16 - 2;
  return Known::reals(numbers, shape, element);
}

/// As a file has it again; nothing if such a file is refused.
std::optional<ModelFile> damaged(ModelFile model, Decisions& decisions, std::size_t times) {
  if (times == 0) return model;
  for (std::size_t i = 0; i < times; ++i) damage(model.graph, decisions);
  auto written = std::make_shared<const std::string>(write_model(model).written());
  return accepted([&] {
    return read_model(std::as_bytes(std::span{*written}), {.limits = limits}, written).value();
  });
}

}  // namespace

void run(Bytes bytes) {
  if (bytes.empty()) return;
  const std::size_t times = std::to_integer<std::size_t>(bytes[0]) % 8;
  const std::size_t start = std::min(bytes.size(), 1 + times * bytes_of_damage);
  Decisions decisions{bytes.subspan(1, start - 1)};
  auto read =
      accepted([&] { return read_model(bytes.subspan(start), {.limits = limits}).value(); });
  if (!read) return;
  auto made = damaged(std::move(*read), decisions, times);
  if (!made) return;
  const auto file = std::make_shared<const ModelFile>(std::move(*made));
  const DeviceScope scope{device()};
  NamedValues inputs;
  for (const ValueInfo& input : file->graph.inputs) {
    if (file->graph.initializer(input.name) != nullptr) continue;
    auto value = some(input.type);
    if (!value) return;
    inputs.insert_or_assign(input.name, std::move(*value));
  }
  static_cast<void>(accepted([&] {
    const Model model = load(file, {.device = device(), .max_plans = 8, .max_nodes = 2048});
    const RunOptions options{
        .limits = {.deadline = system().clock().now() + most_time}, .seed = 1, .outputs = {}};
    std::vector<Tensor> results;
    for (const auto& [name, value] : model.run(inputs, options).get())
      value.visit_cells([&](const auto& cell) { results.push_back(cell->tensor); });
    if (!results.empty()) computed(results).get();
  }));
}

}  // namespace stoker::fuzz::onnx_run
