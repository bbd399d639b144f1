// A scope that holds for whoever runs in it: a process takes its scopes along to whichever thread it
// wakes on, and others that run on its thread meanwhile do not see them; a plain thread has its own.
//
// Threads: made and destroyed by the same process or plain thread; read by it only. Fibers of another
// library share the scopes of their thread, and so do coroutines: hold none across their waits.
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
  /// The innermost of a kind, where the calling code runs; null if there is none.
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
