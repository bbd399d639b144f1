#include "stoker/pipeline/script/run/script_host.hpp"

#include <array>
#include <fstream>
#include <istream>
#include <mutex>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/actors/supervisor/supervisor.hpp"
#include "stoker/pipeline/script/run/script.hpp"
#include "stoker/pipeline/script/run/script_actor.hpp"
#include "stoker/runtime/base/fork_guard.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"
#include "stoker/runtime/futures/gate.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

// Lua nests up to 200 C calls, of which a gsub() takes 3 KiB, and compiling a pipeline wants some
// stack of its own. Pages take memory when they are touched. Sanitizers make frames several times
// as large.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t stack_bytes = std::size_t{8} << 20;
#else
constexpr std::size_t stack_bytes = std::size_t{2} << 20;
#endif

constexpr std::uintmax_t max_source_bytes = std::uintmax_t{16} << 20;

std::string in_seconds(std::chrono::nanoseconds duration) {
  std::ostringstream text;
  text << std::chrono::duration<double>{duration}.count() << " s";
  return std::move(text).str();
}

Error time_is_up(std::chrono::nanoseconds limit) {
  return {"script",
          ErrorCode::deadline_exceeded,
          "the script ran longer than its time limit",
          {{"limit", in_seconds(limit)}}};
}

}  // namespace

ScriptSource ScriptSource::from_file(const std::filesystem::path& path) {
  const auto refusal = [&](ErrorCode code, std::string reason) {
    return Error{"script", code, std::move(reason), {{"path", path.string()}}};
  };
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status))
    throw refusal(ErrorCode::not_found, "there is no such script");
  if (std::filesystem::is_directory(status))
    throw refusal(ErrorCode::io_error, "this is a directory, not a script");
  std::ifstream file{path, std::ios::binary};
  try {
    return from_stream(file, path.string());
  } catch (const Error& error) {
    throw error.with("path", path.string());
  }
}

ScriptSource ScriptSource::from_stream(std::istream& text, std::string name) {
  ScriptSource source{std::move(name), {}};
  std::array<char, 1 << 16> part;
  while (text) {
    text.read(part.data(), part.size());
    source.text.append(part.data(), static_cast<std::size_t>(text.gcount()));
    if (source.text.size() > max_source_bytes)
      throw Error{"script", ErrorCode::limit_exceeded, "a script may be at most 16 MiB long"};
  }
  if (!text.eof()) throw Error{"script", ErrorCode::io_error, "the script cannot be read"};
  return source;
}

struct ScriptHost::State {
  State(std::shared_ptr<DeviceClient> device, Executor& executor,
        std::vector<std::shared_ptr<const Kernel>> kernels, const Supervisor& parent)
      : files{executor.clock(), {.threads = 1, .name = "stoker-files"}},
        services{std::move(device), &executor,
                 std::make_shared<const script::OperationTable>(kernels), &files,
                 [this]() -> Executor& { return compiling_threads(); }} {
    if (!parent) return;
    scripts = spawn_supervisor(
        parent.strand()->shared_executor(),
        {.name = "scripts", .strategy = Strategy::simple_one_for_one, .parent = parent},
        {script_children()});
    static_cast<void>(parent.start_child(
        running_child("scripts " + std::to_string(scripts.id()), scripts, ChildKind::supervisor)));
  }
  /// The services as they are now: a lost device that was opened again is another one.
  [[nodiscard]] script::Services present() const {
    script::Services now = services;
    if (now.device->is_lost()) now.device = now.device->successor();
    return now;
  }

  [[nodiscard]] Executor& compiling_threads() {
    std::call_once(compiler_made, [this] {
      compiler.emplace(services.executor->clock(),
                       ThreadPoolOptions{.threads = 2, .name = "stoker-compile"});
    });
    return *compiler;
  }

  ThreadPool files;
  std::once_flag compiler_made;
  std::optional<ThreadPool> compiler;
  const script::Services services;
  Supervisor scripts;  ///< empty outside of a system's tree
  Gate gate;
  const ForkGuard fork;
  std::mutex mutex;  // of what follows
  std::uint64_t last_id = 0;
  std::unordered_map<std::uint64_t, CancelSource> running;
};

ScriptHost::ScriptHost(std::shared_ptr<DeviceClient> device, Executor& executor,
                       std::vector<std::shared_ptr<const Kernel>> kernels, const Supervisor& parent)
    : state_{std::make_shared<State>(std::move(device), executor, std::move(kernels), parent)} {}

ScriptHost::ScriptHost(std::shared_ptr<DeviceClient> device, Executor& executor,
                       std::vector<std::shared_ptr<const Kernel>> kernels)
    : ScriptHost{std::move(device), executor, std::move(kernels), Supervisor{}} {}

ScriptHost::~ScriptHost() {
  if (state_->fork.forked()) {
    // Scripts, threads and locks are the parent's.
    static_cast<void>(std::make_unique<std::shared_ptr<State>>(std::move(state_)).release());
    return;
  }
  const Future<void> empty = state_->gate.close();
  const Error closing = error_or_out_of_memory([] {
    return Error{"script", ErrorCode::cancelled, "the host of the scripts is closing"};
  });
  {
    const std::lock_guard lock{state_->mutex};
    for (const auto& [id, stop] : state_->running) stop.cancel(closing);
  }
  empty.wait();
  if (state_->scripts) try {
      state_->scripts.cell()->exit(ExitReason::shutdown());
    } catch (...) {  // no memory to tell it: it ends with its last address
      detail::log_escaped_exception("script");
    }
}

ScriptRun ScriptHost::start(ScriptSource source, ScriptOptions options) {
  state_->fork.check("script").value();
  state_->services.device->actor().strand()->check_process("script").value();
  if (options.time_limit && options.time_limit->count() <= 0)
    throw Error{"script",
                ErrorCode::invalid_argument,
                "the time limit must be longer than nothing",
                {{"limit", in_seconds(*options.time_limit)}}};
  Gate::Pass pass = state_->gate.enter("script").value();
  script::AllowedPaths paths =
      script::AllowedPaths::make(options.allowed_directories, options.directory,
                                 options.script_directory)
          .value();
  ScriptRun run;
  std::uint64_t id = 0;
  {
    const std::lock_guard lock{state_->mutex};
    id = ++state_->last_id;
    state_->running.emplace(id, run.stop);
  }
  const std::string script_name = source.name;
  const auto forget = [state = state_.get(), id] {
    const std::lock_guard lock{state->mutex};
    state->running.erase(id);
  };
  // The pass keeps the state alive: the destructor waits for it.
  auto body = [pass = std::move(pass), forget, state = state_.get(), stop = run.stop,
               source = std::move(source), options = std::move(options),
               paths = std::move(paths)]() mutable -> Result<ScriptReport> {
    Executor& executor = *state->services.executor;
    Timer timer;
    if (options.time_limit) {
      const Deadline deadline = Deadline::after(executor.clock(), *options.time_limit);
      timer = Timer{executor.clock(), deadline.at(), executor,
                    [stop, why = time_is_up(*options.time_limit)] { stop.cancel(why); }};
    }
    const std::string name = source.name;
    Result<ScriptReport> result = [&]() -> Result<ScriptReport> {
      try {
        const script::Services services = state->present();
        return script::Script{services, std::move(source), std::move(options), std::move(paths),
                              stop.token()}
            .run();
      } catch (const std::exception&) {
        return error_from_current_exception("script");
      }
    }();
    if (result.has_error() && result.error().detail("script").empty())
      result = result.error().with("script", name);
    forget();
    const Gate::Pass last = std::move(pass);
    return result;
  };
  try {
    const std::string name = "script " + std::to_string(id);
    run.done = Process::spawn(*state_->services.executor, std::move(body),
                              {.stack_bytes = stack_bytes, .name = name});
  } catch (const std::exception&) {
    forget();
    throw error_from_current_exception("script");
  }
  if (state_->scripts) run.actor = state_->scripts.start_child(RunningScript{script_name, run});
  return run;
}

std::size_t ScriptHost::running() const noexcept { return state_->gate.inside(); }

}  // namespace stoker
