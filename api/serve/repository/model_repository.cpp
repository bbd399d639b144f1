#include "stoker/api/serve/repository/model_repository.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "stoker/api/actors.hpp"
#include "stoker/api/serve/models/version_switch.hpp"
#include "stoker/api/serve/repository/configured_model.hpp"
#include "stoker/api/serve/repository/repository_folder.hpp"
#include "stoker/api/system.hpp"
#include "stoker/runtime/base/nearest_name.hpp"
#include "stoker/runtime/base/printable.hpp"
#include "stoker/runtime/futures/blocking_pool.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using serve::ConfigForm;
using serve::FolderOfModel;
using serve::ModelConfig;
using serve::StartedVersion;
using serve::VersionSource;
using Folders = std::map<std::string, FolderOfModel, std::less<>>;

constexpr std::uintmax_t most_config_bytes = std::uintmax_t{1} << 20;
/// Requests to load and unload that may wait.
constexpr std::size_t most_waiting = 4096;

[[noreturn]] void refuse_model(ErrorCode code, std::string reason, const std::string& model) {
  throw Error{"repository", code, std::move(reason), {{"model", model}}};
}

/// The model is there, and is not as it must be.
[[noreturn]] void cannot_load(ErrorCode code, std::string reason, const std::string& model) {
  throw Error{"load", code, std::move(reason), {{"model", model}}};
}

std::string text_of(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  std::error_code failure;
  const std::uintmax_t size = fs::file_size(path, failure);
  if (!file || failure)
    throw Error{"config", ErrorCode::io_error, "it cannot be read", {{"file", path.string()}}};
  if (size > most_config_bytes)
    throw Error{
        "config", ErrorCode::limit_exceeded, "it has more than 1 MiB", {{"file", path.string()}}};
  return {std::istreambuf_iterator<char>{file}, {}};
}

ModelConfig config_of(const std::string& name, const FolderOfModel& folder,
                      const ServingOptions& defaults) {
  const fs::path json = folder.path / "config.json";
  const fs::path text = folder.path / "config.pbtxt";
  const bool has_json = fs::exists(json);
  if (has_json && fs::exists(text))
    cannot_load(ErrorCode::invalid_argument, "there are both config.json and config.pbtxt", name);
  if (has_json)
    return serve::read_model_config(serve::read_config(text_of(json), ConfigForm::json), name,
                                    defaults);
  if (fs::exists(text))
    return serve::read_model_config(serve::read_config(text_of(text), ConfigForm::text), name,
                                    defaults);
  return serve::read_model_config({}, name, defaults);
}

/// `wanted`: the name of the file; empty: any that can be loaded, of which there must be one.
fs::path file_of(const std::string& name, const FolderOfModel& folder, std::uint64_t version,
                 const std::string& wanted) {
  std::optional<fs::path> found;
  for (const char* const file : {"model.onnx", "model.safetensors", "model.lua"}) {
    if (!wanted.empty() && wanted != file) continue;
    fs::path path = folder.path / std::to_string(version) / file;
    if (!fs::exists(path)) continue;
    if (found)
      cannot_load(ErrorCode::invalid_argument,
                  "version " + std::to_string(version) + " has more than one model", name);
    found = std::move(path);
  }
  if (!found)
    cannot_load(
        ErrorCode::not_found,
        "version " + std::to_string(version) + " has no " +
            (wanted.empty() ? "model.onnx, model.safetensors or model.lua" : printable(wanted)),
        name);
  return *found;
}

}  // namespace

struct ModelRepository::Impl {
  Impl(const System& host, std::shared_ptr<ServedModels> all, ModelRepositoryOptions given)
      : system{&host},
        models{std::move(all)},
        options{std::move(given)},
        folder{options.directory},
        versions{host.shared_executor(), models} {}

  // On the threads of the pools. What is not const is only for that of loads.

  [[nodiscard]] Folders list() const {
    Folders folders = folder.list();
    std::erase_if(folders, [&](const auto& entry) { return options.others.contains(entry.first); });
    return folders;
  }

  [[nodiscard]] FolderOfModel find(const std::string& name) const {
    if (!options.others.contains(name))
      if (std::optional<FolderOfModel> found = folder.find(name)) return *std::move(found);
    const Folders folders = list();
    std::vector<std::string_view> names;
    names.reserve(folders.size());
    for (const auto& [known, content] : folders) names.emplace_back(known);
    refuse_model(
        ErrorCode::not_found,
        "there is no model '" + printable(name) + "' in the repository" + did_you_mean(name, names),
        name);
  }

  /// What load() begins with. A model that has gone since it was shown as `loading` is not shown so any more.
  [[nodiscard]] FolderOfModel find_to_load(const std::string& name) const {
    try {
      return find(name);
    } catch (...) {
      if (!options.others.contains(name) && models->snapshot()->contains(name))
        models->update(name, [](ServedModel& model) {
          std::erase_if(model.versions, [](const auto& entry) {
            return entry.second.state == ModelState::loading;
          });
        });
      throw;
    }
  }

  [[nodiscard]] StartedVersion start(const std::string& name, std::uint64_t version,
                                     const FolderOfModel& found, const ModelConfig& config) {
    LoadModelOptions load = options.load;
    if (!config.device.empty()) load.device = system->device(config.device);
    load.precision = config.precision;
    const AnyModel model = load_model(file_of(name, found, version, config.model_file), load);
    require_agreement(config, model);
    StartedVersion started{.labels = serve::read_labels(config, found.path)};
    ServingOptions serving = config.serving;
    serving.name = name + " " + std::to_string(version) + " #" + std::to_string(++starts);
    for (const serve::WarmUpSample& sample : config.samples) {
      const NamedValues inputs = serve::inputs_of(sample, model.device());
      for (std::uint64_t n = 0; n < sample.times; ++n) model.warm_up(inputs);
      const bool is_random = std::ranges::all_of(sample.inputs, &serve::WarmUpInput::random);
      if (serving.sample.empty() && is_random) serving.sample = inputs;  // rows of zeros are alike
    }
    started.serving = start_serving(system->supervisor(), model, serving);
    return started;
  }

  [[nodiscard]] std::vector<VersionSource> known(const FolderOfModel& found) const {
    std::vector<VersionSource> sources;
    sources.reserve(found.versions.size());
    for (const auto& [number, files] : found.versions)
      sources.push_back({.number = number, .content = files + found.files});
    return sources;
  }

  [[nodiscard]] std::vector<VersionSource> wanted(const std::string& name,
                                                  const FolderOfModel& found) {
    std::vector<VersionSource> sources = known(found);
    std::vector<std::uint64_t> numbers;
    numbers.reserve(sources.size());
    for (const VersionSource& source : sources) numbers.push_back(source.number);
    try {
      const auto config =
          std::make_shared<const ModelConfig>(config_of(name, found, options.serving));
      const std::vector<std::uint64_t> chosen = config->versions.chosen(numbers);
      for (VersionSource& source : sources) {
        if (std::ranges::find(chosen, source.number) == chosen.end())
          source.reason = "version_policy leaves it out";
        else
          source.start = [this, name, found, config, number = source.number] {
            return start(name, number, found, *config);
          };
      }
    } catch (...) {
      const Error error = error_from_current_exception("config");
      // No version can be loaded. The index has the reason at the highest one.
      for (VersionSource& source : sources) source.start = nullptr;
      sources.back().content.clear();
      sources.back().start = [error]() -> StartedVersion { throw error; };
    }
    return sources;
  }

  void load(const std::string& name, const FolderOfModel& found) {
    tried[name] = found;
    if (found.versions.empty()) {
      versions.know(name, {}, "it has no version");
      cannot_load(ErrorCode::not_found, "model '" + name + "' has no version", name);
    }
    versions.load(name, wanted(name, found));
  }

  /// Whether the index shows what is there.
  [[nodiscard]] static bool is_shown(const ServedModels::Map& shown, const std::string& name,
                                     const FolderOfModel& found) {
    const auto model = shown.find(name);
    if (model == shown.end()) return false;
    const auto& numbers = model->second.versions;
    return std::ranges::all_of(found.versions,
                               [&](const auto& entry) { return numbers.contains(entry.first); }) &&
           std::ranges::all_of(numbers, [&](const auto& entry) {
             return entry.second.state != ModelState::unavailable ||
                    found.versions.contains(entry.first);
           });
  }

  [[nodiscard]] static bool is_in_use(const ServedModel& model) {
    return model.answering() != nullptr || model.is_loading();
  }

  /// Shows what the directory has. `before`: what was shown before it was listed. A load may run meanwhile.
  void know(const ServedModels::Map& before, const Folders& now, ModelState state) const {
    for (const auto& [name, found] : now)
      if (!is_shown(before, name, found))
        versions.know(name, known(found), found.versions.empty() ? "it has no version" : "", state);
    for (const auto& [name, model] : before)
      if (!options.others.contains(name) && !now.contains(name) && !is_in_use(model))
        models->update(name, [](ServedModel& gone) {
          if (!is_in_use(gone)) gone = {};
        });
  }

  void poll() {
    const Folders now = list();
    const auto is_settled = [&](const std::string& name, const FolderOfModel& found) {
      const auto last = looked.find(name);
      return last != looked.end() && last->second == found;
    };
    for (const auto& [name, found] : now) {
      const auto last = tried.find(name);
      if (!is_settled(name, found) || (last != tried.end() && last->second == found)) continue;
      try {
        load(name, found);
      } catch (const std::exception& error) {
        log_error("a model of the repository is not loaded",
                  {{"model", name}, {"error", error.what()}});
      }
    }
    std::vector<std::string> gone;
    for (const auto& [name, found] : tried) {
      std::error_code unknown;  // too many open files are no reason to unload a model
      if (!now.contains(name) && !looked.contains(name) && !fs::exists(found.path, unknown) &&
          !unknown)
        gone.push_back(name);
    }
    for (const std::string& name : gone) {
      tried.erase(name);
      versions.unload(name, true);
    }
    looked = now;
  }

  const System* const system;
  const std::shared_ptr<ServedModels> models;
  const ModelRepositoryOptions options;
  const serve::RepositoryFolder folder;
  serve::VersionSwitch versions;
  Folders tried;   // as they were when they were loaded, or could not be
  Folders looked;  // at the last poll
  std::uint64_t starts = 0;
  BlockingPool pool{{.threads = 1, .queue = most_waiting}};
  BlockingPool looks{{.threads = 1, .queue = most_waiting}};  // they do not wait for loads
};

ModelRepository::ModelRepository(const System& system, std::shared_ptr<ServedModels> models,
                                 ModelRepositoryOptions options)
    : impl_{std::make_unique<Impl>(system, std::move(models), std::move(options))} {
  if (!fs::is_directory(impl_->options.directory))
    throw Error{"repository",
                ErrorCode::not_found,
                "no such directory",
                {{"directory", impl_->options.directory.string()}}};
}

ModelRepository::~ModelRepository() {
  const Future<void> looked = impl_->looks.close();
  static_cast<void>(impl_->pool.close().wait());
  static_cast<void>(looked.wait());
}

Future<std::vector<std::string>> ModelRepository::look(ModelState state) const {
  return impl_->looks.run([impl = impl_.get(), state] {
    const ServedModels::Snapshot before = impl->models->snapshot();
    const Folders now = impl->list();
    impl->know(*before, now, state);
    std::vector<std::string> names;
    names.reserve(now.size());
    for (const auto& [name, found] : now) names.push_back(name);
    return names;
  });
}

Future<void> ModelRepository::load(std::string name) const {
  return impl_->pool.run(
      [impl = impl_.get(), name = std::move(name)] { impl->load(name, impl->find_to_load(name)); });
}

Future<void> ModelRepository::unload(std::string name) const {
  return impl_->pool.run([impl = impl_.get(), name = std::move(name)] {
    const ServedModels::Snapshot models = impl->models->snapshot();
    // What is served may be unloaded, also if its directory is gone.
    const bool is_ours = !impl->options.others.contains(name) && models->contains(name);
    if (!is_ours) static_cast<void>(impl->find(name));
    impl->versions.unload(name, false);
  });
}

Future<void> ModelRepository::poll() const {
  return impl_->pool.run([impl = impl_.get()] { impl->poll(); });
}

}  // namespace stoker
