// `stoker devices`: the devices there are.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "stoker/api/command_line/output.hpp"
#include "stoker/api/command_line/verbs.hpp"

namespace stoker::command_line {
namespace {

int list_devices(bool json) {
  const System system;
  const auto devices = system.devices();
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const DeviceInfo& info : devices) list.push_back(to_json(info));
    print_json({{"devices", list}});
    return ok;
  }
  std::cout << std::left << std::setw(12) << "NAME" << std::setw(16) << "TYPE" << std::setw(12)
            << "MEMORY"
            << "DESCRIPTION\n";
  for (const DeviceInfo& info : devices) {
    std::cout << std::setw(12) << info.name << std::setw(16) << to_string(info.type)
              << std::setw(12) << (info.memory_bytes == 0 ? "-" : readable_bytes(info.memory_bytes))
              << info.description;
    if (!info.driver.empty()) std::cout << " (" << info.driver << ")";
    std::cout << '\n';
  }
  return ok;
}

}  // namespace

void add_devices(CLI::App& app, Choice& choice) {
  auto* verb = app.add_subcommand("devices", "List the devices, best first");
  verb->footer(
      "The first one is used unless --device or STOKER_DEVICE name another; a software Vulkan and\n"
      "null, which computes nothing, only if they are named.");
  verb->add_flag("--json", choice.json, "Everything known of each device, as JSON");
  verb->callback([&choice] { choice.run = [&choice] { return list_devices(choice.json); }; });
}

}  // namespace stoker::command_line
