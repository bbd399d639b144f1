// The description of a model that `stoker onnx info` shows: what its file declares, and what Stoker
// supports of it.
//
//     const onnx::Description faces = model.info();
//     const onnx::Description stranger = onnx::describe(file);        // also if it cannot be loaded
//
// Plain values. Texts come from the file and may hold any bytes: pass them through printable()
// before you show them. describe() opens no device and reads no weights; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/optimize/precision.hpp"
#include "stoker/pipeline/onnx/graph/model_file.hpp"

namespace stoker::onnx {

/// What the file declares about itself.
struct ModelMetadata {
  std::string producer_name, producer_version, domain, doc;
  std::int64_t ir_version = 0;
  std::int64_t model_version = 0;
  std::vector<OpsetImport> opsets;
  Metadata properties;
};

struct Description {
  struct Input {
    ValueInfo value;
    bool has_default = false;  ///< it has an initializer: a run may omit it
  };
  /// Initializers and the tensors of Constant nodes, in all graphs.
  struct Parameters {
    std::size_t tensors = 0;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;  ///< in the files
  };
  struct OperatorUse {
    std::string domain;  ///< empty: ONNX's own
    std::string name;
    int version = 0;  ///< the last one that the opset has; 0: unknown
    std::size_t count = 0;
  };
  struct UnsupportedNode {
    std::string place;  ///< Node::place(), escaped
    std::string domain, name;
    std::int64_t opset = 0;
    std::string why;
  };
  /// The first dimension of the required inputs, as the file declares it; usually the batch. No
  /// file states whether the rows of a batch are computed independently of one another.
  struct FirstAxis {
    enum class Kind : std::uint8_t {
      free,    ///< the same symbol in all, or unknown in all
      fixed,   ///< the same extent in all
      unlike,  ///< the inputs differ, or one has no axis
    };
    Kind kind = Kind::unlike;
    std::string symbol = {};  ///< of a free axis; empty: unknown
    std::int64_t extent = 0;  ///< of a fixed axis
  };

  ModelMetadata metadata;
  std::string graph;
  std::vector<Input> inputs;
  std::vector<ValueInfo> outputs;
  Parameters parameters;
  std::size_t nodes = 0;               ///< in all graphs, with the model's functions inlined
  std::vector<OperatorUse> operators;  ///< of these nodes, by domain, name and version
  std::vector<UnsupportedNode> unsupported;
  FirstAxis first_axis;
  /// Set if the model was loaded with a precision other than the file's.
  std::optional<PrecisionReport> precision = {};
};

[[nodiscard]] ModelMetadata metadata_of(const ModelFile& file);
[[nodiscard]] Description describe(const ModelFile& file,
                                   const OperatorTable& operators = OperatorTable::standard());

}  // namespace stoker::onnx
