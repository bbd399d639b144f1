// The table `nn` of scripts that use models: nn.load(path), described in docs/scripts.md
// ("Models"). It also adds the functions of tensors that are composed of several operations
// (api/tensor_script.hpp).
//
//     options.extension = std::make_shared<nn::ModelLibrary>();
//     host.start({"digits", "print(nn.load('digits.safetensors'):predict(x))"}, options);
//
// Threads: those of ScriptExtension. Lifetime: any number of scripts, one after the other or at once.
#pragma once

#include "stoker/api/script.hpp"

namespace stoker::nn {

class ModelLibrary final : public ScriptExtension {
 public:
  void open(lua_State* L) override;
  void on_returned(lua_State*, int) override {}
};

}  // namespace stoker::nn
