// `stoker ops [NAME]`: the operations on tensors, what they take, where they run and whether they have a
// gradient, and the functions of scripts that are made of several; or one of both; with --markdown the reference page.
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "stoker/api/command_line/markdown.hpp"
#include "stoker/api/command_line/output.hpp"
#include "stoker/api/command_line/param_text.hpp"
#include "stoker/api/command_line/verbs.hpp"
#include "stoker/api/command_line/words/ops_words.hpp"
#include "stoker/api/script/functions/function_table.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/scalar/function.hpp"
#include "stoker/pipeline/tensor/graph/op.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::command_line {
namespace {

using expr::Op;
using expr::OpKind;
using script::FunctionTable;
using script::TensorFunction;

constexpr std::array every_dtype = {DType::f32, DType::f64, DType::f16,    DType::bf16, DType::s8,
                                    DType::s16, DType::s32, DType::s64,    DType::u8,   DType::u16,
                                    DType::u32, DType::u64, DType::boolean};

/// Those that the operation's own rule takes.
std::vector<std::string_view> scalar_dtypes(const Op& op) {
  const ScalarFunction& function = **find_scalar_function(op.name);
  std::vector<std::string_view> dtypes;
  for (const DType dtype : every_dtype) {
    std::array<DType, 3> operands{dtype, dtype, dtype};
    if (function.condition) operands[0] = DType::u8;
    if (scalar_result(function, std::span{operands}.first(function.arity), dtype))
      dtypes.push_back(to_string(dtype));
  }
  return dtypes;
}

/// Of others it depends on the call which kernel that is.
bool names_kernel(const Op& op) { return op.kind == OpKind::kernel && !op.computed_by.empty(); }

nlohmann::json dtypes_of(const Op& op) {
  if (op.name == "view_as_real") return {"c64", "c128"};
  if (op.name == "view_as_complex") return {"f32", "f64"};
  nlohmann::json names = nlohmann::json::array();
  if (op.kind == OpKind::scalar) {
    for (const auto name : scalar_dtypes(op)) names.push_back(name);
  } else if (names_kernel(op)) {
    for (const DType dtype : KernelRegistry::builtin().find(op.computed_by).value()->dtypes)
      names.push_back(to_string(dtype));
  } else {
    for (const DType dtype : every_dtype) names.push_back(to_string(dtype));
  }
  return names;
}

bool runs_on_gpu(const Op& op) {
  return !names_kernel(op) ||
         static_cast<bool>(KernelRegistry::builtin().find(op.computed_by).value()->gpu);
}

std::string_view gradient_of(const Op& op) {
  return op.gradient ? "exact" : op.zero_gradient ? "zero" : "none";
}

nlohmann::json describe(const Op& op) {
  nlohmann::json devices{"cpu"};
  if (runs_on_gpu(op)) devices.push_back("vulkan");
  return {{"name", op.name},
          {"summary", op.summary},
          {"inputs", {{"min", op.inputs.min}, {"max", op.inputs.max}}},
          {"dtypes", dtypes_of(op)},
          {"devices", devices},
          {"gradient", gradient_of(op)}};
}

nlohmann::json describe(const TensorFunction& function) {
  const script::Operation& operation = function.operation;
  nlohmann::json made{{"name", operation.name},
                      {"summary", function.summary},
                      {"inputs", {{"min", operation.inputs.min}, {"max", operation.inputs.max}}},
                      {"options", nlohmann::json::array()}};
  for (const ParamSpec& option : operation.params) made["options"].push_back(to_json(option));
  return made;
}

/// A kernel call belongs to its kernel's family; the other kinds of operations are families of their own.
std::string_view family_of(const Op& op) {
  switch (op.kind) {
    case OpKind::known:
    case OpKind::parameter:
    case OpKind::constant:
    case OpKind::index: return "leaves";
    case OpKind::scalar: return "elementwise";
    case OpKind::view:
    case OpKind::reshape:
    case OpKind::computed_after: return "views";
    case OpKind::kernel:
      if (!names_kernel(op)) return "control";
      return KernelRegistry::builtin().find(op.computed_by).value()->family;
    case OpKind::host: return "control";
  }
  return "other";
}

std::string in_words(const Arity& inputs) {
  std::string text = std::to_string(inputs.min);
  if (inputs.max == expr::any_number) return text + " or more";
  if (inputs.max != inputs.min) text += " to " + std::to_string(inputs.max);
  return text;
}

void print_sections() {
  std::cout
      << "\n## functions of scripts\n\n"
         "Made of several operations: in scripts these are functions, too, and in C++ functions "
         "of `api/tensor`\nunder the same names, but for the rules of "
         "[../scripts.md](../scripts.md#functions-of-tensors).\n";
  for (const TensorFunction& function : FunctionTable::builtin().list())
    std::cout << "\n### `" << function.operation.name << "`\n\n"
              << markdown_text(function.summary)
              << "\n\n- Inputs: " << in_words(function.operation.inputs) << '\n'
              << param_table("option", function.operation.params);
}

int print_page() {
  std::map<std::string_view, std::vector<const Op*>> families;
  for (const Op* op : expr::op_table().list()) families[family_of(*op)].push_back(op);
  std::cout << page_head(
      "Operations on tensors",
      "The operations that the functions of `api/tensor` are made of, by family; scripts call them "
      "by name. A gradient is\nexact, zero (the operation is a step, or its result an integer) or "
      "none: asking for it is then an error. An\noperation without vulkan is computed by the CPU "
      "device where a tensor lives on a GPU.");
  for (const auto& [family, members] : families) {
    std::cout << "\n## " << family
              << "\n\n| operation | inputs | dtypes | devices | gradient | what it computes |\n"
                 "|---|---|---|---|---|---|\n";
    for (const Op* op : members) {
      const auto dtypes = dtypes_of(*op).get<std::vector<std::string>>();
      std::cout << "| `" << op->name << "` | " << in_words(op->inputs) << " | "
                << dtypes_in_words(dtypes) << " | " << (runs_on_gpu(*op) ? "cpu, vulkan" : "cpu")
                << " | " << gradient_of(*op) << " | " << markdown_text(op->summary) << " |\n";
    }
  }
  print_sections();
  return ok;
}

void print_op(const Op& op) {
  std::cout << op.name << "\n  " << op.summary << "\n\nInputs: " << in_words(op.inputs)
            << "\nDtypes:";
  for (const auto& dtype : dtypes_of(op)) std::cout << ' ' << dtype.get<std::string>();
  std::cout << "\nRuns on: cpu" << (runs_on_gpu(op) ? ", vulkan" : "")
            << "\nGradient: " << gradient_of(op) << '\n';
  if (names_kernel(op))
    std::cout << "Kernel: " << op.computed_by << " (stoker kernels " << op.computed_by
              << " lists its parameters)\n";
}

void print_function(const TensorFunction& function) {
  const script::Operation& operation = function.operation;
  std::cout << operation.name << ", a function of scripts\n  " << function.summary
            << "\n\nInputs: " << in_words(operation.inputs) << '\n';
  if (!operation.params.empty()) std::cout << "Options:\n";
  for (const ParamSpec& option : operation.params) std::cout << param_lines(option);
}

int show_one(const std::string& name, bool json) {
  std::vector<std::string_view> known;
  for (const Op* op : expr::op_table().list()) {
    known.emplace_back(op->name);
    if (op->name != name) continue;
    if (json)
      print_json(describe(*op));
    else
      print_op(*op);
    return ok;
  }
  if (const TensorFunction* function = FunctionTable::builtin().find(name)) {
    if (json)
      print_json(describe(*function));
    else
      print_function(*function);
    return ok;
  }
  for (const TensorFunction& function : FunctionTable::builtin().list())
    known.emplace_back(function.operation.name);
  throw Error{"ops",
              ErrorCode::not_found,
              "there is no operation '" + name + "'" + did_you_mean(name, known),
              {{"name", name}}};
}

int show_all(bool json) {
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Op* op : expr::op_table().list()) list.push_back(describe(*op));
    nlohmann::json functions = nlohmann::json::array();
    for (const TensorFunction& one : FunctionTable::builtin().list())
      functions.push_back(describe(one));
    print_json({{"ops", list}, {"functions", functions}});
    return ok;
  }
  for (const Op* op : expr::op_table().list())
    std::cout << std::left << std::setw(22) << op->name << std::setw(13)
              << (runs_on_gpu(*op) ? "cpu, vulkan" : "cpu") << std::setw(7) << gradient_of(*op)
              << op->summary << '\n';
  std::cout << "\nFunctions of scripts that are made of several\n";
  for (const TensorFunction& one : FunctionTable::builtin().list())
    std::cout << std::left << std::setw(28) << one.operation.name << one.summary << '\n';
  return ok;
}

}  // namespace

void add_ops(CLI::App& app, Choice& choice) {
  auto* verb = add_separate(app, ops_verb);
  auto words = std::make_shared<OpsWords>();
  add_ops_words(*verb, *words);
  verb->callback([&choice, words] {
    choice.json = words->json;
    choice.run = [words] {
      if (words->page) return print_page();
      return words->name.empty() ? show_all(words->json) : show_one(words->name, words->json);
    };
  });
}

}  // namespace stoker::command_line
