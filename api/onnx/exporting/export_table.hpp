// The table of rules that turn operations on tensors into nodes of ONNX.
//
// A rule is in the file of its family in api/onnx/exports; the families are those of
// pipeline/tensor/ops:
//
//     void define(ExportTable& table) {
//       table.add("tanh", [](ExportCall& call) { return Names{call.node("Tanh", call.operands())}; });
//     }
//
// CMake finds the file; nothing else is edited.
//
// Threads: any thread may read a table; one thread may change it while no other reads it. Errors are thrown:
// already_exists for an operation that has a rule.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "stoker/api/onnx/exporting/export_call.hpp"

namespace stoker::onnx {

/// Returns the names of the operation's outputs. Throws by ExportCall::refuse() if there is no ONNX form.
using ExportRule = std::function<Names(ExportCall& call)>;

class ExportTable {
 public:
  void add(const std::string& operation, ExportRule rule);
  /// Null if the operation has none.
  [[nodiscard]] const ExportRule* find(std::string_view operation) const noexcept;

  /// Stoker's own. Made at the first call.
  [[nodiscard]] static const ExportTable& standard();

 private:
  std::map<std::string, ExportRule, std::less<>> rules_;
};

}  // namespace stoker::onnx
