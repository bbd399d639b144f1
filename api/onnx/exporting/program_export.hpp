// Turns the program that computes some tensors into nodes of a graph, by the rules of a table.
//
// Every argument is given for three traces, which differ in the size of the batch; they are equal if it is
// fixed.
//
// Threads: one. Lifetime: its references must outlive it. Errors are thrown: unsupported, with all operations that
// have no ONNX form, by check(); invalid_argument if the traces differ in their operations.
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
  /// Names of leaves: for parameters the names of values in the graph, for known leaves the names for
  /// their weights.
  using Given = std::unordered_map<const expr::Node*, std::string>;

  ProgramExport(GraphMaker& graph, const ExportTable& table, BatchSizes sizes, const Given& weights)
      : graph_{graph}, table_{table}, sizes_{sizes}, weight_names_{weights} {}

  [[nodiscard]] GraphMaker& graph() const noexcept { return graph_; }
  [[nodiscard]] const BatchSizes& sizes() const noexcept { return sizes_; }

  /// The names of the results. Blocks on weights that are still computed.
  [[nodiscard]] Names add(const Traced<std::span<const expr::Value>>& results,
                          const Given& parameters);
  /// Throws if any added operation has no ONNX form.
  void check() const;

 private:
  std::string weights_of(const expr::Value& leaf);
  void note(const std::string& operation, std::string why);

  GraphMaker& graph_;
  const ExportTable& table_;
  const BatchSizes sizes_;
  const Given& weight_names_;
  std::map<std::pair<const expr::Node*, std::uint32_t>, std::string> weights_;  // in the graph
  std::vector<Detail> refused_;  // operations with reasons, each once
};

}  // namespace stoker::onnx
