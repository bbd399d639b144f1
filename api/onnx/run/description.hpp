// What a model's file says of itself, and what Stoker makes of it: what `stoker onnx info` shows.
//
//     const onnx::Description faces = model.info();
//     const onnx::Description stranger = onnx::describe(file);        // also if it cannot be loaded
//
// Plain values. Texts are the file's own: any bytes, for printable() before a person sees them.
// describe() opens no device and reads no weights; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/optimize/precision.hpp"
#include "stoker/pipeline/onnx/graph/model_file.hpp"

namespace stoker::onnx {

/// What the file says of itself.
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
    bool has_default = false;  ///< an initializer: a run may leave it out
  };
  /// Constants: initializers, and the tensors of Constant nodes, of all graphs.
  struct Parameters {
    std::size_t tensors = 0;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;  ///< in the files
  };
  struct OperatorUse {
    std::string domain;  ///< empty: ONNX's own
    std::string name;
    int version = 0;  ///< the last that the opset has; 0: it is not known
    std::size_t count = 0;
  };
  struct UnsupportedNode {
    std::string place;  ///< Node::place(), escaped
    std::string domain, name;
    std::int64_t opset = 0;
    std::string why;
  };
  /// The first dimension of the inputs that a run must give, as the file declares it: what a batch
  /// mostly is. Whether the rows of a batch are computed independently of one another, no file
  /// says.
  struct FirstAxis {
    enum class Kind : std::uint8_t {
      free,    ///< the same symbol in all, or unknown in all
      fixed,   ///< the same extent in all
      unlike,  ///< not alike, or an input has none
    };
    Kind kind = Kind::unlike;
    std::string symbol = {};  ///< of a free one; empty: unknown
    std::int64_t extent = 0;  ///< of a fixed one
  };

  ModelMetadata metadata;
  std::string graph;
  std::vector<Input> inputs;
  std::vector<ValueInfo> outputs;
  Parameters parameters;
  std::size_t nodes = 0;               ///< of all graphs, the model's functions inlined
  std::vector<OperatorUse> operators;  ///< of these nodes, by domain, name and version
  std::vector<UnsupportedNode> unsupported;
  FirstAxis first_axis;
  /// Of a model that was loaded for another precision than the file's.
  std::optional<PrecisionReport> precision = {};
};

[[nodiscard]] ModelMetadata metadata_of(const ModelFile& file);
[[nodiscard]] Description describe(const ModelFile& file,
                                   const OperatorTable& operators = OperatorTable::standard());

}  // namespace stoker::onnx
