// What a model's configuration says, as options of a serving. The names of its fields are those of Triton's
// ModelConfig; docs/serving.md has the table of those that are known.
//
//     const ModelConfig config = read_model_config(read_config(text, ConfigForm::json), "faces", {});
//
// A field that would change answers and is not known is refused by name. One that only Triton needs is logged.
//
// Pure functions but for the log; any thread. Errors are thrown: invalid_argument and unsupported, naming the field.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/serve/repository/config_tree.hpp"
#include "stoker/api/serve/serving_options.hpp"

namespace stoker::serve {

/// An input or output as the configuration declares it.
struct ConfigTensor {
  std::string name = {};
  std::optional<onnx::ElementType> type = {};
  /// -1: any extent. Empty: it does not say. Without the rows' dimension if ModelConfig::max_batch_size is not 0.
  std::vector<std::int64_t> dims = {};
  std::string label_file = {};  ///< the name of a file beside the configuration; empty: none
};

struct WarmUpInput {
  std::string name = {};
  onnx::ElementType type = onnx::ElementType::f32;
  std::vector<std::int64_t> dims = {};
  bool random = false;  ///< else zeros
};

/// Inputs with which a version runs before it answers requests.
struct WarmUpSample {
  std::int64_t rows = 0;    ///< the first dimension of all inputs; 0: they have none but `dims`
  std::uint64_t times = 1;  ///< how often
  std::vector<WarmUpInput> inputs = {};
};

struct VersionPolicy {
  enum class Kind : std::uint8_t { latest, all, specific };
  Kind kind = Kind::latest;
  std::uint64_t count = 1;                  ///< of `latest`: how many, the highest ones
  std::vector<std::uint64_t> numbers = {};  ///< of `specific`

  /// `there`: ascending. Throws not_found for a specific version that is not there.
  [[nodiscard]] std::vector<std::uint64_t> chosen(std::span<const std::uint64_t> there) const;
};

struct ModelConfig {
  std::int64_t max_batch_size = 0;  ///< 0: the configuration does not say; `dims` are whole
  std::vector<ConfigTensor> inputs = {};
  std::vector<ConfigTensor> outputs = {};
  VersionPolicy versions = {};
  std::string model_file = {};  ///< its name in the directory of a version; empty: it does not say
  ServingOptions serving = {};
  std::string device = {};  ///< as System::device() takes it; empty: the server's
  onnx::Precision precision = onnx::Precision::full;
  std::vector<WarmUpSample> samples = {};
};

/// `defaults`: of everything that the configuration does not say. `model`: the name of its directory, which the
/// configuration must not contradict.
[[nodiscard]] ModelConfig read_model_config(const ConfigTree& tree, const std::string& model,
                                            const ServingOptions& defaults);

}  // namespace stoker::serve
