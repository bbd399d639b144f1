// Runs pipeline scripts: Lua programs that chain kernels and operations over buffers of one device.
//
//     ScriptHost host{device, executor, KernelRegistry::builtin().list()};
//     ScriptRun run = host.start({"demo", "print(relu(buffer{-1, 2}))"}, {});
//     ScriptReport report = run.done.get();
//
// Each script is a process (runtime/process/process.hpp) with its own Lua state: its waits park it
// and block no thread. Scripts share only the device. ScriptLimits bound a script's resources, and
// it can access only files in its allowed directories. docs/scripts.md describes the language.
//
// Threads:  every function may be called from any thread; observers are called from the script's
//           process, one call at a time.
// Lifetime: the executor outlives the host. The host's destructor cancels the scripts that still
//           run and waits for them: also for a JPEG file that is being decoded or encoded, and for a
//           script's kernel that is being compiled for a dtype, which nothing bounds (see
//           ScriptOptions::kernels). Do not destroy the host on a thread that they need. In a child of
//           fork() the destructor leaves the scripts alone.
// Errors:   a script's error is in `done`: compile_failed (does not parse), script_error (it raised),
//           budget_exceeded, permission_denied, cancelled, deadline_exceeded, or an error of a kernel or
//           the device. Details: `script`, `line`, and for kernels `kernel` and `inputs`.
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
  std::string name;  ///< its name in error messages
  std::string text;  ///< Lua 5.4 source; compiled chunks are refused

  /// Reads a file. Throws not_found, io_error, limit_exceeded (more than 16 MiB).
  [[nodiscard]] static ScriptSource from_file(const std::filesystem::path& path);
  /// Reads to the end. Throws io_error, limit_exceeded.
  [[nodiscard]] static ScriptSource from_stream(std::istream& text, std::string name);
};

/// Zero means no limit of the script's own.
struct ScriptLimits {
  /// Lua instructions. Library functions charge for their work in the same unit, and an instruction
  /// that takes long is charged by its time.
  std::uint64_t instructions = 1'000'000'000;
  /// Bytes of the Lua state, of calls that are not evaluated yet, and of other memory that is held for
  /// the script: errors, printed text if the observer keeps it, a file while it is decoded.
  std::uint64_t memory_bytes = std::uint64_t{256} << 20;
  /// Bytes of device memory in buffers that the script still holds.
  std::uint64_t buffer_bytes = std::uint64_t{4} << 30;
};

/// One kernel that a script ran. It may do the work of several calls.
struct ScriptCommand {
  std::string kernel;                    ///< the names of up to four calls: "relu+exp"
  TensorSpec output;                     ///< the first output
  int line = 0;                          ///< the line of the last of the calls
  std::chrono::nanoseconds duration{0};  ///< on the device; zero while the trace is off
  std::optional<Error> failure;
};

/// Receives a script's events while it runs. Its functions must not throw; the script waits for
/// them.
class ScriptObserver {
 public:
  virtual ~ScriptObserver() = default;
  /// Receives the text of a print(), with its line end.
  virtual void on_print(std::string_view text) noexcept = 0;
  /// Whether the observer keeps printed text. If so, the text counts as the script's memory, and
  /// on_print() is not called for text beyond the limit.
  [[nodiscard]] virtual bool keeps_text() const noexcept { return false; }
  virtual void on_command(const ScriptCommand&) noexcept {}
  virtual void on_loaded(const std::filesystem::path&, const TensorSpec&) noexcept {}
  virtual void on_saved(const std::filesystem::path&, const TensorSpec&) noexcept {}
};

/// A program's extension of the language for one script. Lua is compiled as C++: both functions may
/// raise Lua errors or throw an Error, and the script fails with it.
///
/// Threads: the script's process only, and never after `done` is ready.
class ScriptExtension {
 public:
  virtual ~ScriptExtension() = default;
  /// Adds globals. Called before the script begins, after all libraries are open. The script is not
  /// charged for it.
  virtual void open(lua_State* L) = 0;
  /// Called when the script has ended without an error. Its results are on the stack from `first`
  /// to the top.
  virtual void on_returned(lua_State* L, int first) = 0;
};

struct ScriptOptions {
  /// The table `args` of the script. Values that read as Lua numbers become numbers.
  std::vector<std::pair<std::string, std::string>> args;
  ScriptLimits limits;
  /// Files are read and written only in these directories and below, after symbolic links are
  /// resolved. Empty: no files.
  std::vector<std::filesystem::path> allowed_directories;
  /// The base of relative paths; empty: the current directory when the script starts.
  std::filesystem::path directory;
  /// The folder of the script's file. A relative path to be read is looked up here second. This
  /// does not allow the folder: list it in `allowed_directories`, too. Empty: there is none.
  std::filesystem::path script_directory = {};
  /// How long the script may run, more than 0; after that it ends with deadline_exceeded.
  std::optional<std::chrono::nanoseconds> time_limit;
  /// Null: print() writes to stdout, and other events are not reported.
  std::shared_ptr<ScriptObserver> observer;
  /// Null: the language as in docs/scripts.md; the script's results are dropped.
  std::shared_ptr<ScriptExtension> extension = {};
  /// Null: the script may not define kernels (permission_denied). script_kernels() of
  /// api/script.hpp allows it. The GLSL of such kernels can access all memory of the device and can
  /// run without end, and even a short text can occupy the compiler and the driver without bounds
  /// on time or memory. Allow it only for scripts that you trust as much as the program itself.
  std::shared_ptr<ScriptExtension> kernels = {};
};

/// The resources that a script used.
struct ScriptReport {
  std::uint64_t instructions = 0;  ///< the same each time the same script runs
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t commands = 0;            ///< kernels that ran
  std::uint64_t evaluations = 0;         ///< programs that ran
  std::uint64_t pipelines_compiled = 0;  ///< programs whose structure was new to the script
};

/// A script that was started. Dropping it does not stop the script.
struct ScriptRun {
  Future<ScriptReport> done;
  CancelSource stop;
  /// The script's actor if it runs in a system's tree, otherwise not valid(). You can watch it,
  /// link to it or end it. It ends with the script: normally, or with {shutdown, what went wrong}.
  Future<ActorAddress> actor = {};

  /// Ends the script with `cancelled` at its next instruction or wait, including waits for files.
  /// Its queued commands never run, and a file that it was saving stays as it was.
  void cancel() const { stop.cancel(cancelled_error("script")); }
};

class ScriptHost {
 public:
  /// Scripts run on `device` (as it is when they start) and may call `kernels`, besides the
  /// operations on tensors, which every script has. If `parent` is not empty, this host's scripts
  /// get a supervisor under it, and an actor for each script below that.
  ScriptHost(std::shared_ptr<DeviceClient> device, Executor& executor,
             std::vector<std::shared_ptr<const Kernel>> kernels, const Supervisor& parent);
  ScriptHost(std::shared_ptr<DeviceClient> device, Executor& executor,
             std::vector<std::shared_ptr<const Kernel>> kernels);
  ~ScriptHost();
  ScriptHost(const ScriptHost&) = delete;
  ScriptHost& operator=(const ScriptHost&) = delete;

  /// Starts a script; errors in its text are in `done`. Throws closed, invalid_argument (a time
  /// limit of 0 or less), out_of_memory (no stack), not_found (an allowed directory that does not
  /// exist), forked_process.
  [[nodiscard]] ScriptRun start(ScriptSource source, ScriptOptions options);

  /// The number of scripts that have not ended.
  [[nodiscard]] std::size_t running() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stoker
