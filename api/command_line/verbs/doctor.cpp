// `stoker doctor`: why each driver and device was taken or rejected, and whether each device
// computes.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "stoker/api/command_line/output.hpp"
#include "stoker/api/command_line/verbs.hpp"
#include "stoker/api/version.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/runtime/base/printable.hpp"
#include "stoker/runtime/settings.hpp"

namespace stoker::command_line {
namespace {

struct Check {
  std::string device;
  bool works = false;
  std::string reason;
};

/// Opens the device and adds two vectors on it.
Check check(const System& system, const DeviceInfo& info) {
  try {
    const auto begin = std::chrono::steady_clock::now();
    const Device device = system.device(info.name);
    const Buffer sum =
        device.run("add", {device.buffer({1.0F, 2.0F}), device.buffer({10.0F, 20.0F})});
    const std::vector<float> values = sum.read<float>().get();
    const bool right = info.type == DeviceType::null || values == std::vector<float>{11, 22};
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    if (!right) return {info.name, false, "adds wrongly"};
    return {info.name, true,
            "opened and added two vectors in " + std::to_string(time.count()) + " ms"};
  } catch (const std::exception&) {
    return {info.name, false, error_from_current_exception("doctor").what()};
  }
}

/// The environment as far as it decides something here.
std::vector<std::pair<std::string, std::string>> environment_given() {
  std::vector<std::string> names;
  for (const Setting& setting : settings()) names.emplace_back(setting.name);
  names.insert(names.end(), {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"});
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::string& name : names)
    if (auto value = environment(name)) found.emplace_back(name, *std::move(value));
  return found;
}

/// What work runs on unless it says otherwise; the error if STOKER_DEVICE names none.
Result<std::string> default_device(const System& system) {
  try {
    return system.device().name();
  } catch (const Error& error) {
    return error;
  }
}

int examine(bool json) {
  const System system;
  const auto findings = system.diagnose();
  std::vector<Check> checks;
  for (const DeviceInfo& info : system.devices()) checks.push_back(check(system, info));
  const Result<std::string> chosen = default_device(system);
  bool healthy = false;
  for (const Check& one : checks)
    healthy = healthy || (chosen && one.device == *chosen && one.works);

  if (json) {
    nlohmann::json taken = nlohmann::json::array();
    for (const Diagnosis& one : findings)
      taken.push_back(
          {{"subject", one.subject}, {"accepted", one.accepted}, {"reason", one.reason}});
    nlohmann::json checked = nlohmann::json::array();
    for (const Check& one : checks)
      checked.push_back({{"device", one.device}, {"works", one.works}, {"reason", one.reason}});
    nlohmann::json variables = nlohmann::json::object();
    for (const auto& [name, value] : environment_given()) variables[name] = value;
    nlohmann::json report = {{"version", version},
                             {"cpu_kernels", cpu_isa()},
                             {"cache_dir", system.config().cache_dir},
                             {"environment", variables},
                             {"findings", taken},
                             {"checks", checked}};
    if (chosen)
      report["default_device"] = *chosen;
    else
      report["error"] = to_json(chosen.error());
    print_json(report);
    return healthy ? ok : failed;
  }
  std::cout << "stoker " << version << ", CPU kernels for " << cpu_isa() << ", cache in "
            << (system.config().cache_dir.empty() ? "memory only" : system.config().cache_dir)
            << '\n';
  for (const auto& [name, value] : environment_given())
    std::cout << name << "=" << printable(value) << '\n';
  std::cout << "\nDrivers and devices\n";
  for (const Diagnosis& one : findings)
    std::cout << (one.accepted ? "  taken     " : "  rejected  ") << one.subject << ": "
              << one.reason << '\n';
  std::cout << "\nChecks\n";
  for (const Check& one : checks)
    std::cout << (one.works ? "  works     " : "  FAILS     ") << one.device << ": " << one.reason
              << '\n';
  if (chosen)
    std::cout << "\nWork runs on " << *chosen << " unless --device names another.\n";
  else
    std::cout << "\nThere is no default device: " << describe(chosen.error());
  return healthy ? ok : failed;
}

}  // namespace

void add_doctor(CLI::App& app, Choice& choice) {
  auto* verb = app.add_subcommand(
      "doctor", "Say why each driver and device was taken or rejected, and try each");
  verb->footer("Ends with 0 if the device that work runs on computes rightly, else with 1.");
  verb->add_flag("--json", choice.json, "The same as JSON");
  verb->callback([&choice] { choice.run = [&choice] { return examine(choice.json); }; });
}

}  // namespace stoker::command_line
