// Serving models: batches for many callers. Component Stoker::serve.
#pragma once

#include "stoker/actors/supervisor/supervisor.hpp"
#include "stoker/api/serve/models/served_models.hpp"
#include "stoker/api/serve/repository/model_repository.hpp"
#include "stoker/api/serve/serving.hpp"
#include "stoker/api/system.hpp"
