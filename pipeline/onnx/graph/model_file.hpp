// The contents of an ONNX file: the graph, the operators' versions, the model's own functions, and
// its origin. https://onnx.ai/onnx/repo-docs/IR.html
//
// Plain values, which any thread may read. Tensors may be in `files`, which are mapped. If a mapped file
// is truncated, reading it ends the process with SIGBUS.
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

/// Operators of `domain` have the meaning of its version `version`.
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
  std::vector<std::string> attributes;  ///< attributes without a default
  std::vector<Attribute> defaults;      ///< attributes with a default
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
  std::vector<Function> functions;  ///< empty after they are inlined
  Graph graph;
  /// The model's file and the files of external data.
  std::vector<std::shared_ptr<const files::ByteSource>> files;

  /// The imported version of the domain; 0 if it is not imported.
  [[nodiscard]] std::int64_t opset(std::string_view of_domain) const noexcept;
};

}  // namespace stoker::onnx
