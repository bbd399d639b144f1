// The graphs of a device's models: one for all loads of one file with the same passes and precision, together with
// everything derived from its weights, such as weights that passes or rules have made.
//
// Ownership: models keep the graphs alive; the table does not. So the memory is freed with the last model.
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
  /// `graph`: the result of passes and a precision for `file`. Throws the errors of Prepared.
  LoadedGraph(std::shared_ptr<const ModelFile> file, std::shared_ptr<const ModelFile> graph,
              const OperatorTable& operators, PlanChoices choices,
              std::optional<PrecisionReport> report = {})
      : as_read{std::move(file)},
        prepared{std::move(graph), operators, choices},
        precision{std::move(report)} {}

  const std::shared_ptr<const ModelFile> as_read;
  const Prepared prepared;
  const std::optional<PrecisionReport> precision;  ///< nothing unless one was requested
  Constants constants;
};
using LoadedGraphPtr = std::shared_ptr<LoadedGraph>;

class SharedGraphs {
 public:
  /// A name that identifies the file in its state when it was opened, the passes and the precision. Nothing
  /// if a part of the model has no identity (files::ByteSource).
  [[nodiscard]] static std::optional<std::string> name_of(const ModelFile& file,
                                                          std::span<const Pass* const> passes,
                                                          Precision precision);

  /// The graph of that name, if it was read from the same state of the file as `file`; otherwise
  /// null.
  [[nodiscard]] LoadedGraphPtr find(const std::string& name, const ModelFile& file);
  /// Returns the result of find() if there is one; otherwise keeps and returns `made`.
  LoadedGraphPtr keep(const std::string& name, const LoadedGraphPtr& made);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<LoadedGraph>> graphs_;  // guarded by mutex_
};

}  // namespace stoker::onnx
