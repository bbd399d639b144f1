// The table `model` of scripts: model.load(path) gives a model of any kind, as docs/scripts.md says
// ("Models"). With it comes the table `nn` with nn.load().
//
//     options.extension = std::make_shared<ModelTable>();
//     host.start({"digits", "local m = model.load('mnist.onnx') …"}, options);
//
// The script's limits apply to its models: the file counts as memory, and for an ONNX model also as
// buffers; the limits bound the size of its graph and the length of its runs. Only files in the
// script's allowed directories can be loaded, and an ONNX model may not have external data. A
// pipeline script runs within the script that loads it.
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
