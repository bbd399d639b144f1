#include "stoker/bench/onnx/new_signatures.hpp"

#include <cstring>
#include <functional>

#include "stoker/bench/harness/inputs.hpp"
#include "stoker/bench/onnx/our_model.hpp"
#include "stoker/pipeline/onnx/reading/model_reader.hpp"

namespace stoker::bench {
namespace {

namespace fs = std::filesystem;

/// A model whose first input has another extent at each run.
struct Growing {
  const char* name;
  const char* folder;
  double aim_on_cpu, aim_on_gpu;  ///< milliseconds
  int signatures;
  onnx::TensorData (*input)(int number);
};

template <class T>
onnx::TensorData tensor(onnx::ElementType type, std::vector<std::int64_t> dims,
                        const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span{values});
  return {.type = type,
          .dims = std::move(dims),
          .bytes = onnx::SharedBytes::own({bytes.begin(), bytes.end()}),
          .strings = {}};
}

onnx::TensorData tokens(int number) {
  const std::int64_t count = 17 + number;
  std::vector<std::int32_t> ids(static_cast<std::size_t>(2 * count));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 37 % 100);
  return tensor(onnx::ElementType::s32, {2, count}, ids);
}

onnx::TensorData photos(int number) {
  const std::int64_t batch = 2 + number;
  return tensor(onnx::ElementType::f32, {batch, 3, 240, 320},
                noise(static_cast<std::size_t>(batch) * 3 * 240 * 320));
}

/// The file says how many rows its input has; the graph does not need it.
std::shared_ptr<const onnx::ModelFile> with_free_batch(const fs::path& path) {
  auto file = std::make_shared<onnx::ModelFile>(onnx::read_model(path).value());
  for (onnx::ValueInfo& input : file->graph.inputs)
    if (input.type.dims && !input.type.dims->empty() &&
        file->graph.initializer(input.name) == nullptr)
      input.type.dims->front() = {.extent = {}, .symbol = "batch"};
  return file;
}

void row(Context& context, const Device& device, const fs::path& folder, const Growing& of) {
  const onnx::Model model =
      onnx::load(with_free_batch(folder / of.folder / "model.onnx"), {.device = device});
  const std::string input = model.inputs().front().name;
  Samples traced;
  Samples computed;
  const int count = context.repeats(of.signatures);
  for (int number = -1; number < count; ++number) {
    const onnx::NamedValues inputs{{input, placed(device, of.input(number))}};
    for (const auto& [name, value] : inputs) value.tensor().computed().get();
    onnx::NamedValues outputs;
    const double until_known = seconds_of([&] { outputs = model.run(inputs).get(); });
    const double rest = seconds_of([&] { wait_for(outputs); });
    const double again = seconds_of([&] { wait_for(model.run(inputs).get()); });
    if (number < 0) continue;  // weights go to the device then
    traced.add(until_known * 1e3);
    computed.add((until_known + rest - again) * 1e3);
  }
  const bool on_gpu = device.info().backend == "vulkan";
  context.report.add(
      Row{std::string{"new signature, trace and plan, "} + of.name, traced, "ms", Better::lower}
          .aim(on_gpu ? of.aim_on_gpu : of.aim_on_cpu));
  context.report.add(
      Row{std::string{"the same with kernels, "} + of.name, computed, "ms", Better::lower}.remark(
          "the first run less the second of the same signature"));
}

}  // namespace

void new_signatures(Context& context, const Device& device, const fs::path& folder) {
  static constexpr Growing all[]{
      {"tiny-transformer", "tiny-transformer", 5, 10, 20, tokens},
      {"ultraface", "ultraface-rfb-320", 15, 30, 7, photos},
  };
  for (const Growing& one : all) {
    try {
      row(context, device, folder, one);
    } catch (const std::exception& error) {
      context.report.skip(std::string{"new signature, "} + one.name, error.what());
    }
  }
}

}  // namespace stoker::bench
