// Models and training (component Stoker::nn); see docs/training.md.
#pragma once

#include "stoker/api/data.hpp"
#include "stoker/api/nn.hpp"
#include "stoker/api/train/loop/callback.hpp"
#include "stoker/api/train/loop/fit.hpp"
#include "stoker/api/train/loop/fit_run.hpp"
#include "stoker/api/train/loop/learning_rate.hpp"
#include "stoker/api/train/loop/trainer.hpp"
#include "stoker/api/train/loop/training_file.hpp"
#include "stoker/api/train/model/model.hpp"
#include "stoker/api/train/optim/optimizer.hpp"
#include "stoker/api/train/optim/schedule.hpp"
#include "stoker/api/train/optim/updates.hpp"
