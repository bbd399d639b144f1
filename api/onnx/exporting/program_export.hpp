// Turns what computes some tensors into nodes of a graph, by the rules of a table.
//
// Each thing is given in three traces, which differ in the size of the batch; all are one where it is fixed.
//
// Threads: one. What it refers to outlives it. Errors are thrown: unsupported, with all operations that have no ONNX
// form, by check(); invalid_argument where the traces are not alike.
#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "stoker/api/onnx/exporting/export_table.hpp"
#include "stoker/pipeline/tensor/graph/function.hpp"

namespace stoker::onnx {

class ProgramExport {
 public:
  /// Names of leaves: of parameters those of values in the graph, of known ones those that weights get.
  using Given = std::unordered_map<const expr::Node*, std::string>;

  ProgramExport(GraphMaker& graph, const ExportTable& table, BatchSizes sizes, const Given& weights)
      : graph_{graph}, table_{table}, sizes_{sizes}, weight_names_{weights} {}

  [[nodiscard]] GraphMaker& graph() const noexcept { return graph_; }
  [[nodiscard]] const BatchSizes& sizes() const noexcept { return sizes_; }

  /// The names of the results. Blocks on weights that are still computed.
  [[nodiscard]] Names add(const Traced<std::span<const expr::Value>>& results,
                          const Given& parameters);
  /// Throws unless all that was added has an ONNX form.
  void check() const;

 private:
  std::string weights_of(const expr::Value& leaf);
  void note(const std::string& operation, std::string why);

  GraphMaker& graph_;
  const ExportTable& table_;
  const BatchSizes sizes_;
  const Given& weight_names_;
  std::map<std::pair<const expr::Node*, std::uint32_t>, std::string> weights_;  // in the graph
  std::vector<Detail> refused_;  // operations and why, each once
};

}  // namespace stoker::onnx
