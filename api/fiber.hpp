// For callers that run in Boost.Fiber (component Stoker::fiber).
#pragma once

#include "stoker/runtime/process/fiber_adaptor.hpp"
