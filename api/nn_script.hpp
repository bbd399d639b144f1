// Lua scripts that load models, or that describe a training (component Stoker::nn_script); see
// docs/scripts.md ("Models") and docs/training.md ("stoker train").
//
//     stoker::ScriptOptions options;
//     options.extension = std::make_shared<stoker::nn::ModelLibrary>();
#pragma once

#include "stoker/api/train/script/model_library.hpp"
#include "stoker/api/train/script/training_library.hpp"
