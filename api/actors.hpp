// Actors, processes and supervisors, by the rules of Erlang/OTP; see docs/actors.md.
#pragma once

#include "stoker/actors/actor.hpp"
#include "stoker/actors/group.hpp"
#include "stoker/actors/process_actor.hpp"
#include "stoker/actors/registry.hpp"
#include "stoker/actors/supervisor/supervisor.hpp"
#include "stoker/actors/timed_send.hpp"
#include "stoker/runtime/execution/stall_detector.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/runtime/process/process.hpp"
