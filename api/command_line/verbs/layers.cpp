// `stoker layers [NAME]`: the layers, and what else models are made of and trained with, or one of them with its
// options; with --markdown the reference page.
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "stoker/api/command_line/markdown.hpp"
#include "stoker/api/command_line/output.hpp"
#include "stoker/api/command_line/param_text.hpp"
#include "stoker/api/command_line/verbs.hpp"
#include "stoker/api/command_line/words/layers_words.hpp"
#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/functional/loss.hpp"
#include "stoker/api/nn/functional/metric.hpp"
#include "stoker/api/nn/graph/initializer.hpp"
#include "stoker/api/nn/graph/layer_kinds.hpp"
#include "stoker/api/train/model/precision.hpp"
#include "stoker/api/train/optim/loss_scale.hpp"
#include "stoker/api/train/optim/optimizer.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::command_line {
namespace {

/// One of a family; of a layer what it takes and gives, too.
struct Kind : nn::NamedKind {
  const nn::LayerDefinition* layer = nullptr;
};

struct Family {
  const char* title;  ///< "Losses"
  const char* key;    ///< of JSON
  const char* one;    ///< "a loss"
  const char* text;   ///< below the title of the page
  std::vector<Kind> kinds;
};

bool takes_any_number(const nn::LayerDefinition& layer) { return layer.most_inputs > 1000; }

std::string inputs_of(const nn::LayerDefinition& layer) {
  std::string text = std::to_string(layer.least_inputs);
  if (takes_any_number(layer)) return text + " or more";
  if (layer.most_inputs != layer.least_inputs) text += " to " + std::to_string(layer.most_inputs);
  return text;
}

std::string outputs_of(const nn::LayerDefinition& layer) {
  return layer.count_outputs ? "as its options say" : std::to_string(layer.outputs);
}

std::vector<Kind> layers() {
  std::vector<Kind> all;
  for (const nn::LayerDefinition* one : nn::layer_kinds())
    all.push_back({{one->name, one->summary, one->options}, one});
  return all;
}

std::vector<Kind> of(std::vector<nn::NamedKind> named) {
  std::vector<Kind> all;
  all.reserve(named.size());
  for (nn::NamedKind& one : named) all.push_back({std::move(one)});
  return all;
}

std::vector<Family> families() {
  return {
      {"Layers", "layers", "a layer",
       "`nn::Layer{nn::layers::Conv{.units = 16}}`, `nn.conv(x, 16)`.", layers()},
      {"Activations", "activations", "an activation",
       "What layers apply to their results: `nn::relu`, `nn::activations::Elu{.alpha = 0.5}`. x is "
       "the result.",
       of(nn::activation_kinds())},
      {"Initializers", "initializers", "an initializer",
       "How variables begin: `nn::initializers::he_normal`, `nn::initializers::Normal{.scale = "
       "0.02}`.",
       of(nn::initializer_kinds())},
      {"Losses", "losses", "a loss",
       "What training makes smaller: `nn::losses::Huber{.delta = 0.5}`. t is the target, p the "
       "prediction, d = p - t.",
       of(nn::loss_kinds())},
      {"Metrics", "metrics", "a metric",
       "Measures of how good predictions are: `nn::metrics::Precision{.threshold = 0.7}`. TP, FP, "
       "TN and FN are the numbers of true and false positives and negatives.",
       of(nn::metric_kinds())},
      {"Optimizers", "optimizers", "an optimizer",
       "The update of a parameter, before it is multiplied by -learning_rate: "
       "`nn::optimizers::Adam{.b1 = 0.8}`. g is the parameter's gradient, p its value.",
       of(nn::optimizer_kinds())},
      {"Schedules", "schedules", "a schedule",
       "Learning rates that change: `nn::schedules::CosineDecay{.value = 0.1}`. t is the step, "
       "from "
       "0.",
       of(nn::schedule_kinds())},
      {"Loss scales", "loss_scales", "a loss scale",
       "Factors on a loss, so that gradients of f16 do not vanish: `nn::loss_scales::Dynamic{}`.",
       of(nn::loss_scale_kinds())},
      {"Precisions", "precisions", "a precision",
       "The dtypes in which layers keep parameters and compute: `nn::precisions::Mixed{}`.",
       of(nn::precision_kinds())},
  };
}

nlohmann::json describe(const Kind& kind) {
  nlohmann::json made{
      {"name", kind.name}, {"summary", kind.summary}, {"options", nlohmann::json::array()}};
  if (kind.layer != nullptr) {
    made["inputs"]["min"] = kind.layer->least_inputs;
    if (!takes_any_number(*kind.layer)) made["inputs"]["max"] = kind.layer->most_inputs;
    if (!kind.layer->count_outputs) made["outputs"] = kind.layer->outputs;
  }
  for (const ParamSpec& option : kind.options) made["options"].push_back(to_json(option));
  return made;
}

int print_page() {
  std::cout << page_head("Layers, and what trains them",
                         "The parts of networks and of training, by family, with every option. In "
                         "C++ a kind is a struct of its\noptions, in scripts and files it is text: "
                         "`leaky_relu(alpha=0.2)`. The guide is\n[../training.md](../training.md); "
                         "[../training.md#kinds-of-ones-own](../training.md#kinds-of-ones-own) "
                         "shows how a program adds a\nlayer.");
  for (const Family& family : families()) {
    std::cout << "\n## " << family.title << "\n\n" << family.text << '\n';
    for (const Kind& kind : family.kinds) {
      std::cout << "\n### `" << kind.name << "`\n\n" << markdown_text(kind.summary) << '\n';
      if (kind.layer != nullptr)
        std::cout << "\n- Inputs: " << inputs_of(*kind.layer)
                  << "\n- Outputs: " << outputs_of(*kind.layer) << '\n';
      std::cout << param_table("option", kind.options);
    }
  }
  return ok;
}

void print_kind(const Kind& kind, const Family& family) {
  std::cout << kind.name << ", " << family.one << "\n  " << kind.summary << '\n';
  if (kind.layer != nullptr)
    std::cout << "\nInputs: " << inputs_of(*kind.layer) << "\nOutputs: " << outputs_of(*kind.layer)
              << '\n';
  if (!kind.options.empty()) std::cout << "\nOptions:\n";
  for (const ParamSpec& option : kind.options) std::cout << param_lines(option);
}

int show_one(const std::string& name, bool json) {
  const std::vector<Family> all = families();
  std::vector<std::string_view> known;
  nlohmann::json found = nlohmann::json::object();
  bool first = true;
  for (const Family& family : all)
    for (const Kind& kind : family.kinds) {
      known.push_back(kind.name);
      if (kind.name != name) continue;
      if (json) {
        found[family.key] = nlohmann::json::array({describe(kind)});
      } else {
        if (!first) std::cout << '\n';
        print_kind(kind, family);
      }
      first = false;
    }
  if (first)
    throw Error{
        "layers",
        ErrorCode::not_found,
        "nothing that models are made of is called '" + name + "'" + did_you_mean(name, known),
        {{"name", name}}};
  if (json) print_json(found);
  return ok;
}

int show_all(bool json) {
  nlohmann::json listed = nlohmann::json::object();
  for (const Family& family : families()) {
    if (json) {
      for (const Kind& kind : family.kinds) listed[family.key].push_back(describe(kind));
      continue;
    }
    std::cout << family.title << '\n';
    for (const Kind& kind : family.kinds)
      std::cout << "  " << std::left << std::setw(28) << kind.name << kind.summary << '\n';
  }
  if (json) print_json(listed);
  return ok;
}

}  // namespace

void add_layers(CLI::App& app, Choice& choice) {
  auto* verb = add_separate(app, layers_verb);
  auto words = std::make_shared<LayersWords>();
  add_layers_words(*verb, *words);
  verb->callback([&choice, words] {
    choice.json = words->json;
    choice.run = [words] {
      if (words->page) return print_page();
      return words->name.empty() ? show_all(words->json) : show_one(words->name, words->json);
    };
  });
}

}  // namespace stoker::command_line
