#include "stoker/api/serve/calls/readiness.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "stoker/runtime/futures/when.hpp"

namespace stoker::serve {

Future<bool> is_ready(Executor& executor, const ServedModel& model) {
  if (!model.serving || !model.serving->model().device().ready())
    return make_ready_future<bool>(false);
  return model.serving->status().then(executor,
                                      [](const Result<ServingStatus>& status) -> Result<bool> {
                                        return status.has_value() && !status->draining;
                                      });
}

Future<bool> are_ready(Executor& executor, const ServedModels::Map& models) {
  std::vector<Future<bool>> each;
  each.reserve(models.size());
  for (const auto& [name, model] : models) each.push_back(is_ready(executor, model));
  return when_all(std::move(each))
      .then(executor, [](const Result<std::vector<bool>>& ready) -> Result<bool> {
        return ready.has_value() && std::ranges::all_of(*ready, std::identity{});
      });
}

}  // namespace stoker::serve
