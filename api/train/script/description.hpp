// What a training script has described so far, as values without Lua.
//
// Threads: the script's process, and after its end the thread that makes the plan.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stoker/api/train/loop/fit.hpp"

namespace stoker::nn::script {

/// A line of a script.
struct Place {
  std::string script;
  int line = 0;

  /// `error` with the details `script` and `line`; an error that has a script already is unchanged.
  /// If it has a line, that is the line of a file and becomes `file_line`.
  [[nodiscard]] Error placed(const Error& error) const;
  /// Calls `make`; exceptions are converted by placed().
  template <class F> auto call(const F& make) const -> decltype(make()) {
    try {
      return make();
    } catch (const std::exception&) {
      throw placed(error_from_current_exception("nn"));
    }
  }
};

/// A data set that is read once, when it is first needed.
class DataRecipe {
 public:
  DataRecipe(Place place, std::function<Dataset()> make)
      : place_{std::move(place)}, make_{std::move(make)} {}

  /// Waits for files. Throws the errors of the reader, with the script's line.
  [[nodiscard]] const Dataset& read();
  [[nodiscard]] const Place& place() const noexcept { return place_; }

 private:
  Place place_;
  std::function<Dataset()> make_;
  std::optional<Dataset> read_;
};
using DataPtr = std::shared_ptr<DataRecipe>;

struct ModelRecipe {
  Place place;
  std::vector<Node> outputs;
  std::vector<std::string> names = {};  ///< of the outputs; none: not named
  ModelOptions options;                 ///< without schedule and device
  ScheduleName schedule;
  std::vector<std::string> freeze;
};
using ModelPtr = std::shared_ptr<const ModelRecipe>;

/// The result of the script.
struct TrainingRecipe {
  ModelPtr model;
  DataPtr data;
  DataPtr validation;
  FitOptions fit;  ///< without validation
  std::optional<std::filesystem::path> save;
};

struct Description {
  /// One output of each application of a layer, in the order of the script.
  struct NotedNode {
    Node node;
    Place place;
  };
  std::vector<NotedNode> nodes;
  std::optional<TrainingRecipe> training;
  /// Names that the script has read from `args`.
  std::set<std::string, std::less<>> arguments_read;

  /// The recipe's network. Throws with the line of the first layer that does not fit.
  [[nodiscard]] Network network(const ModelRecipe& model) const;
};

}  // namespace stoker::nn::script
