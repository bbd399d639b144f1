// All that an ONNX file says: the graph, the operators' versions, functions of its own, and where
// it comes from.
// https://onnx.ai/onnx/repo-docs/IR.html
//
// Plain values; immutable once read. Tensors may lie in `files`, which are mapped: one that is
// shortened meanwhile ends the process with SIGBUS when it is read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/pipeline/onnx/graph/graph.hpp"

namespace stoker::files {
class ByteSource;
}  // namespace stoker::files

namespace stoker::onnx {

/// Operators of `domain` mean what they mean in its version `version`.
struct OpsetImport {
  std::string domain;  ///< empty: ONNX's own
  std::int64_t version = 0;
};

/// An operator that the model itself defines.
struct Function {
  std::string domain;
  std::string name;
  std::string overload;
  std::string doc;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attributes;  ///< those without a default
  std::vector<Attribute> defaults;      ///< those with one
  std::vector<OpsetImport> opsets;
  std::vector<Node> nodes;
  std::vector<ValueInfo> values;
};

struct ModelFile {
  std::int64_t ir_version = 0;
  std::vector<OpsetImport> opsets;
  std::string producer_name;
  std::string producer_version;
  std::string domain;
  std::int64_t model_version = 0;
  std::string doc;
  Metadata metadata;
  std::vector<Function> functions;  ///< empty when they are inlined
  Graph graph;
  /// The model's file and those of external data.
  std::vector<std::shared_ptr<const files::ByteSource>> files;

  /// The version that is imported of the domain; 0 if it is not.
  [[nodiscard]] std::int64_t opset(std::string_view of_domain) const noexcept;
};

}  // namespace stoker::onnx
