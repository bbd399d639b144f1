// The table `nn` of scripts that describe a training, as docs/training.md says ("stoker train").
//
//     auto library = std::make_shared<nn::TrainingLibrary>();
//     options.extension = library;
//     host.start(ScriptSource::from_file("xor.lua"), options).done.get();
//     nn::TrainingPlan plan = library->plan(device);
//     nn::fit(plan.model, plan.data, plan.fit);
//
// The script describes: layers, models and data sets are handles, and nothing is read or computed
// while it runs. plan() then makes the network, reads the data and begins the model, and what is
// wrong with one of them is an error at the line of the script that wrote it (details `script`,
// `line`). Files are reached through the script's allowed directories only. What a script describes
// counts against its memory limit.
//
// Every kind of layer is a function of `nn`, taken from the table of kinds; losses, optimizers,
// schedules, metrics, activations and initializers are the texts that C++ uses.
//
// Threads:  the script's process first, then whoever calls plan(), on a thread that may wait.
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

  /// After the script has ended well. Each call reads and begins anew.
  [[nodiscard]] TrainingPlan plan(const Device& device) const;

 private:
  std::unique_ptr<script::Description> description_;
};

}  // namespace stoker::nn
