// A model as one safetensors file: variables, slots and the key as tensors, the rest as metadata.
//
//     write_model(path, {network, options, frozen, state}, {});
//     const ModelFile file{path};
//     Model model{file.network(), file.options()};
//
// Threads: any; a ModelFile is immutable. Loaded tensors are on current_device(). All functions block.
// Errors are thrown: invalid_argument for a file that write_model() has not written, not_found and io_error
// as for safetensors files. Input is not trusted.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stoker/api/tensor/io/safetensors.hpp"
#include "stoker/api/train/model/model_options.hpp"

namespace stoker::nn {

/// The contents of a file.
struct SavedModel {
  Network network;
  ModelOptions options;
  std::set<std::string> frozen;
  TrainingState state;
};

/// Written under another name and renamed. unsupported where the network cannot be written;
/// invalid_argument for `more` metadata by a name that the file has itself: "format", "network", "options",
/// "frozen".
void write_model(const std::filesystem::path& path, const SavedModel& model,
                 const std::map<std::string, std::string>& more);

class ModelFile {
 public:
  /// Reads everything except the tensors.
  explicit ModelFile(std::filesystem::path path, const SafetensorsOptions& reading = {});

  [[nodiscard]] const Network& network() const noexcept { return *network_; }
  /// The options without device and schedule, which are not in a file.
  [[nodiscard]] const ModelOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::set<std::string>& frozen() const noexcept { return frozen_; }
  /// Throws invalid_argument if the model was made with a schedule and none is given.
  void check_schedule(bool given) const;

  /// The spec of each stored variable by "layer.variable", checked against the network.
  [[nodiscard]] std::map<std::string, TensorSpec> variables() const;
  /// The bytes of one variable.
  [[nodiscard]] std::vector<std::byte> bytes_of(const std::string& variable) const;
  /// The state, which has exactly the tensors of `like`.
  [[nodiscard]] TrainingState state(TrainingState like) const;

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  [[nodiscard]] const std::string& entry(const char* name) const;
  template <class Map>
  void take_all(const TensorMap& tensors, const char* prefix, Map& wanted) const;

  const std::filesystem::path path_;
  const SafetensorsFile file_;
  std::optional<Network> network_;
  ModelOptions options_;
  std::optional<bool> scheduled_;  ///< none: an early file, which does not record it
  std::set<std::string> frozen_;
};

}  // namespace stoker::nn
