#include "stoker/api/serve/http/service_metrics.hpp"

#include <string>
#include <vector>

#include "stoker/api/serve/http/watch/serving_metrics.hpp"
#include "stoker/runtime/observe/prometheus.hpp"

namespace stoker::serve::http {

Future<HttpAnswerPtr> metrics_answer(Executor& executor, const MetricSources& sources,
                                     const ServedModels::Map& models) {
  return statuses_of(executor, models)
      .then(executor,
            [sources](const Result<std::vector<ModelStatus>>& statuses) -> Result<HttpAnswerPtr> {
              PrometheusWriter text;
              write_metrics(text, sources.system->snapshot());
              if (statuses) {
                write_serving_metrics(text, *statuses);
                write_device_metrics(text, *statuses);
                if (sources.triton) write_triton_metrics(text, *statuses);
              }
              write_http_metrics(text, *sources.http);
              return std::make_shared<const HttpAnswer>(
                  HttpAnswer{.content_type = std::string{prometheus_content_type},
                             .headers = {},
                             .body = text.take()});
            });
}

}  // namespace stoker::serve::http
