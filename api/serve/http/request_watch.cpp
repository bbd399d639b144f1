#include "stoker/api/serve/http/request_watch.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace stoker::serve::http {
namespace {

constexpr unsigned last_lane = 63;

std::uint64_t ns_of(Clock::time_point time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

}  // namespace

unsigned RequestLanes::take() noexcept {
  std::uint64_t taken = taken_.load(std::memory_order_relaxed);
  for (;;) {
    const auto lane = static_cast<unsigned>(std::countr_one(taken));
    if (lane >= last_lane) return last_lane;
    if (taken_.compare_exchange_weak(taken, taken | (std::uint64_t{1} << lane),
                                     std::memory_order_relaxed))
      return lane;
  }
}

void RequestLanes::give_back(unsigned lane) noexcept {
  if (lane < last_lane) taken_.fetch_and(~(std::uint64_t{1} << lane), std::memory_order_relaxed);
}

RequestWatch::RequestWatch(std::shared_ptr<RequestLanes> lanes, const protocol::ModelLabel& label,
                           std::string_view traceparent)
    : lanes_{std::move(lanes)}, label_{label}, parent_{trace_parent_of(traceparent)} {
  if (!lanes_ || !lanes_->trace().enabled()) return;
  lane_ = lanes_->take();
  began_ns_ = TraceRecorder::now_ns();
}

RequestWatch::~RequestWatch() {
  if (began_ns_ == 0) return;
  record();
  lanes_->give_back(lane_);
}

void RequestWatch::read(std::string id) {
  id_ = std::move(id);
  if (began_ns_ != 0) read_ns_ = TraceRecorder::now_ns();
}

void RequestWatch::ran(const RequestTimes& times) { times_ = times; }

HttpInference RequestWatch::beginning() const {
  return {.model = label_.name,
          .version = label_.version,
          .trace_id = parent_ ? parent_->trace_id : std::string{}};
}

HttpInference RequestWatch::noted() const {
  HttpInference noted = beginning();
  noted.request_id = id_;
  if (!times_) return noted;
  noted.rows = times_->rows;
  noted.batch_rows = times_->batch_rows;
  noted.queue = times_->queue();
  noted.compute = times_->input + times_->infer + times_->output;
  return noted;
}

void RequestWatch::record() const noexcept {
  try {
    TraceRecorder& trace = lanes_->trace();
    const TrackId track = trace.track("requests", "request " + std::to_string(lane_ + 1));
    const std::uint64_t end = TraceRecorder::now_ns();
    const TraceParent parent = parent_.value_or(TraceParent{});
    trace.span(track, label_.name, began_ns_, end,
               {{"id", id_},
                {"trace_id", parent.trace_id},
                {"parent_id", parent.parent_id},
                {"rows", std::to_string(times_ ? times_->rows : 0)}});
    if (read_ns_ != 0) trace.span(track, "read", began_ns_, read_ns_);
    if (!times_) return;
    const std::uint64_t started = ns_of(times_->started);
    const std::uint64_t ended = ns_of(times_->ended);
    trace.span(track, "queue", std::min(ns_of(times_->arrived), started), started,
               {{"trace_id", parent.trace_id}});
    trace.span(track, "batch", started, ended,
               {{"trace_id", parent.trace_id}, {"rows", std::to_string(times_->batch_rows)}});
    trace.span(track, "write", ended, end);
    if (times_->batches != 1) return;  // the steps of several batches lie between others
    const std::uint64_t joined = started + static_cast<std::uint64_t>(times_->input.count());
    const std::uint64_t computed = joined + static_cast<std::uint64_t>(times_->infer.count());
    trace.span(track, "gather", started, joined);
    trace.span(track, "compute", joined, computed);
    trace.span(track, "scatter", computed, ended);
  } catch (const std::exception&) {  // a trace may lack what there is no memory for
  }
}

}  // namespace stoker::serve::http
