// `stoker predict`: runs a model of any kind on inputs from files.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stoker/api/command_line/output.hpp"
#include "stoker/api/command_line/predict/predict_inputs.hpp"
#include "stoker/api/command_line/predict/predict_outputs.hpp"
#include "stoker/api/command_line/verbs.hpp"
#include "stoker/api/command_line/words/predict_words.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/runtime/base/printable.hpp"

namespace stoker::command_line {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

/// What a model that is a script prints: standard output is for what it gives.
class Prints final : public ScriptObserver {
 public:
  void on_print(std::string_view text) noexcept override { std::cerr << text; }
};

void wait_for(const NamedValues& outputs) {
  std::vector<Tensor> tensors;
  for (const auto& [name, value] : outputs)
    value.visit_cells([&](const auto& cell) { tensors.push_back(cell->tensor); });
  if (!tensors.empty()) computed(tensors).get();
}

struct Times {
  double first = 0;
  double median = 0;  ///< of the others, as is `least`
  double least = 0;
};

Times times_of(std::vector<double> taken) {
  Times times{.first = taken.front()};
  taken.erase(taken.begin());
  std::ranges::sort(taken);
  if (taken.empty()) return times;
  times.median = taken[taken.size() / 2];
  times.least = taken.front();
  return times;
}

nlohmann::json infos_json(const std::vector<onnx::ValueInfo>& infos) {
  nlohmann::json list = nlohmann::json::array();
  for (const onnx::ValueInfo& one : infos)
    list.push_back({{"name", one.name}, {"type", one.type.to_string()}});
  return list;
}

nlohmann::json model_json(const PredictWords& words, const AnyModel& model) {
  const AnyModelInfo info = model.info();
  return {{"file", words.model},
          {"kind", to_string(info.kind)},
          {"producer", info.producer},
          {"description", info.description},
          {"parameters", info.parameters},
          {"inputs", infos_json(model.inputs())},
          {"outputs", infos_json(model.outputs())}};
}

void print_heading(const PredictWords& words, const AnyModel& model) {
  const AnyModelInfo info = model.info();
  std::cout << printable(words.model) << ": " << to_string(info.kind);
  if (!info.description.empty()) std::cout << ", " << info.description;
  if (info.parameters > 0) std::cout << ", " << info.parameters << " parameters";
  std::cout << ", on " << model.device().name() << '\n';
}

void print_times(const PredictWords& words, const Times& times) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(3) << times.first << " ms";
  if (words.repeat > 1)
    text << ", then " << times.median << " ms (median of " << words.repeat - 1 << ", least "
         << times.least << " ms)";
  std::cout << text.str() << '\n';
}

int predict(const PredictWords& words, const PredictInputs& given) {
  const System system;
  ShownOutputs shown{.top = words.top, .labels = {}};
  if (!words.labels.empty()) shown.labels = read_labels(words.labels);
  LoadModelOptions options{.device = system.device(words.script.device),
                           .precision = onnx::parse_precision(words.precision).value(),
                           .limits = words.script.bounds(),
                           .observer = std::make_shared<Prints>()};
  for (const std::string& folder : words.script.allow)
    options.allowed_directories.emplace_back(folder);
  const AnyModel model = load_model(words.model, options);
  const NamedValues inputs = read_inputs(given, model);
  wait_for(inputs);  // so that no time is theirs

  std::vector<double> taken;
  NamedValues outputs;
  for (std::uint64_t i = 0; i < words.repeat; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    outputs = model.predict(inputs, {.seed = words.seed}).get();
    wait_for(outputs);
    taken.push_back(Milliseconds{std::chrono::steady_clock::now() - begin}.count());
  }
  const Times times = times_of(std::move(taken));
  check_labels(shown, outputs);
  std::vector<std::string> files;
  if (!words.output.empty()) files = write_outputs(outputs, words.output, words.format == "npy");

  if (words.json) {
    nlohmann::json list = nlohmann::json::array();
    std::size_t i = 0;
    for (const auto& [name, value] : outputs) {
      list.push_back(output_json(name, value, shown));
      if (!files.empty()) list.back()["file"] = files[i++];
    }
    nlohmann::json all{{"model", model_json(words, model)},
                       {"device", model.device().name()},
                       {"outputs", std::move(list)},
                       {"first_ms", times.first}};
    if (words.repeat > 1) {
      all["median_ms"] = times.median;
      all["least_ms"] = times.least;
    }
    print_json(all);
    return ok;
  }
  print_heading(words, model);
  for (const auto& [name, value] : outputs) print_output(name, value, shown);
  for (const std::string& file : files) std::cout << "saved " << printable(file) << '\n';
  print_times(words, times);
  return ok;
}

}  // namespace

void add_predict(CLI::App& app, Choice& choice) {
  auto* verb = add_separate(app, predict_verb);
  auto words = std::make_shared<PredictWords>();
  add_predict_words(*verb, *words);
  verb->callback([&choice, words] {
    if (!words->labels.empty() && words->top == 0)
      throw CLI::ValidationError{"--labels", "is for --top K"};
    choice.json = words->json;
    choice.run = [words, inputs = parse_inputs(*words)] { return predict(*words, inputs); };
  });
}

}  // namespace stoker::command_line
