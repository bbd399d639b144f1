// Runs pipeline scripts: Lua programs that chain kernels and operations over buffers of one device.
//
//     ScriptHost host{device, executor, KernelRegistry::builtin().list()};
//     ScriptRun run = host.start({"demo", "print(relu(buffer{-1, 2}))"}, {});
//     ScriptReport report = run.done.get();
//
// Each script is a process (runtime/process/process.hpp) with its own Lua state: its waits park it
// and block no thread. Scripts share only the device. ScriptLimits bound a script's resources; it
// can access only images under the directories it was allowed. docs/scripts.md describes the
// language.
//
// Threads:  every function may be called from any thread; observers are called from the script's
//           process, one call at a time.
// Lifetime: the executor outlives the host. The host's destructor cancels the scripts that still
//           run and waits for them, for a JPEG file that is just being decoded or encoded, and for a
//           kernel of a script's that is just being compiled for a dtype, which nothing bounds (see
//           ScriptOptions::kernels): do not destroy it on a thread that they need. In a child of fork() it
//           leaves them alone.
// Errors:   of a script, in `done`: compile_failed (does not parse), script_error (it raised),
//           budget_exceeded, permission_denied, cancelled, deadline_exceeded, or what a kernel or
//           the device said. Details: `script`, `line`, and of kernels `kernel` and `inputs`.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/actors/address.hpp"
#include "stoker/runtime/base/shape.hpp"
#include "stoker/runtime/execution/executor.hpp"
#include "stoker/runtime/futures/cancel.hpp"
#include "stoker/runtime/futures/future.hpp"

struct lua_State;

namespace stoker {

class DeviceClient;
class Supervisor;
struct Kernel;

struct ScriptSource {
  std::string name;  ///< what error messages call it
  std::string text;  ///< Lua 5.4 source; compiled chunks are refused

  /// Reads a file. Throws not_found, io_error, limit_exceeded (more than 16 MiB).
  [[nodiscard]] static ScriptSource from_file(const std::filesystem::path& path);
  /// Reads to the end. Throws io_error, limit_exceeded.
  [[nodiscard]] static ScriptSource from_stream(std::istream& text, std::string name);
};

/// Zero means no limit of the script's own.
struct ScriptLimits {
  /// Lua instructions; library functions charge for the work they do in the same unit, and
  /// instructions that take long use it up by their time.
  std::uint64_t instructions = 1'000'000'000;
  /// Bytes of the Lua state, of the calls it has not evaluated yet, and of what is kept for it outside
  /// of both: errors, what it printed if the observer keeps that, a file while it is decoded.
  std::uint64_t memory_bytes = std::uint64_t{256} << 20;
  /// Bytes of device memory in buffers that the script still holds.
  std::uint64_t buffer_bytes = std::uint64_t{4} << 30;
};

/// One kernel that a script ran. It may do the work of several calls.
struct ScriptCommand {
  std::string kernel;                    ///< of up to four calls their names: "relu+exp"
  TensorSpec output;                     ///< of its first output
  int line = 0;                          ///< where the script made the last of the calls
  std::chrono::nanoseconds duration{0};  ///< on the device; zero while the trace is off
  std::optional<Error> failure;
};

/// Receives a script's events while it runs. Its functions must not throw; the script waits for
/// them.
class ScriptObserver {
 public:
  virtual ~ScriptObserver() = default;
  /// Text that print() wrote, with its line end.
  virtual void on_print(std::string_view text) noexcept = 0;
  /// Whether the observer keeps what is printed: then it counts as the script's memory, and on_print()
  /// is not called for what is beyond the limit.
  [[nodiscard]] virtual bool keeps_text() const noexcept { return false; }
  virtual void on_command(const ScriptCommand&) noexcept {}
  virtual void on_loaded(const std::filesystem::path&, const TensorSpec&) noexcept {}
  virtual void on_saved(const std::filesystem::path&, const TensorSpec&) noexcept {}
};

/// A program's extension of the language for one script. Lua is compiled as C++: both functions may
/// raise (lua_glue.hpp) or throw an Error, which then is the script's.
///
/// Threads: the script's process only, and never after `done` is ready.
class ScriptExtension {
 public:
  virtual ~ScriptExtension() = default;
  /// Before the script begins, after all libraries: adds globals. Costs the script nothing.
  virtual void open(lua_State* L) = 0;
  /// The script has ended well; what it returned lies on the stack from `first` up to its top.
  virtual void on_returned(lua_State* L, int first) = 0;
};

struct ScriptOptions {
  /// The table `args` of the script. Values that read as Lua numbers become numbers.
  std::vector<std::pair<std::string, std::string>> args;
  ScriptLimits limits;
  /// Images are read and written beneath these only, symbolic links resolved. None: no files.
  std::vector<std::filesystem::path> allowed_directories;
  /// Where relative paths begin; empty: the current directory when the script starts.
  std::filesystem::path directory;
  /// The folder of the script's file, where a relative path that is read is looked for next. It is
  /// not allowed by that. Empty: there is none.
  std::filesystem::path script_directory = {};
  /// How long it may run, more than 0; then it ends with deadline_exceeded.
  std::optional<std::chrono::nanoseconds> time_limit;
  /// Null: print() writes to stdout and nothing else is told.
  std::shared_ptr<ScriptObserver> observer;
  /// Null: the language as docs/scripts.md has it, and what the script returns is dropped.
  std::shared_ptr<ScriptExtension> extension = {};
  /// Null: the script may define no kernels (permission_denied). script_kernels() of api/script.hpp
  /// lets it. Their GLSL reads and writes the memory of the device unchecked and runs for as long
  /// as it likes, and a short text may keep the compiler and the driver busy for any time, with any
  /// memory of the process: only for scripts that are trusted as the program itself is.
  std::shared_ptr<ScriptExtension> kernels = {};
};

/// The resources that a script used.
struct ScriptReport {
  std::uint64_t instructions = 0;  ///< the same each time the same script runs
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t commands = 0;     ///< kernels that ran
  std::uint64_t evaluations = 0;  ///< programs that ran
  std::uint64_t pipelines_compiled =
      0;  ///< of these, how many were of a structure new to the script
};

/// A script that was started. Dropping it does not stop the script.
struct ScriptRun {
  Future<ScriptReport> done;
  CancelSource stop;
  /// In a system's tree: the script's actor, to watch it, link to it or end it. It ends with the
  /// script: normally, or with {shutdown, what went wrong}. Else not valid().
  Future<ActorAddress> actor = {};

  /// Ends the script with `cancelled` at its next instruction or wait, that for a file included; its
  /// queued commands never run, and a file that it was saving stays as it was.
  void cancel() const { stop.cancel(cancelled_error("script")); }
};

class ScriptHost {
 public:
  /// Scripts run on `device` (as it is when they start) and may call `kernels`, besides the
  /// operations on tensors, which every script has. Under `parent`, if
  /// it is given and not empty, there is a supervisor of this host's scripts, and below it an actor
  /// for each: see script_actor.hpp.
  ScriptHost(std::shared_ptr<DeviceClient> device, Executor& executor,
             std::vector<std::shared_ptr<const Kernel>> kernels, const Supervisor& parent);
  ScriptHost(std::shared_ptr<DeviceClient> device, Executor& executor,
             std::vector<std::shared_ptr<const Kernel>> kernels);
  ~ScriptHost();
  ScriptHost(const ScriptHost&) = delete;
  ScriptHost& operator=(const ScriptHost&) = delete;

  /// Starts a script; what is wrong with its text comes out of `done`. Throws closed,
  /// invalid_argument (a time limit of 0 or less), out_of_memory (no stack), not_found (an allowed
  /// directory that is not there), forked_process.
  [[nodiscard]] ScriptRun start(ScriptSource source, ScriptOptions options);

  /// The number of scripts that have not ended.
  [[nodiscard]] std::size_t running() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stoker
