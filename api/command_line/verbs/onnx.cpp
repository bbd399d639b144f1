// `stoker onnx`: models in ONNX files. `test` runs cases of the standard's suite.
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "stoker/api/command_line/onnx_cases.hpp"
#include "stoker/api/command_line/onnx_words.hpp"
#include "stoker/api/command_line/output.hpp"
#include "stoker/api/command_line/verbs.hpp"
#include "stoker/api/system.hpp"
#include "stoker/runtime/base/printable.hpp"

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

nlohmann::json to_json(const CaseResult& result) {
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
  const auto cases = find_cases(words.folders);
  const Tolerances tolerances{.atol = words.atol, .rtol = words.rtol};
  Totals totals;
  std::vector<CaseResult> results;
  for (const auto& folder : cases) {
    results.push_back(run_case(folder, device, tolerances));
    const CaseResult& result = results.back();
    totals.count(result.outcome);
    const bool shows = !words.quiet || result.outcome != CaseOutcome::pass;
    if (!words.json && !words.table && shows) print_line(result);
  }
  if (words.table) {
    print_table(results);
  } else if (words.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const CaseResult& result : results) list.push_back(to_json(result));
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

}  // namespace

void add_onnx(CLI::App& app, Choice& choice) {
  auto* verb = add_separate(app, onnx_verb);
  auto words = std::make_shared<OnnxTestWords>();
  add_onnx_words(*verb, *words)->callback([&choice, words] {
    choice.json = words->json;
    choice.run = [words] { return test(*words); };
  });
}

}  // namespace stoker::command_line
