// `stoker onnx`: models in ONNX files. `test` runs cases of the standard's suite, `info` describes a model, `bench`
// measures it, `export` writes one.
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "stoker/api/command_line/onnx/onnx_batching.hpp"
#include "stoker/api/command_line/onnx/onnx_bench.hpp"
#include "stoker/api/command_line/onnx/onnx_cases.hpp"
#include "stoker/api/command_line/onnx/onnx_export.hpp"
#include "stoker/api/command_line/onnx/onnx_info.hpp"
#include "stoker/api/command_line/onnx/onnx_options.hpp"
#include "stoker/api/command_line/onnx/onnx_shapes.hpp"
#include "stoker/api/command_line/output.hpp"
#include "stoker/api/command_line/verbs.hpp"
#include "stoker/api/command_line/words/onnx_words.hpp"
#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/run/refused_nodes.hpp"
#include "stoker/api/system.hpp"
#include "stoker/pipeline/onnx/graph/graph_dot.hpp"
#include "stoker/pipeline/onnx/reading/model_reader.hpp"
#include "stoker/runtime/base/printable.hpp"
#include "stoker/runtime/observe/trace.hpp"

namespace stoker::command_line {
namespace {

struct Totals {
  std::size_t pass = 0;
  std::size_t fail = 0;
  std::size_t unsupported = 0;

  void count(CaseOutcome outcome) {
    ++(outcome == CaseOutcome::pass ? pass : outcome == CaseOutcome::fail ? fail : unsupported);
  }
};

const char* word(CaseOutcome outcome) {
  if (outcome == CaseOutcome::pass) return "pass";
  return outcome == CaseOutcome::fail ? "fail" : "unsupported";
}

nlohmann::json case_json(const CaseResult& result) {
  nlohmann::json made{{"case", result.name},
                      {"outcome", word(result.outcome)},
                      {"largest_difference", result.largest},
                      {"opset", result.opset}};
  if (!result.why.empty()) made["why"] = result.why;
  return made;
}

void print_line(const CaseResult& result) {
  std::cout << word(result.outcome) << ' ' << printable(result.name);
  if (!result.why.empty()) std::cout << ": " << printable(result.why);
  std::cout << '\n';
}

/// Each operator with the opsets of the cases that have it.
void print_table(const std::vector<CaseResult>& results) {
  std::map<std::string, std::map<std::int64_t, Totals>> table;
  for (const CaseResult& result : results)
    for (const std::string& name : result.operators)
      table[name][result.opset].count(result.outcome);
  std::cout << "| operator | opset: cases passed of all |\n|---|---|\n";
  for (const auto& [name, opsets] : table) {
    std::cout << "| " << name << " |";
    for (const auto& [opset, totals] : opsets)
      std::cout << ' ' << opset << ": " << totals.pass << '/'
                << totals.pass + totals.fail + totals.unsupported;
    std::cout << " |\n";
  }
}

int test(const OnnxTestWords& words) {
  const System system;
  const Device device = system.device(words.device);
  const onnx::LoadOptions options = load_options(device, words.passes);
  // Before the first case: each would refuse a name that no pass has.
  static_cast<void>(onnx::chosen_passes(options.optimize, options.without));
  const auto cases = find_cases(words.folders);
  const Tolerances tolerances{.atol = words.atol, .rtol = words.rtol};
  Totals totals;
  std::vector<CaseResult> results;
  for (const auto& folder : cases) {
    results.push_back(run_case(folder, options, tolerances));
    const CaseResult& result = results.back();
    totals.count(result.outcome);
    const bool shows = !words.quiet || result.outcome != CaseOutcome::pass;
    if (!words.json && !words.table && shows) print_line(result);
  }
  if (words.table) {
    print_table(results);
  } else if (words.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const CaseResult& result : results) list.push_back(case_json(result));
    print_json({{"device", device.name()},
                {"cases", std::move(list)},
                {"passed", totals.pass},
                {"failed", totals.fail},
                {"unsupported", totals.unsupported}});
  } else {
    std::cout << totals.pass << " passed, " << totals.fail << " failed, " << totals.unsupported
              << " unsupported\n";
  }
  if (totals.fail > 0) return failed;
  return totals.unsupported > 0 ? no_such_thing : ok;
}

/// What a model comes to for the inputs that are said, or zeros.
onnx::PlanDescription plan_of(const onnx::Model& model, const onnx::Description& description,
                              const OnnxInfoWords& words) {
  const DeviceScope scope{model.device()};
  return model.plan(
      with_zeros(description.inputs, words.shapes, values_for(description.inputs, words.inputs)));
}

int info(const OnnxInfoWords& words) {
  const auto file = std::make_shared<const onnx::ModelFile>(
      onnx::read_model(words.model, onnx::listing_refused_nodes(onnx::OperatorTable::standard()))
          .value());
  onnx::Description model = onnx::describe(*file);
  const int code = model.unsupported.empty() ? ok : no_such_thing;
  if (words.dot) {
    std::cout << onnx::graph_dot(file->graph);
    return code;
  }
  const bool narrows = words.passes.precision != "full";
  std::optional<System> system;
  onnx::Model loaded;
  if ((words.plan || words.batching || narrows) && code == ok) {
    system.emplace();
    if (words.plan) system->trace().enable();  // for the times of kernels
    if (words.plan || narrows)
      loaded = onnx::load(file, load_options(system->device(words.device), words.passes));
    if (narrows) model = loaded.info();
  }
  nlohmann::json made;
  if (words.json)
    made = to_json(model);
  else
    std::cout << to_text(model) << std::flush;  // a plan may take long
  if (words.plan && code == ok) {
    const onnx::PlanDescription plan = plan_of(loaded, model, words);
    if (words.json)
      made["plan"] = to_json(plan);
    else
      std::cout << '\n' << to_text(plan);
  }
  if (words.batching && code == ok) {
    const Batching batching = batching_of(system->device(words.device), model.inputs, words);
    if (words.json)
      made["batching"] = to_json(batching);
    else
      std::cout << (words.plan ? "\n" : "") << to_text(batching);
  }
  if (words.json) print_json(made);
  return code;
}

/// `add` fills the words of one subcommand, `answer` does what they say.
template <class Words>
void add_subcommand(CLI::App& verb, Choice& choice, CLI::App* (*add)(CLI::App&, Words&),
                    int (*answer)(const Words&)) {
  const auto words = std::make_shared<Words>();
  add(verb, *words)->callback([&choice, words, answer] {
    choice.json = words->json;
    choice.run = [words, answer] { return answer(*words); };
  });
}

}  // namespace

void add_onnx(CLI::App& app, Choice& choice) {
  CLI::App& verb = *add_separate(app, onnx_verb);
  verb.require_subcommand(1);
  add_subcommand(verb, choice, &add_onnx_bench_words, &bench_model);
  add_subcommand(verb, choice, &add_onnx_export_words, &export_model);
  add_subcommand(verb, choice, &add_onnx_info_words, &info);
  add_subcommand(verb, choice, &add_onnx_test_words, &test);
}

}  // namespace stoker::command_line
