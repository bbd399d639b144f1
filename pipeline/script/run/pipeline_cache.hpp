// The compiled pipelines of one script, by structure: a loop that makes the same calls with other
// values compiles once. The least recently used go first.
//
// Threads: the script's process only.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/pipeline/script/run/evaluation_plan.hpp"

namespace stoker {
class CompiledPipeline;
}  // namespace stoker

namespace stoker::script {

class PipelineCache {
 public:
  static constexpr std::size_t max_pipelines = 64;

  explicit PipelineCache(std::shared_ptr<DeviceClient> device) : device_{std::move(device)} {}

  /// The pipeline of the plan's structure. Errors: what the device cannot do, with the kernel, its
  /// inputs and the line of the call.
  [[nodiscard]] Result<std::shared_ptr<CompiledPipeline>> get(const EvaluationPlan& plan);
  /// How many were compiled so far.
  [[nodiscard]] std::uint64_t compiled() const noexcept { return compiled_; }

 private:
  using Entries = std::list<std::pair<std::string, std::shared_ptr<CompiledPipeline>>>;

  const std::shared_ptr<DeviceClient> device_;
  std::uint64_t compiled_ = 0;
  Entries entries_;                                             // newest first
  std::map<std::string_view, Entries::iterator> by_structure_;  // keys lie in entries_
};

}  // namespace stoker::script
