// One script while it runs: its Lua state, its limits, its buffers.
//
// Lives on its process' stack. Everything in it belongs to that process; only the cancel token and
// the services are shared.
#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/pipeline/script/lua/allowed_paths.hpp"
#include "stoker/pipeline/script/lua/lua_glue.hpp"
#include "stoker/pipeline/script/operations/operation.hpp"
#include "stoker/pipeline/script/run/budget.hpp"
#include "stoker/pipeline/script/run/evaluator.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"

namespace stoker::script {

/// What all scripts of a host share.
struct Services {
  std::shared_ptr<DeviceClient> device;
  Executor* executor;
  std::shared_ptr<const OperationTable> operations;  ///< what scripts may call
  /// Runs what blocks on the file system, so that no thread of the executor does.
  Executor* files;
  /// Runs what computes for long before a script can go on; made when it is first asked for.
  std::function<Executor&()> compiler;
};

class Script final : private GarbageCollector {
 public:
  Script(const Services& services, ScriptSource source, ScriptOptions options, AllowedPaths paths,
         CancelToken cancel);

  /// Runs it from beginning to end, in the calling process.
  [[nodiscard]] Result<ScriptReport> run();

  [[nodiscard]] Budget& budget() noexcept { return budget_; }
  [[nodiscard]] Evaluator& evaluator() noexcept { return evaluator_; }
  [[nodiscard]] const Services& services() const noexcept { return services_; }
  [[nodiscard]] const ScriptSource& source() const noexcept { return source_; }
  [[nodiscard]] const ScriptOptions& options() const noexcept { return options_; }
  [[nodiscard]] const AllowedPaths& paths() const noexcept { return paths_; }
  /// The source's name as Lua shortens it in messages.
  [[nodiscard]] std::string_view short_name() const noexcept { return short_name_; }

  /// A kernel that the script has defined, with the memory that was taken for it.
  struct Own {
    Operation operation;
    std::shared_ptr<const Kernel> kernel;
    MemoryLoan memory;
  };
  /// Takes one, which lives as long as the script.
  const Own& keep(Own own) { return own_operations_.emplace_back(std::move(own)); }
  [[nodiscard]] const std::deque<Own>& own_operations() const noexcept { return own_operations_; }

  /// Raises if the observer keeps what is printed and the script has no memory left for it.
  void print(lua_State* L, std::string_view text);

  /// Notes which coroutine runs, for the garbage collector. See function<>().
  [[nodiscard]] lua_State* set_running(lua_State* L) noexcept { return std::exchange(running_, L); }

 private:
  void step(std::size_t bytes) override;
  void collect() override;
  static int main_chunk(lua_State* L);
  [[nodiscard]] Result<void> execute(lua_State* L);

  const Services& services_;  // the host outlives its scripts
  const ScriptSource source_;
  const ScriptOptions options_;
  const AllowedPaths paths_;
  const std::string short_name_;
  Budget budget_;
  std::deque<Own> own_operations_;  // the evaluator names them
  Evaluator evaluator_;
  lua_State* running_ = nullptr;
};

/// What a function does that stands for the one of Lua in its first upvalue: as if that had been called,
/// so that an error has its name and the line of the script.
[[nodiscard]] int call_stock(lua_State* L);
/// Replaces functions of the table at the top of the stack by ones that charge for the length of
/// their text arguments.
void charge_for_text(lua_State* L, std::initializer_list<const char*> names);

// The libraries. Each adds its globals; all expect the error type to be open.
void open_sandbox(lua_State* L);
void open_coroutines(lua_State* L);
void open_strings(lua_State* L);
void open_tables(lua_State* L);
void open_buffers(lua_State* L);
void open_operations(lua_State* L);
void open_images(lua_State* L);

}  // namespace stoker::script
