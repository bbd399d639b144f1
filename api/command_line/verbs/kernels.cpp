// `stoker kernels [NAME]`: the table of kernels, or one of them; with --markdown the reference page.
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "stoker/api/command_line/markdown.hpp"
#include "stoker/api/command_line/output.hpp"
#include "stoker/api/command_line/param_text.hpp"
#include "stoker/api/command_line/verbs.hpp"
#include "stoker/kernels/kernel.hpp"

namespace stoker::command_line {
namespace {

nlohmann::json describe_json(const Kernel& kernel) {
  nlohmann::json params = nlohmann::json::array();
  for (const ParamSpec& param : kernel.params) params.push_back(to_json(param));
  nlohmann::json dtypes = nlohmann::json::array();
  for (const DType dtype : kernel.dtypes) dtypes.push_back(to_string(dtype));
  nlohmann::json devices{"cpu"};
  if (kernel.gpu) devices.push_back("vulkan");
  return {{"name", kernel.name},
          {"aliases", kernel.aliases},
          {"family", kernel.family},
          {"summary", kernel.summary},
          {"source", kernel.source},
          {"inputs", {{"min", kernel.inputs.min}, {"max", kernel.inputs.max}}},
          {"dtypes", dtypes},
          {"params", params},
          {"in_place", kernel.in_place},
          {"devices", devices}};
}

void print_kernel(const Kernel& kernel) {
  std::cout << kernel.name;
  for (const std::string& alias : kernel.aliases) std::cout << ", " << alias;
  std::cout << "\n  " << kernel.summary << '\n';
  if (!kernel.source.empty()) std::cout << "  Source: " << kernel.source << '\n';
  std::cout << "\nInputs: " << kernel.inputs.min;
  if (kernel.inputs.max != kernel.inputs.min) std::cout << " to " << kernel.inputs.max;
  std::cout << "\nDtypes of the first:";
  for (const DType dtype : kernel.dtypes) std::cout << ' ' << to_string(dtype);
  std::cout << "\nRuns on: cpu" << (kernel.gpu ? ", vulkan" : "") << '\n';
  if (!kernel.params.empty()) std::cout << "Parameters:\n";
  for (const ParamSpec& param : kernel.params) std::cout << param_lines(param);
}

void print_list(const std::vector<std::shared_ptr<const Kernel>>& kernels) {
  std::map<std::string_view, std::vector<const Kernel*>> families;
  for (const auto& kernel : kernels) families[kernel->family].push_back(kernel.get());
  for (const auto& [family, members] : families) {
    std::cout << family << '\n';
    for (const Kernel* kernel : members)
      std::cout << "  " << std::left << std::setw(22) << kernel->name << kernel->summary << '\n';
  }
}

void print_section(const Kernel& kernel) {
  std::cout << "\n### `" << kernel.name << "`\n\n" << markdown_text(kernel.summary) << "\n\n";
  if (!kernel.source.empty()) std::cout << "Source: " << markdown_text(kernel.source) << "\n\n";
  for (std::size_t i = 0; i < kernel.aliases.size(); ++i)
    std::cout << (i == 0 ? "- Also called: `" : ", `") << kernel.aliases[i] << '`';
  if (!kernel.aliases.empty()) std::cout << '\n';
  std::cout << "- Inputs: " << kernel.inputs.min;
  if (kernel.inputs.max != kernel.inputs.min) std::cout << " to " << kernel.inputs.max;
  std::vector<std::string> dtypes;
  for (const DType dtype : kernel.dtypes) dtypes.emplace_back(to_string(dtype));
  std::cout << "\n- Dtypes of the first: " << dtypes_in_words(dtypes) << "\n- Devices: cpu"
            << (kernel.gpu ? ", vulkan" : "") << '\n';
  if (kernel.in_place) std::cout << "- The output may be the memory of the first input.\n";
  std::cout << param_table("parameter", kernel.params);
}

int print_page() {
  std::map<std::string_view, std::map<std::string_view, const Kernel*>> families;
  for (const auto& kernel : KernelRegistry::builtin().list())
    families[kernel->family][kernel->name] = kernel.get();
  std::cout << page_head(
      "Kernels",
      "The kernels that `Device::run`, `Device::submit`, pipelines and scripts call by name, by "
      "family. In C++ each is\nalso a struct of `stoker::kernels` whose members are its "
      "parameters: `gaussian_blur` is `GaussianBlur`\n([../commands.md](../commands.md)). A "
      "program adds kernels of its own: [../kernels.md](../kernels.md).");
  for (const auto& [family, members] : families) {
    std::cout << "\n## " << family << '\n';
    for (const auto& [name, kernel] : members) print_section(*kernel);
  }
  return ok;
}

int show(const std::string& name, bool json) {
  const System system;
  if (!name.empty()) {
    const auto kernel = system.kernel(name);
    if (json)
      print_json(describe_json(*kernel));
    else
      print_kernel(*kernel);
    return ok;
  }
  if (!json) {
    print_list(system.kernels());
    return ok;
  }
  nlohmann::json list = nlohmann::json::array();
  for (const auto& kernel : system.kernels()) list.push_back(describe_json(*kernel));
  print_json({{"kernels", list}});
  return ok;
}

}  // namespace

void add_kernels(CLI::App& app, Choice& choice) {
  auto* verb = app.add_subcommand("kernels", "List the kernels, or describe one");
  verb->footer(
      "\nExamples:\n  stoker kernels\n  stoker kernels gaussian_blur\n  stoker kernels --json");
  auto name = std::make_shared<std::string>();
  auto* one = verb->add_option("NAME", *name, "A kernel's name or alias");
  verb->add_flag("--json", choice.json, "Parameters, dtypes and devices, as JSON");
  auto is_page = std::make_shared<bool>(false);
  verb->add_flag("--markdown", *is_page, "All kernels as a page of Markdown")->excludes(one);
  verb->callback([&choice, name, is_page] {
    choice.run = [&choice, name, is_page] {
      return *is_page ? print_page() : show(*name, choice.json);
    };
  });
}

}  // namespace stoker::command_line
