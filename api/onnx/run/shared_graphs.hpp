// The graphs that models of a device run: one for all loads of one file with the same passes and precision, with all
// that stands on its weights, such as those that passes or rules have made.
//
// Ownership: models keep the graphs. The table forgets what none keeps, so memory comes back with the last model.
// Threads: any. SharedGraphs is made by a device's DeviceExtensions.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/precision.hpp"
#include "stoker/api/onnx/run/constants.hpp"
#include "stoker/api/onnx/run/prepared.hpp"

namespace stoker::onnx {

struct LoadedGraph {
  /// `graph`: what passes and a precision made of `file`. Throws what Prepared does.
  LoadedGraph(std::shared_ptr<const ModelFile> file, std::shared_ptr<const ModelFile> graph,
              const OperatorTable& operators, PlanChoices choices,
              std::optional<PrecisionReport> report = {})
      : as_read{std::move(file)},
        prepared{std::move(graph), operators, choices},
        precision{std::move(report)} {}

  const std::shared_ptr<const ModelFile> as_read;
  const Prepared prepared;
  const std::optional<PrecisionReport> precision;  ///< nothing if none was asked for
  Constants constants;
};
using LoadedGraphPtr = std::shared_ptr<LoadedGraph>;

class SharedGraphs {
 public:
  /// Tells apart files, as they were when they were opened, passes and precisions. Nothing if a part of the
  /// model has no identity (files::ByteSource): such a graph has no name.
  [[nodiscard]] static std::optional<std::string> name_of(const ModelFile& file,
                                                          std::span<const Pass* const> passes,
                                                          Precision precision);

  /// Null unless there is one of that name that was read as `file` was.
  [[nodiscard]] LoadedGraphPtr find(const std::string& name, const ModelFile& file);
  /// The one that find() gives, or `made`, which it gives from now on.
  LoadedGraphPtr keep(const std::string& name, const LoadedGraphPtr& made);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<LoadedGraph>> graphs_;  // guarded by mutex_
};

}  // namespace stoker::onnx
