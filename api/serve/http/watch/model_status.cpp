#include "stoker/api/serve/http/watch/model_status.hpp"

#include <optional>
#include <utility>

#include "stoker/runtime/futures/when.hpp"

namespace stoker::serve::http {

Future<std::vector<ModelStatus>> statuses_of(Executor& executor, const ServedModels::Map& models) {
  using Found = std::optional<ModelStatus>;
  std::vector<Future<Found>> each;
  each.reserve(models.size());
  for (const auto& [name, served] : models) {
    for (const auto& [number, version] : served.versions) {
      if (!version.serving) continue;
      ModelStatus one{.name = name,
                      .version = std::to_string(number),
                      .model = version.serving->model(),
                      .status = {}};
      each.push_back(version.serving->status().then(
          executor, [one = std::move(one)](const Result<ServingStatus>& status) -> Result<Found> {
            if (!status) return Found{};
            Found found{one};
            found->status = *status;
            return found;
          }));
    }
  }
  return when_all(std::move(each))
      .then(executor,
            [](const Result<std::vector<Found>>& all) -> Result<std::vector<ModelStatus>> {
              std::vector<ModelStatus> found;
              if (!all) return found;
              found.reserve(all->size());
              for (const Found& one : *all)
                if (one) found.push_back(*one);
              return found;
            });
}

}  // namespace stoker::serve::http
