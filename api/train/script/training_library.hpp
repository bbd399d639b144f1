// The table `nn` of scripts that describe a training; see docs/training.md ("stoker train").
//
//     auto library = std::make_shared<nn::TrainingLibrary>();
//     options.extension = library;
//     host.start(ScriptSource::from_file("xor.lua"), options).done.get();
//     nn::TrainingPlan plan = library->plan(device);
//     nn::fit(plan.model, plan.data, plan.fit);
//
// The script only describes: layers, models and data sets are handles, and nothing is read or
// computed while it runs. plan() then makes the network, reads the data and initializes the model.
// An error in one of them names the line of the script that described it (details `script`,
// `line`). A script can use only files in its allowed directories. The description counts against
// the script's memory limit.
//
// Every kind of layer is a function of `nn`, taken from the table of kinds; losses, optimizers,
// schedules, metrics, activations and initializers are the texts that C++ uses.
//
// Threads:  the script's process first, then the thread that calls plan(), which may wait.
// Lifetime: one script each.
// Errors:   thrown by plan(): script_error if the script returned no training; not_found, io_error,
//           invalid_argument of data; what networks, models and metrics throw.
#pragma once

#include <memory>

#include "stoker/api/script.hpp"
#include "stoker/api/train/script/training_plan.hpp"

namespace stoker::nn {

namespace script {
struct Description;
}

class TrainingLibrary final : public ScriptExtension {
 public:
  TrainingLibrary();
  ~TrainingLibrary() override;

  void open(lua_State* L) override;
  void on_returned(lua_State* L, int first) override;

  /// Call it after the script has ended without an error. Each call reads the data and initializes
  /// the model again.
  [[nodiscard]] TrainingPlan plan(const Device& device) const;

 private:
  std::unique_ptr<script::Description> description_;
};

}  // namespace stoker::nn
