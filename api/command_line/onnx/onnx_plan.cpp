// Plans of ONNX models for people and as JSON; see onnx_info.hpp.
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "onnx_info.hpp"
#include "stoker/api/command_line/one_line.hpp"
#include "stoker/api/command_line/output.hpp"
#include "stoker/runtime/base/printable.hpp"

namespace stoker::command_line {
namespace {

using onnx::PlanDescription;

double microseconds(const PlanDescription::Kernel& kernel) {
  return std::chrono::duration<double, std::micro>(*kernel.time).count();
}

void add_nodes(std::ostream& text, const std::vector<std::string>& nodes) {
  for (const std::string& node : nodes) text << "      " << one_line(node) << '\n';
}

void add_step(std::ostream& text, const PlanDescription::Step& step) {
  if (!step.host.empty()) {
    text << "  the host drives " << one_line(step.host) << '\n';
    add_nodes(text, step.nodes);
    return;
  }
  text << "  pipeline of " << count_of(step.kernels.size(), "kernel") << ", arena of "
       << step.arena_bytes << " bytes\n";
  for (const PlanDescription::Kernel& kernel : step.kernels) {
    text << "    " << one_line(kernel.name);
    for (const TensorSpec& input : kernel.inputs) text << ' ' << input.to_string();
    text << " ->";
    for (const TensorSpec& output : kernel.outputs) text << ' ' << output.to_string();
    if (kernel.time)
      text << ", " << std::fixed << std::setprecision(1) << microseconds(kernel) << " us";
    text << '\n';
    add_nodes(text, kernel.nodes);
  }
}

void add_folded(std::ostream& text, const char* what,
                const std::vector<PlanDescription::Folded>& nodes) {
  if (nodes.empty()) return;
  text << what << '\n';
  for (const PlanDescription::Folded& node : nodes) {
    text << "  " << one_line(node.node);
    if (node.times > 1) text << ", " << node.times << " times";
    text << '\n';
  }
}

nlohmann::json specs_json(const std::vector<TensorSpec>& specs) {
  nlohmann::json texts = nlohmann::json::array();
  for (const TensorSpec& spec : specs) texts.push_back(spec.to_string());
  return texts;
}

nlohmann::json step_json(const PlanDescription::Step& step) {
  if (!step.host.empty()) return {{"host", printable(step.host)}, {"nodes", step.nodes}};
  nlohmann::json kernels = nlohmann::json::array();
  for (const PlanDescription::Kernel& kernel : step.kernels) {
    kernels.push_back({{"name", printable(kernel.name)},
                       {"inputs", specs_json(kernel.inputs)},
                       {"outputs", specs_json(kernel.outputs)},
                       {"nodes", kernel.nodes}});
    if (kernel.time) kernels.back()["microseconds"] = microseconds(kernel);
  }
  return {{"kernels", std::move(kernels)}, {"arena_bytes", step.arena_bytes}};
}

nlohmann::json cut_json(const std::optional<PlanDescription::Cut>& cut) {
  if (!cut) return nullptr;
  nlohmann::json made{{"node", cut->node}, {"reads", cut->read.to_string()}};
  made["value"] = cut->value.empty() ? nlohmann::json{} : nlohmann::json(printable(cut->value));
  return made;
}

nlohmann::json folded_json(const std::vector<PlanDescription::Folded>& nodes) {
  nlohmann::json list = nlohmann::json::array();
  for (const PlanDescription::Folded& node : nodes)
    list.push_back({{"node", node.node}, {"times", node.times}});
  return list;
}

}  // namespace

std::string to_text(const PlanDescription& plan) {
  std::ostringstream text;
  text << "plan: " << count_of(plan.segments.size(), "segment") << " for "
       << count_of(plan.nodes, "node") << '\n';
  std::size_t number = 0;
  for (const PlanDescription::Segment& segment : plan.segments) {
    text << "segment " << ++number << ": " << count_of(segment.kernels(), "kernel")
         << "; bytes: " << segment.working_bytes << " to work in, " << segment.constant_bytes
         << " of constants, " << segment.result_bytes << " of results\n";
    for (const PlanDescription::Step& step : segment.steps) add_step(text, step);
    if (!segment.cut) continue;
    const std::string& value = segment.cut->value;
    text << "cut: " << one_line(segment.cut->node) << " reads "
         << (value.empty() ? "what its rule made" : '\'' + one_line(value) + '\'') << ", "
         << segment.cut->read.to_string() << '\n';
  }
  add_folded(text, "on constants only, computed once for all plans", plan.constant);
  add_folded(text, "computed by the host while the plan was made", plan.on_host);
  return text.str();
}

nlohmann::json to_json(const PlanDescription& plan) {
  nlohmann::json segments = nlohmann::json::array();
  for (const PlanDescription::Segment& segment : plan.segments) {
    nlohmann::json steps = nlohmann::json::array();
    for (const PlanDescription::Step& step : segment.steps) steps.push_back(step_json(step));
    segments.push_back({{"kernels", segment.kernels()},
                        {"working_bytes", segment.working_bytes},
                        {"constant_bytes", segment.constant_bytes},
                        {"result_bytes", segment.result_bytes},
                        {"steps", std::move(steps)},
                        {"cut", cut_json(segment.cut)}});
  }
  return {{"nodes", plan.nodes},
          {"segments", std::move(segments)},
          {"constant", folded_json(plan.constant)},
          {"on_host", folded_json(plan.on_host)}};
}

}  // namespace stoker::command_line
