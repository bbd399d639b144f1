// Serving models: batches for many callers. Component Stoker::serve.
#pragma once

#include "stoker/api/serve/serving.hpp"
