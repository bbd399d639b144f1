// The table `model` of scripts: model.load(path) gives a model of any kind, as docs/scripts.md says
// ("Models"). With it comes the table `nn` with nn.load().
//
//     options.extension = std::make_shared<ModelTable>();
//     host.start({"digits", "local m = model.load('mnist.onnx') …"}, options);
//
// A model takes of the script's limits: its file as memory and, of an ONNX model, as buffers, too;
// how large its graph may be, how long it may run. Files are reached through the script's allowed
// directories only, and an ONNX model has no external data here. A pipeline script runs within the
// script that loads it.
//
// Threads: those of ScriptExtension. Lifetime: any number of scripts, one after the other or at once.
#pragma once

#include "stoker/api/script.hpp"

namespace stoker {

class ModelTable final : public ScriptExtension {
 public:
  void open(lua_State* L) override;
  void on_returned(lua_State*, int) override {}
};

}  // namespace stoker
