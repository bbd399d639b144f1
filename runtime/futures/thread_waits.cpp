#include "stoker/runtime/futures/thread_waits.hpp"

#include <utility>

#include "stoker/runtime/execution/parker.hpp"

namespace stoker {
namespace {

thread_local bool has_waited = false;

}  // namespace

// Nothing parks between the questions and what follows, so these stay on one thread.

void note_wait_of_this_thread() noexcept {
  if (blocks_thread()) has_waited = true;
}

bool this_thread_has_waited() noexcept {
  return blocks_thread() && std::exchange(has_waited, false);
}

}  // namespace stoker
