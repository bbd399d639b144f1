// For tests of programs that use Stoker: a scheduler that decides the order of actors' turns, a
// manual clock, devices that fail on purpose, and custom drivers. See docs/testing.md,
// docs/faults.md and docs/backends.md.
#pragma once

#include "stoker/actors/test_scheduler.hpp"
#include "stoker/device/backend.hpp"
#include "stoker/device/fault/fault_injection.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
