// Records what happened when, for chrome://tracing and ui.perfetto.dev.
//
// While it is off, a call costs one relaxed load. While it is on, events go into buffers of the
// recording threads; beyond `limit` events the rest are counted and dropped.
//
// Threads: every function may be called from any thread. A span may begin on one thread and end on
//          another: it is recorded when it ends.
// Units:   nanoseconds on the host's steady clock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/runtime/base/error.hpp"

namespace stoker {

/// A lane of the trace. 0 is the default lane, "stoker/main".
using TrackId = std::uint32_t;

/// One argument shown beside an event. Numbers are given as std::to_string(n).
struct TraceArg {
  std::string_view key;
  std::string value;
};
using TraceArgs = std::initializer_list<TraceArg>;

class TraceRecorder {
 public:
  explicit TraceRecorder(std::size_t limit = 4'000'000);
  ~TraceRecorder();
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;

  [[nodiscard]] bool enabled() const noexcept { return enabled_.load(std::memory_order_relaxed); }
  void enable(bool on = true) noexcept { enabled_.store(on, std::memory_order_relaxed); }

  /// The lane `name` in the group `group` ("actors", "queues", "commands", "transfers"); made if
  /// there is none.
  [[nodiscard]] TrackId track(std::string_view group, std::string_view name);

  /// Records a span from `begin_ns` to `end_ns`.
  void span(TrackId track, std::string_view name, std::uint64_t begin_ns, std::uint64_t end_ns,
            TraceArgs args = {}) noexcept;
  /// Records an event at one moment.
  void instant(TrackId track, std::string_view name, std::uint64_t at_ns,
               TraceArgs args = {}) noexcept;
  /// Records a value over time, drawn as a graph.
  void counter(TrackId track, std::string_view name, std::uint64_t at_ns, double value) noexcept;

  [[nodiscard]] static std::uint64_t now_ns() noexcept {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
  }

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t dropped() const noexcept;
  /// The Trace Event Format (JSON object form), times in microseconds since the first event.
  [[nodiscard]] std::string to_json() const;
  /// Writes to_json() to a file. Throws io_error if it cannot be written, forked_process.
  void write_json(const std::string& path) const { try_write_json(path).value(); }
  /// The same with the failure as a value.
  [[nodiscard]] Result<void> try_write_json(const std::string& path) const;

 private:
  struct Impl;
  std::atomic<bool> enabled_{false};
  std::unique_ptr<Impl> impl_;
};

/// Records the time from its construction to its end as a span; nothing if tracing was off then.
class [[nodiscard]] TraceSpan {
 public:
  TraceSpan(TraceRecorder& recorder, TrackId track, std::string_view name)
      : recorder_(recorder.enabled() ? &recorder : nullptr), track_(track) {
    if (recorder_ == nullptr) return;
    name_ = name;
    begin_ns_ = TraceRecorder::now_ns();
  }
  ~TraceSpan() {
    if (recorder_) recorder_->span(track_, name_, begin_ns_, TraceRecorder::now_ns());
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  TraceRecorder* recorder_;
  TrackId track_;
  std::uint64_t begin_ns_ = 0;
  std::string name_;
};

}  // namespace stoker
