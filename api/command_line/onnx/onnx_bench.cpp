#include "onnx_bench.hpp"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "onnx_options.hpp"
#include "onnx_shapes.hpp"
#include "stoker/api/command_line/one_line.hpp"
#include "stoker/api/command_line/output.hpp"
#include "stoker/api/onnx/run/refused_nodes.hpp"
#include "stoker/api/system.hpp"
#include "stoker/pipeline/onnx/reading/model_reader.hpp"
#include "stoker/runtime/base/printable.hpp"
#include "stoker/runtime/observe/trace.hpp"

namespace stoker::command_line {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::size_t uncounted_runs = 3;

/// What a kernel took, in the run that was traced for it.
struct Share {
  std::string kernel;
  double milliseconds = 0;
  std::vector<std::string> nodes;
};

struct Row {
  std::optional<std::int64_t> batch;
  std::size_t runs = 0;
  double p50 = 0, p99 = 0, mean = 0;  // milliseconds
  double samples = 0;                 // a second; runs where no batch is given
  std::vector<Share> profile;
};

/// The shapes with that first extent, of all inputs without a value.
std::vector<NamedShape> with_batch(const std::vector<onnx::Description::Input>& inputs,
                                   const onnx::NamedValues& values, std::vector<NamedShape> shapes,
                                   std::int64_t batch) {
  for (const auto& [value, has_default] : inputs) {
    if (!value.type.dims || value.type.dims->empty() || values.contains(value.name)) continue;
    const onnx::Dimension& first = value.type.dims->front();
    const auto given = std::ranges::find(shapes, value.name, &NamedShape::name);
    if (first.extent && (has_default || *first.extent == batch)) continue;
    if (first.extent)
      throw Error{"onnx.bench", ErrorCode::not_found,
                  "there is no batch of " + std::to_string(batch) +
                      ": the first extent of input '" + value.name + "' (" +
                      value.type.to_string() + ") is fixed"};
    if (given != shapes.end() && !given->extents.empty()) {
      given->extents.front() = batch;
      continue;
    }
    if (has_default) continue;
    NamedShape made{.name = value.name, .extents = {batch}};
    for (std::size_t axis = 1; axis < value.type.dims->size(); ++axis) {
      const auto& extent = (*value.type.dims)[axis].extent;
      if (!extent) throw unknown_extents(value);
      made.extents.push_back(*extent);
    }
    shapes.push_back(std::move(made));
  }
  return shapes;
}

/// Waits until all tensors among the values are computed.
void await(const onnx::NamedValues& values) {
  std::vector<Tensor> tensors;
  for (const auto& [name, value] : values)
    if (value.is_tensor()) tensors.push_back(value.tensor());
  eval(tensors);
  for (const Tensor& one : tensors) one.computed().get();
}

double one_run(const onnx::Model& model, const onnx::NamedValues& inputs) {
  const auto begin = Clock::now();
  await(model.run(inputs).get());
  return std::chrono::duration<double, std::milli>{Clock::now() - begin}.count();
}

/// The least time that as many hundredths of the runs do not exceed.
double percentile(const std::vector<double>& sorted, std::size_t hundredths) {
  return sorted[(sorted.size() * hundredths + 99) / 100 - 1];
}

std::vector<Share> profile_of(const onnx::PlanDescription& plan) {
  std::vector<Share> all;
  for (const auto& segment : plan.segments)
    for (const auto& step : segment.steps)
      for (const auto& kernel : step.kernels) {
        if (!kernel.time) continue;
        all.push_back({kernel.name, std::chrono::duration<double, std::milli>{*kernel.time}.count(),
                       kernel.nodes});
      }
  std::ranges::stable_sort(all, std::greater{}, &Share::milliseconds);
  return all;
}

Row measured(const onnx::Model& model, const onnx::NamedValues& inputs,
             const OnnxBenchWords& words) {
  await(inputs);
  for (std::size_t i = 0; i < uncounted_runs; ++i) static_cast<void>(one_run(model, inputs));
  std::vector<double> times;
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds{words.seconds});
  while (words.runs > 0 ? times.size() < words.runs : times.empty() || Clock::now() < end)
    times.push_back(one_run(model, inputs));
  std::ranges::sort(times);
  Row row;
  row.runs = times.size();
  row.p50 = percentile(times, 50);
  row.p99 = percentile(times, 99);
  row.mean = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  row.samples = 1000 / row.mean;
  return row;
}

std::string milliseconds(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(value < 10 ? 4 : 2) << value;
  return text.str();
}

void print(const std::vector<Row>& rows) {
  const bool has_batch = rows.front().batch.has_value();
  std::cout << (has_batch ? "   batch" : "") << "      runs     p50 ms     p99 ms    mean ms  "
            << (has_batch ? "samples/s" : "runs/s") << '\n';
  for (const Row& row : rows) {
    if (row.batch) std::cout << std::setw(8) << *row.batch;
    std::cout << std::setw(10) << row.runs << std::setw(11) << milliseconds(row.p50)
              << std::setw(11) << milliseconds(row.p99) << std::setw(11) << milliseconds(row.mean)
              << "  " << std::fixed << std::setprecision(1) << row.samples << '\n';
  }
  for (const Row& row : rows) {
    if (row.profile.empty()) continue;
    std::cout << '\n';
    if (row.batch) std::cout << "batch " << *row.batch << '\n';
    for (const Share& share : row.profile) {
      std::cout << std::setw(10) << milliseconds(share.milliseconds) << " ms  "
                << one_line(share.kernel) << '\n';
      for (const std::string& node : share.nodes)
        std::cout << "               " << one_line(node) << '\n';
    }
  }
}

nlohmann::json to_json(const Row& row) {
  nlohmann::json made{{"batch", row.batch ? nlohmann::json(*row.batch) : nlohmann::json{}},
                      {"runs", row.runs},
                      {"p50_ms", row.p50},
                      {"p99_ms", row.p99},
                      {"mean_ms", row.mean},
                      {"per_second", row.samples}};
  nlohmann::json profile = nlohmann::json::array();
  for (const Share& share : row.profile)
    profile.push_back(
        {{"kernel", printable(share.kernel)}, {"ms", share.milliseconds}, {"nodes", share.nodes}});
  made["profile"] = std::move(profile);
  return made;
}

}  // namespace

int bench_model(const OnnxBenchWords& words) {
  const auto file = std::make_shared<const onnx::ModelFile>(
      onnx::read_model(words.model, onnx::listing_refused_nodes(onnx::OperatorTable::standard()))
          .value());
  const onnx::Description described = onnx::describe(*file);
  SystemOptions options;
  if (words.threads > 0) options.config.threads = words.threads;
  const System system{options};
  const Device device = system.device(words.device);
  const DeviceScope scope{device};
  const onnx::Model model = onnx::load(file, load_options(device, words.passes));
  std::vector<std::optional<std::int64_t>> batches(words.batches.begin(), words.batches.end());
  if (batches.empty()) batches.emplace_back();
  // All that the command line asks for is there before anything is measured.
  const onnx::NamedValues given = values_for(described.inputs, words.inputs);
  std::vector<onnx::NamedValues> inputs;
  for (const auto& batch : batches)
    inputs.push_back(with_zeros(
        described.inputs,
        batch ? with_batch(described.inputs, given, words.shapes, *batch) : words.shapes, given));
  std::vector<Row> rows;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    rows.push_back(measured(model, inputs[i], words));
    rows.back().batch = batches[i];
    rows.back().samples *= static_cast<double>(batches[i].value_or(1));
  }
  if (words.profile) {
    system.trace().enable();
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i].profile = profile_of(model.plan(inputs[i]));
  }
  if (words.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Row& row : rows) list.push_back(to_json(row));
    print_json({{"model", words.model},
                {"device", device.name()},
                {"threads", words.threads > 0 ? nlohmann::json(words.threads) : nlohmann::json{}},
                {"rows", std::move(list)}});
  } else {
    print(rows);
  }
  return ok;
}

}  // namespace stoker::command_line
