#include "stoker/api/serve/models/version_switch.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "stoker/runtime/observe/log.hpp"

namespace stoker::serve {

/// A serving that is on its way out.
struct VersionSwitch::Leaving {
  std::shared_ptr<ServedModels> models;
  std::string name;
  std::uint64_t number = 0;
  std::uint64_t unloading = 0;
  bool is_shown = false;
  bool forget = false;
  std::optional<Serving> serving;
  std::shared_ptr<const VersionUse> use;

  /// The serving has ended. Its memory goes before anybody is told.
  void tell() {
    serving.reset();
    if (!is_shown) return;
    models->update(name, [&](ServedModel& model) {
      const auto place = model.versions.find(number);
      if (place != model.versions.end() && place->second.state == ModelState::unloading &&
          place->second.unloading == unloading) {
        if (forget)
          model.versions.erase(place);
        else
          place->second = {.number = number, .reason = "unloaded"};
      }
    });
  }
};

namespace {

bool is_known(const std::vector<VersionSource>& sources, std::uint64_t number) {
  return std::ranges::find(sources, number, &VersionSource::number) != sources.end();
}

/// Forgets what is neither known nor on its way in or out.
void drop_unknown(ServedModel& model, const std::vector<VersionSource>& sources) {
  std::erase_if(model.versions, [&](const auto& entry) {
    return entry.second.state == ModelState::unavailable && !is_known(sources, entry.first);
  });
}

}  // namespace

bool VersionSwitch::is_served(const std::string& name, const VersionSource& source) const {
  std::optional<Serving> serving;
  {
    const ServedModels::Snapshot models = models_->snapshot();
    const auto model = models->find(name);
    if (model == models->end()) return false;
    const auto version = model->second.versions.find(source.number);
    if (version == model->second.versions.end() || source.content.empty() ||
        version->second.content != source.content)
      return false;
    serving = version->second.serving;
  }
  return serving && serving->status().wait().has_value();  // else it has ended
}

std::shared_ptr<VersionSwitch::Leaving> VersionSwitch::take_out(const std::string& name,
                                                                ServedVersion& version,
                                                                bool is_shown, bool forget) {
  auto leaving = std::make_shared<Leaving>(Leaving{.models = models_,
                                                   .name = name,
                                                   .number = version.number,
                                                   .unloading = ++unloadings_,
                                                   .is_shown = is_shown,
                                                   .forget = forget,
                                                   .serving = std::move(version.serving),
                                                   .use = std::move(version.use)});
  version = {.number = version.number,
             .state = ModelState::unloading,
             .platform = version.platform,
             .unloading = leaving->unloading};
  return leaving;
}

void VersionSwitch::end(std::vector<std::shared_ptr<Leaving>> leaving) const {
  for (std::shared_ptr<Leaving>& each : leaving) {
    const Future<void> gone = each->use->gone();
    each->use.reset();
    // A request that has found this version, and has not sent its inputs yet, must not be refused.
    static_cast<void>(gone.then(*executor_, [each, executor = executor_](const Result<void>&) {
      static_cast<void>(
          each->serving->drain().then(*executor, [each, executor](const Result<void>&) {
            static_cast<void>(each->serving->stop().then(
                *executor, [each](const Result<ExitReason>&) { each->tell(); }));
          }));
    }));
  }
}

void VersionSwitch::load(const std::string& name, const std::vector<VersionSource>& sources) {
  std::vector<const VersionSource*> wanted;
  wanted.reserve(sources.size());
  for (const VersionSource& source : sources)
    if (source.start && !is_served(name, source)) wanted.push_back(&source);
  models_->update(name, [&](ServedModel& model) {
    model.reason.clear();
    for (const VersionSource* const source : wanted) {
      ServedVersion& version = model.versions[source->number];
      if (version.state != ModelState::ready)
        version = {.number = source->number, .state = ModelState::loading};
    }
  });

  std::map<std::uint64_t, ServedVersion> started;
  std::map<std::uint64_t, Error> failed;
  for (const VersionSource* const source : wanted) {
    try {
      const StartedVersion made = source->start();
      ServedVersion version = ready_version(source->number, made.serving);
      version.labels = made.labels;
      version.content = source->content;
      started.emplace(source->number, std::move(version));
    } catch (...) {
      failed.emplace(source->number, error_from_current_exception("load"));
    }
  }

  std::vector<std::shared_ptr<Leaving>> leaving;
  models_->update(name, [&](ServedModel& model) {
    for (auto& [number, version] : started) {
      ServedVersion& place = model.versions[number];
      if (place.state == ModelState::ready) leaving.push_back(take_out(name, place, false, false));
      place = std::move(version);
    }
    for (const auto& [number, error] : failed) {
      ServedVersion& place = model.versions[number];
      if (place.state == ModelState::ready)
        place.reason = std::string{"the last load failed: "} + error.what();
      else
        place = {.number = number, .reason = error.what()};
    }
    for (const VersionSource& source : sources)
      if (!source.start) model.versions.try_emplace(source.number, ServedVersion{});
    for (auto& [number, version] : model.versions) {
      const auto source = std::ranges::find(sources, number, &VersionSource::number);
      const bool is_wanted = source != sources.end() && source->start;
      if (is_wanted && version.state == ModelState::ready && !failed.contains(number))
        version.reason.clear();
      if (is_wanted || version.state == ModelState::unloading) continue;
      if (version.state != ModelState::ready)
        version = {.number = number, .reason = source != sources.end() ? source->reason : ""};
      else if (failed.empty())
        leaving.push_back(take_out(name, version, true, source == sources.end()));
    }
    drop_unknown(model, sources);
  });
  end(std::move(leaving));
  if (failed.empty()) return;
  for (const auto& [number, error] : failed)
    log_warn("a model could not be loaded",
             {{"model", name}, {"version", std::to_string(number)}, {"error", error.what()}});
  throw failed.begin()->second;
}

void VersionSwitch::unload(const std::string& name, bool forget) {
  std::vector<std::shared_ptr<Leaving>> leaving;
  models_->update(name, [&](ServedModel& model) {
    if (forget) {
      model.reason.clear();
      std::erase_if(model.versions,
                    [](const auto& entry) { return entry.second.state != ModelState::ready; });
    }
    for (auto& [number, version] : model.versions)
      if (version.state == ModelState::ready)
        leaving.push_back(take_out(name, version, true, forget));
  });
  end(std::move(leaving));
}

void VersionSwitch::know(const std::string& name, const std::vector<VersionSource>& sources,
                         const std::string& reason, ModelState state) const {
  models_->update(name, [&](ServedModel& model) {
    model.reason = reason;
    for (const VersionSource& source : sources)
      model.versions.try_emplace(source.number,
                                 ServedVersion{.number = source.number, .state = state});
    drop_unknown(model, sources);
  });
}

}  // namespace stoker::serve
