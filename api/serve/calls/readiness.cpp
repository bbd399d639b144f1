#include "stoker/api/serve/calls/readiness.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "stoker/api/serve/row_check.hpp"
#include "stoker/runtime/futures/when.hpp"

namespace stoker::serve {

Future<bool> Readiness::of(const std::string& name, const ServedVersion* version) {
  if (version == nullptr || !version->serving || !version->serving->model().device().ready())
    return make_ready_future<bool>(false);
  const AnyModel& model = version->serving->model();
  const std::shared_ptr<DeviceProbe> probe = probe_of(model.device());
  const bool has_weights =
      this->has_weights(name + "/" + std::to_string(version->number), model, *probe);
  std::vector<Future<bool>> each;
  each.reserve(2);
  each.push_back(probe->computes());
  each.push_back(version->serving->status().then(
      *executor_, [](const Result<ServingStatus>& status) -> Result<bool> {
        return status.has_value() && !status->draining;
      }));
  return when_all(std::move(each))
      .then(*executor_, [has_weights](const Result<std::vector<bool>>& all) -> Result<bool> {
        return has_weights && all.has_value() && (*all)[0] && (*all)[1];
      });
}

Future<bool> Readiness::of_all(const ServedModels::Map& models) {
  std::vector<Future<bool>> each;
  each.reserve(models.size());
  for (const auto& [name, model] : models) {
    const ServedVersion* const version = model.answering();
    if (version != nullptr || model.is_loading()) each.push_back(of(name, version));
  }
  return when_all(std::move(each))
      .then(*executor_, [](const Result<std::vector<bool>>& ready) -> Result<bool> {
        return ready.has_value() && std::ranges::all_of(*ready, std::identity{});
      });
}

std::shared_ptr<DeviceProbe> Readiness::probe_of(const Device& device) {
  const std::lock_guard lock{mutex_};
  std::shared_ptr<DeviceProbe>& probe = probes_[device.name()];
  if (!probe) probe = std::make_shared<DeviceProbe>(device, *executor_);
  return probe;
}

bool Readiness::has_weights(const std::string& name, const AnyModel& model, DeviceProbe& probe) {
  const std::shared_ptr<DeviceClient> device = model.device().client();
  const std::lock_guard lock{mutex_};
  constexpr std::size_t most_known = 4096;  // of versions, most of which have gone
  if (weights_.size() > most_known) weights_.clear();
  Weights& weights = weights_[name];
  if (weights.model != &model) {  // it was just loaded, which has shown that its device computes
    weights = {.model = &model, .there = device};
    probe.has_computed();
  }
  if (weights.there.lock() == device) return true;
  const auto now = executor_->clock().now();
  if (weights.runs || now - weights.tried < DeviceProbe::interval) return false;
  weights.tried = now;
  try {
    static_cast<void>(pool_->run([self = shared_from_this(), name, model, device] {
      bool well = true;
      try {
        try_one_row(model);
      } catch (...) {
        well = false;
      }
      self->tried(name, device, well);
    }));
    weights.runs = true;
  } catch (const Error&) {  // the pool is full: next time
  }
  return false;
}

void Readiness::tried(const std::string& name, const std::shared_ptr<DeviceClient>& device,
                      bool well) {
  const std::lock_guard lock{mutex_};
  Weights& weights = weights_[name];
  weights.runs = false;
  if (well) weights.there = device;
}

}  // namespace stoker::serve
