// A scope that belongs to a process or to a plain thread. A process keeps its scopes when it wakes
// on another thread, and other processes on that thread do not see them. A plain thread has its own
// scopes.
//
// Threads: made and destroyed by the same process or plain thread; read by it only. Fibers of other
// libraries and coroutines share the scopes of their thread: do not hold a scope across their
// waits.
#pragma once

namespace stoker {

class ContextScope {
 public:
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 protected:
  /// `kind` names the class of scope: the address of something static.
  explicit ContextScope(const void* kind) noexcept;
  ~ContextScope();
  /// The innermost scope of a kind in the calling context; null if there is none.
  [[nodiscard]] static const ContextScope* innermost(const void* kind) noexcept;
  /// The next one of the same kind around this; null if there is none.
  [[nodiscard]] const ContextScope* outer() const noexcept;

 private:
  [[nodiscard]] static const ContextScope* from(const ContextScope* scope,
                                                const void* kind) noexcept;
  const void* const kind_;
  ContextScope* const outer_;  ///< of any kind
};

}  // namespace stoker
