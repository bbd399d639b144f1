#include "stoker/pipeline/onnx/reading/reading.hpp"

#include <algorithm>

#include "stoker/runtime/observe/log.hpp"

namespace stoker::onnx {

std::int64_t Reading::assumed_version(std::string_view domain) {
  const auto* const found = std::ranges::find(assumed_versions, domain,
                                              &std::pair<std::string_view, std::int64_t>::first);
  if (found == std::end(assumed_versions)) return 0;
  const auto [name, version] = *found;
  if (assumed_.insert(name).second)
    log_warn("a model uses a domain that it does not import: its newest version is taken",
             {{"domain", std::string{name}},
              {"version", std::to_string(version)},
              {"file", progress.file()}});
  return version;
}

}  // namespace stoker::onnx
