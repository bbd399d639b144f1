// STOKER_THREAD_LOCAL_ACCESS marks functions that read a thread-local. A process may wake on
// another thread, so no caller may keep what such a function returned across a wait, and the
// compiler must not either: it may assume that the address of a thread-local never changes within
// a function.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#define STOKER_THREAD_LOCAL_ACCESS __attribute__((noipa))
#else
#define STOKER_THREAD_LOCAL_ACCESS __attribute__((noinline, optnone))
#endif

namespace stoker::detail {
/// Posts what the current pool thread has deferred, before it blocks.
void flush_deferred() noexcept;
}  // namespace stoker::detail
