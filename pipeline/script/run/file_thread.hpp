// Work of a script that blocks on the file system.
//
// Threads: called by the script's process, which is parked meanwhile.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "stoker/pipeline/script/run/script.hpp"
#include "stoker/pipeline/script/run/waiting.hpp"

namespace stoker::script {

/// The same failure as one of `op`: the function that the script called.
[[nodiscard]] inline Error with_op(const Error& error, std::string_view op) {
  return {std::string{op},
          error.code(),
          std::string{error.reason()},
          {error.details().begin(), error.details().end()}};
}

/// Waits for work that a script has given away. If the script must end first it does, and the work, which therefore
/// owns what it uses, ends by itself. Its errors are raised as those of `op`.
template <class T>
T await_work(lua_State* L, Script& script, std::string_view op, const Future<T>& work) {
  {
    const Budget::Away away{script.budget()};
    static_cast<void>(wait_unless_cancelled(*work.state(), script.budget().cancel()));
  }
  script.budget().begin_turn();
  check_budget(L);
  const Result<T>& result = work.state()->result();
  if (result.has_error()) raise(L, with_op(result.error(), op));
  if constexpr (!std::is_void_v<T>) return *result;
}

/// Runs `work` on the host's file thread and waits for it as await_work() says.
template <class T>
T on_file_thread(lua_State* L, Script& script, std::string_view op,
                 std::function<Result<T>()> work) {
  Promise<T> promise;
  const Future<T> future = promise.future();
  script.services().files->post([work = std::move(work), promise = std::move(promise)]() mutable {
    promise.set(detail::call_as_result<T>("file", work));
  });
  return await_work(L, script, op, future);
}

}  // namespace stoker::script
