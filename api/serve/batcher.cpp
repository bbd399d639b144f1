#include "stoker/api/serve/batcher.hpp"

#include <algorithm>

#include "stoker/api/serve/batch_notice.hpp"
#include "stoker/runtime/execution/deferred_wakes.hpp"
#include "stoker/runtime/futures/cancel.hpp"

namespace stoker::serve {
namespace {

/// A batch of fewer bytes may start on the thread that completes it, which is often a caller's.
constexpr std::uint64_t small_batch_bytes = std::uint64_t{64} << 10;
/// Callers choose signatures, so not all are remembered.
constexpr std::size_t most_signatures = 256;

bool is_small(const Batch& batch) noexcept {
  std::uint64_t bytes = 0;
  for (const Piece& piece : batch.pieces) bytes += piece.call->request().bytes;
  return bytes <= small_batch_bytes;
}

Error ended_error(const ExitReason& why) { return why.as_error("serving", "serving"); }

}  // namespace

Batcher::~Batcher() {
  // Calls that come later, or were sent and not delivered, hear of the end, too.
  parts_.admission->close(
      error_or_out_of_memory([] { return ended_error(ExitReason::shutdown()); }));
}

void Batcher::on(SubmitCall submitted) {
  ++totals_.accepted;
  const CallPtr call = submitted.call.pointer();
  const auto at = now();
  call->arrive(at);
  if (call->ready()) {  // cancelled on its way; word of it comes behind
    call->left_queue();
    return;
  }
  if (leaving_) return fail(call, ended_error(*leaving_));
  if (needs_too_many_batches(call->request())) {
    call->left_queue();
    return fail(
        call, Error{"serving",
                    ErrorCode::limit_exceeded,
                    "the request has more rows than " + std::to_string(parts_.max_request_batches) +
                        " batches of " + std::to_string(queue_.rules().batch_size) + " hold",
                    {{"rows", std::to_string(call->request().rows)}}});
  }
  if (call->deadline() != Clock::time_point::max()) deadlines_.emplace(call->deadline(), call);
  queue_.add(std::move(submitted.call), at);
  dispatch();
}

bool Batcher::needs_too_many_batches(const CheckedRequest& request) const noexcept {
  const std::int64_t size = queue_.rules().batch_size;
  return !request.apart && (request.rows - 1) / size >= parts_.max_request_batches;
}

void Batcher::on(const CallCancelled& cancelled) {
  ++totals_.cancelled;
  count_unanswered(cancelled.call);
  drop(cancelled.call);
  dispatch();
}

void Batcher::on(WorkerStarted started) {
  if (!started.worker.alive()) return;
  const MonitorRef monitor = this->monitor(started.worker);
  workers_.push_back({.actor = std::move(started.worker), .monitor = monitor});
  dispatch();
}

void Batcher::on(BatchEnded) { dispatch(); }

void Batcher::on_down(const Down& down) {
  const auto worker = std::ranges::find(workers_, down.monitor, &Worker::monitor);
  if (worker == workers_.end()) return;
  const Running running = std::move(worker->batch);
  workers_.erase(worker);
  if (!down.reason.planned()) ++totals_.crashes;
  if (running && !running->abandon()) {
    end(running->batch(), running->take_outcome());
  } else if (running) {
    // Another thread may just be starting the batch, and read its inputs.
    for (const Piece& piece : running->batch().pieces) piece.call->keep_inputs();
    const Error* const thrown = down.reason.error();
    end(running->batch(), thrown ? *thrown : down.reason.as_error("serving", down.name));
    running->cancel().cancel(cancelled_error("serving"));  // nobody hears of its end
  }
  dispatch();
}

void Batcher::on(LookAgain) {
  armed_ = Clock::time_point::max();
  dispatch();
}

void Batcher::on(SetBatchSize set) {
  queue_.set_batch_size(set.rows);
  dispatch();
}

void Batcher::on(SetTimeout set) {
  queue_.set_timeout(set.timeout);
  dispatch();
}

ServingStatus Batcher::on(AskStatus) {
  // Who asks because an answer is there finds it counted.
  for (const Worker& worker : workers_)
    if (worker.batch) worker.batch->await_ending();
  dispatch();
  ServingStatus status;
  status.joins = parts_.reason.empty();
  status.reason = parts_.reason;
  const BatchRules& rules = queue_.rules();
  status.batch_size = rules.batch_size;
  status.batch_timeout = rules.timeout;
  status.partitions = parts_.partitions;
  status.sizes = rules.sizes;
  status.padding = rules.padding && !rules.sizes.empty();
  status.draining = parts_.admission->closed().has_value();
  status.queued = parts_.admission->requests();
  status.queued_bytes = parts_.admission->bytes();
  status.running = static_cast<std::size_t>(
      std::ranges::count_if(workers_, [](const Worker& one) { return one.batch != nullptr; }));
  status.workers = workers_.size();
  status.requests_per_second = answered_.per_second(now());
  status.rows_per_second = rows_.per_second(now());
  status.levels.reserve(rules.levels.size());
  for (std::size_t level = 0; level < rules.levels.size(); ++level)
    status.levels.push_back({.queued = parts_.admission->requests(level),
                             .refused = parts_.admission->refused(level),
                             .late = queue_.late(level)});
  for (std::size_t key = 0; key < parts_.keys.size(); ++key)
    status.keys[parts_.keys[key]] = {.queued = parts_.admission->of(key)->requests(),
                                     .queued_bytes = parts_.admission->of(key)->bytes(),
                                     .rows = key_rows_[key]};
  status.totals = totals_;
  status.totals.refused = parts_.admission->refused();
  // As they were read above: their difference, those that the queue of all refused, never becomes less.
  for (const ServingLevelStatus& level : status.levels) status.totals.refused += level.refused;
  status.batches = batch_sizes_;
  status.times = times_;
  status.batch_times = batch_times_;
  status.failures = failures_;
  status.last_batch = last_batch_;
  return status;
}

Future<void> Batcher::on(AwaitDrained) {
  queue_.flush();
  Promise<void>& drained = drained_.emplace_back();
  Future<void> future = drained.future();
  dispatch();
  return future;
}

void Batcher::on_parent_exit(const Exit& exit) {
  if (leaving_) return;
  leaving_ = exit.reason;
  close(exit.reason);
  dispatch();
}

void Batcher::terminate(const ExitReason& why) {
  close(why);
  for (const Worker& worker : workers_) {
    if (!worker.batch) continue;
    for (const Piece& piece : worker.batch->batch().pieces)
      fail(piece.call.pointer(), ended_error(why));
    worker.batch->cancel().cancel(cancelled_error("serving"));
  }
}

// --- batches -------------------------------------------------------------------------------------

Batcher::Worker* Batcher::free_worker() noexcept {
  const auto found = std::ranges::find(workers_, nullptr, &Worker::batch);
  return found == workers_.end() ? nullptr : &*found;
}

void Batcher::exchange_batches() {
  expire();
  std::vector<std::pair<Running, Result<BatchOutputs>>> ended;
  for (Worker& worker : workers_) {
    if (!worker.batch || !worker.batch->ended()) continue;
    const Running running = std::exchange(worker.batch, nullptr);
    Result<BatchOutputs> outcome = running->take_outcome();
    if (outcome)
      ended.emplace_back(running, std::move(outcome));
    else
      end(running->batch(), std::move(outcome));  // before others: it may run again
  }
  // Who is woken takes the processor, and the next batch needs it first.
  const DeferredWakes held;
  start_batches();
  for (auto& [running, outcome] : ended) end(running->batch(), std::move(outcome));
}

void Batcher::start_batches() {
  for (Worker* worker = free_worker(); worker != nullptr; worker = free_worker()) {
    std::optional<Batch> batch = queue_.take(now());
    if (!batch) break;
    start(*worker, *std::move(batch));
  }
}

void Batcher::dispatch() {
  exchange_batches();
  if (leaving_ && is_idle()) return leave(*leaving_);
  tell_drained();
  arm_timer();
}

void Batcher::start(Worker& worker, Batch batch) {
  const auto at = now();
  batch.moments = {.started = at};
  last_batch_ = std::chrono::system_clock::now();
  ++totals_.batches;
  totals_.rows += static_cast<std::uint64_t>(batch.rows);
  totals_.padding += static_cast<std::uint64_t>(batch.size - batch.rows);
  ++batch_sizes_[batch.size];
  rows_.add(static_cast<double>(batch.rows), at);
  key_rows_[batch.key] += static_cast<std::uint64_t>(batch.rows);
  if (!batch.again)
    left_queue_[batch.key].add(
        static_cast<double>(std::ranges::count_if(batch.pieces, &Piece::is_last)), at);
  parts_.admission->of(batch.key)->set_rate(left_queue_[batch.key].per_second(at));
  const bool may_be_here = is_small(batch) && BatchNotice::Here::may_start(batch);
  const bool unused = is_new(batch);
  worker.batch = std::make_shared<RunningBatch>(std::move(batch), unused);
  // A worker that has ended refuses nothing: its Down is on its way.
  static_cast<void>(
      worker.actor.cast(RunBatch{worker.batch}, may_be_here ? Run::here : Run::posted));
}

bool Batcher::is_new(const Batch& batch) const {
  const auto used = used_.find(batch.pieces.front().call->request().signature);
  return used == used_.end() || std::ranges::find(used->second, batch.size) == used->second.end();
}

void Batcher::note_use(const Batch& batch) {
  if (!is_new(batch)) return;
  if (used_.size() >= most_signatures) used_.clear();  // no more than a guess is lost
  used_[batch.pieces.front().call->request().signature].push_back(batch.size);
}

void Batcher::end(const Batch& batch, Result<BatchOutputs> outcome) {
  if (outcome) {
    note_use(batch);
    note_times(batch);
    const std::uint64_t before = totals_.answered;
    for (std::size_t i = 0; i < batch.pieces.size(); ++i)
      deliver(batch, batch.pieces[i], std::move((**outcome)[i]));
    answered_.add(static_cast<double>(totals_.answered - before), now());
    return;
  }
  if (parts_.retry != BatchRetry::never && !batch.again && !leaving_ && batch.wanted())
    return repeat(batch);
  for (const Piece& piece : batch.pieces) {
    fail(piece.call.pointer(), outcome.error());
    if (!piece.is_whole()) drop(piece.call.pointer());
  }
}

void Batcher::note_times(const Batch& batch) {
  ServingBatchTimes& times = batch_times_[batch.size];
  ++times.count;
  times.compute_input += batch.moments.input();
  times.compute_infer += batch.moments.infer();
  times.compute_output += batch.moments.output();
}

void Batcher::deliver(const Batch& batch, const Piece& piece, NamedValues outputs) {
  const CallPtr& call = piece.call.pointer();
  Result<NamedValues> answer{std::move(outputs)};
  if (!batch.is_whole_request() && !call->ready()) call->ran(batch.moments, batch.rows);
  if (!piece.is_whole()) {
    if (call->ready()) return;
    std::vector<Part> parts = call->add({piece.first_row, piece.rows, *std::move(answer)});
    if (parts.empty()) return;
    const auto join = [&] { return runner_->join(std::move(parts)); };
    answer = detail::call_as_result<NamedValues>("serving", join);
    if (!answer) return fail(call, answer.error());
  }
  if (call->complete(std::move(answer)) || call->has_result()) count_answer(call);
}

void Batcher::repeat(const Batch& batch) {
  if (parts_.retry == BatchRetry::once) {
    ++totals_.retries;
    // Without its moments: if its worker is gone, another thread may still write them.
    return queue_.put_back({.pieces = batch.pieces, .rows = batch.rows, .key = batch.key});
  }
  for (const Piece& piece : batch.pieces) {
    ++totals_.retries;
    queue_.put_back({.pieces = {piece}, .rows = piece.rows, .key = batch.key});
  }
}

// --- calls ---------------------------------------------------------------------------------------

void Batcher::fail(const CallPtr& call, const Error& why) {
  if (!call->fail(why)) {
    if (call->has_result()) count_answer(call);
    return;
  }
  ++totals_.failed;
  ++failures_[why.code()];
  count_unanswered(call);
  settle(call);
}

void Batcher::count_unanswered(const CallPtr& call) {
  // One that was cancelled on its way never arrived.
  const auto arrived = call->times().arrived;
  if (arrived != Clock::time_point{}) totals_.unanswered_time += now() - arrived;
}

void Batcher::count_answer(const CallPtr& call) {
  ++totals_.answered;
  totals_.answered_rows += static_cast<std::uint64_t>(call->request().rows);
  const RequestTimes& times = call->times();
  times_.request.add(times.whole());
  times_.queue.add(times.queue());
  times_.compute_input.add(times.input);
  times_.compute_infer.add(times.infer);
  times_.compute_output.add(times.output);
  call->release_inputs();
  settle(call);
}

void Batcher::settle(const CallPtr& call) {
  if (call->deadline() != Clock::time_point::max()) deadlines_.erase({call->deadline(), call});
}

void Batcher::drop(const CallPtr& call) {
  settle(call);
  queue_.remove(*call);
  cancel_unwanted();
}

void Batcher::cancel_unwanted() {
  for (const Worker& worker : workers_)
    if (worker.batch && !worker.batch->ended() && !worker.batch->batch().wanted())
      worker.batch->cancel().cancel(cancelled_error("serving"));
}

void Batcher::expire() {
  const auto at = now();
  if (queue_.next_late() <= at)
    for (const CallHolder& late : queue_.take_late(at)) {
      const std::string priority = std::to_string(late->request().level + 1);
      if (!late->fail(Error{"serving",
                            ErrorCode::deadline_exceeded,
                            "it has waited for longer than its priority allows",
                            {{"priority", priority}}}))
        continue;
      ++totals_.expired;
      ++totals_.late;
      count_unanswered(late.pointer());
      settle(late.pointer());
    }
  while (!deadlines_.empty() && deadlines_.begin()->first <= at) {
    const CallPtr call = deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    if (!call->fail(deadline_error("serving"))) continue;
    ++totals_.expired;
    count_unanswered(call);
    drop(call);
  }
}

void Batcher::arm_timer() {
  auto next = deadlines_.empty() ? Clock::time_point::max() : deadlines_.begin()->first;
  next = std::min(next, queue_.next_late());
  if (free_worker() != nullptr) next = std::min(next, queue_.next_ready());
  if (next == Clock::time_point::max()) {
    timer_.cancel();
    armed_ = next;
  } else if (next < armed_) {  // one that fires earlier looks again
    timer_ = cast_after(self<Batcher>(), next - now(), LookAgain{});
    armed_ = next;
  }
}

// --- the end -------------------------------------------------------------------------------------

void Batcher::close(const ExitReason& why) {
  const Error ended = ended_error(why);
  parts_.admission->close(ended);
  for (const CallHolder& call : queue_.clear()) fail(call.pointer(), ended);
}

bool Batcher::is_idle() const noexcept {
  return queue_.empty() &&
         std::ranges::all_of(workers_, [](const Worker& one) { return one.batch == nullptr; });
}

void Batcher::tell_drained() {
  if (drained_.empty() || !is_idle() || parts_.admission->requests() != 0) return;
  for (Promise<void>& one : std::exchange(drained_, {})) one.set();
}

}  // namespace stoker::serve
