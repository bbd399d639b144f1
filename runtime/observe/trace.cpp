#include "stoker/runtime/observe/trace.hpp"

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "stoker/runtime/base/fork_guard.hpp"
#include "stoker/runtime/base/json_text.hpp"
#include "stoker/runtime/base/thread_local.hpp"

namespace stoker {
namespace {

enum class Kind : char { span = 'X', instant = 'i', counter = 'C' };

struct Event {
  Kind kind;
  TrackId track;
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  double value;
  std::string name;
  std::vector<std::pair<std::string, std::string>> args;
};

/// The events of one thread. Its mutex is free but for the moment when a trace is written.
struct Buffer {
  std::mutex mutex;
  std::vector<Event> events;
};

struct Track {
  std::string name;
  int group;  // Chrome's "process"
};

/// The buffer this thread used last, and whose it was.
struct CachedBuffer {
  std::uint64_t recorder = 0;
  Buffer* buffer = nullptr;
};
thread_local CachedBuffer cached_buffer;

// Numbers recorders, so that a thread never takes a new one for one that has gone.
std::uint64_t next_recorder() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

struct TraceRecorder::Impl {
  explicit Impl(std::size_t most) : limit(most) {}

  STOKER_THREAD_LOCAL_ACCESS Buffer& buffer() {
    CachedBuffer& cached = cached_buffer;
    if (cached.recorder == id) return *cached.buffer;
    const std::lock_guard lock{mutex};
    Buffer*& mine = buffer_of_thread[std::this_thread::get_id()];
    if (mine == nullptr) mine = &buffers.emplace_back();
    cached = {id, mine};
    return *mine;
  }

  void record(Event event) {
    if (fork.forked()) return;  // a thread of the parent may hold the locks
    if (count.fetch_add(1, std::memory_order_relaxed) >= limit) {
      count.fetch_sub(1, std::memory_order_relaxed);
      lost.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    try {
      Buffer& mine = buffer();
      const std::lock_guard lock{mine.mutex};
      mine.events.push_back(std::move(event));
    } catch (...) {
      count.fetch_sub(1, std::memory_order_relaxed);
      throw;
    }
  }

  const ForkGuard fork;
  const std::uint64_t id = next_recorder();
  const std::size_t limit;
  std::atomic<std::size_t> count{0};
  std::atomic<std::size_t> lost{0};
  mutable std::mutex mutex;
  std::deque<Buffer> buffers;  // of all threads that ever recorded
  std::map<std::thread::id, Buffer*> buffer_of_thread;
  std::vector<Track> tracks{{"main", 0}};
  std::vector<std::string> groups{"stoker"};
};

TraceRecorder::TraceRecorder(std::size_t limit) : impl_(std::make_unique<Impl>(limit)) {}
TraceRecorder::~TraceRecorder() = default;

TrackId TraceRecorder::track(std::string_view group, std::string_view name) {
  if (impl_->fork.forked()) return {};
  const std::lock_guard lock{impl_->mutex};
  auto at = std::find(impl_->groups.begin(), impl_->groups.end(), group);
  if (at == impl_->groups.end()) at = impl_->groups.emplace(at, group);
  const int index = static_cast<int>(at - impl_->groups.begin());
  for (std::size_t i = 0; i < impl_->tracks.size(); ++i)
    if (impl_->tracks[i].group == index && impl_->tracks[i].name == name)
      return static_cast<TrackId>(i);
  impl_->tracks.push_back({std::string{name}, index});
  return static_cast<TrackId>(impl_->tracks.size() - 1);
}

namespace {

std::vector<std::pair<std::string, std::string>> copy(TraceArgs args) {
  std::vector<std::pair<std::string, std::string>> result;
  result.reserve(args.size());
  for (const TraceArg& arg : args) result.emplace_back(arg.key, arg.value);
  return result;
}

}  // namespace

void TraceRecorder::span(TrackId track, std::string_view name, std::uint64_t begin_ns,
                         std::uint64_t end_ns, TraceArgs args) noexcept {
  if (!enabled()) return;
  try {
    impl_->record({Kind::span, track, begin_ns, end_ns, 0, std::string{name}, copy(args)});
  } catch (...) {
    impl_->lost.fetch_add(1, std::memory_order_relaxed);
  }
}

void TraceRecorder::instant(TrackId track, std::string_view name, std::uint64_t at_ns,
                            TraceArgs args) noexcept {
  if (!enabled()) return;
  try {
    impl_->record({Kind::instant, track, at_ns, at_ns, 0, std::string{name}, copy(args)});
  } catch (...) {
    impl_->lost.fetch_add(1, std::memory_order_relaxed);
  }
}

void TraceRecorder::counter(TrackId track, std::string_view name, std::uint64_t at_ns,
                            double value) noexcept {
  if (!enabled()) return;
  try {
    impl_->record({Kind::counter, track, at_ns, at_ns, value, std::string{name}, {}});
  } catch (...) {
    impl_->lost.fetch_add(1, std::memory_order_relaxed);
  }
}

std::size_t TraceRecorder::size() const { return impl_->count.load(std::memory_order_relaxed); }
std::size_t TraceRecorder::dropped() const noexcept {
  return impl_->lost.load(std::memory_order_relaxed);
}

std::string TraceRecorder::to_json() const {
  using nlohmann::json;
  impl_->fork.check("trace").value();
  const std::lock_guard lock{impl_->mutex};
  std::vector<Event> events;
  for (Buffer& buffer : impl_->buffers) {
    const std::lock_guard buffer_lock{buffer.mutex};
    events.insert(events.end(), buffer.events.begin(), buffer.events.end());
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.begin_ns < b.begin_ns; });
  const std::uint64_t origin = events.empty() ? 0 : events.front().begin_ns;
  const auto microseconds = [](std::uint64_t ns) { return static_cast<double>(ns) / 1000.0; };

  json list = json::array();
  for (std::size_t i = 0; i < impl_->groups.size(); ++i) {
    list.push_back({{"ph", "M"},
                    {"name", "process_name"},
                    {"pid", i},
                    {"args", {{"name", impl_->groups[i]}}}});
    list.push_back(
        {{"ph", "M"}, {"name", "process_sort_index"}, {"pid", i}, {"args", {{"sort_index", i}}}});
  }
  for (std::size_t i = 0; i < impl_->tracks.size(); ++i)
    list.push_back({{"ph", "M"},
                    {"name", "thread_name"},
                    {"pid", impl_->tracks[i].group},
                    {"tid", i},
                    {"args", {{"name", impl_->tracks[i].name}}}});
  for (const Event& event : events) {
    const std::size_t track = event.track < impl_->tracks.size() ? event.track : 0;
    json entry = {{"ph", std::string(1, static_cast<char>(event.kind))},
                  {"name", event.name},
                  {"pid", impl_->tracks[track].group},
                  {"tid", track},
                  {"ts", microseconds(event.begin_ns - origin)}};
    if (event.kind == Kind::span)
      entry["dur"] =
          microseconds(event.end_ns > event.begin_ns ? event.end_ns - event.begin_ns : 0);
    if (event.kind == Kind::instant) entry["s"] = "t";  // as wide as its lane
    if (event.kind == Kind::counter) entry["args"] = {{event.name, event.value}};
    for (const auto& [key, value] : event.args) entry["args"][key] = value;
    list.push_back(std::move(entry));
  }
  json document = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(list)}};
  if (dropped() != 0) document["otherData"] = {{"dropped_events", dropped()}};
  return stoker::write_json(document, BadUtf8::replace);
}

Result<void> TraceRecorder::try_write_json(const std::string& path) const {
  STOKER_TRY(impl_->fork.check("trace.write"));
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file << to_json() << '\n';
  file.close();
  if (file.fail())
    return Error{
        "trace.write", ErrorCode::io_error, "the trace could not be written", {{"path", path}}};
  return {};
}

}  // namespace stoker
