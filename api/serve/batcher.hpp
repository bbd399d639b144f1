// The actor of a serving: it owns the requests that wait, gives batches to free workers and answers the calls.
//
// It has one timer, armed only while a request has a deadline or may wait for a limited time, or a batch waits to be
// full. It ends when its supervisor ends it: calls that wait are answered at once, batches that run are waited for.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stoker/actors/timed_send.hpp"
#include "stoker/api/serve/batch_worker.hpp"
#include "stoker/api/serve/keyed_admission.hpp"
#include "stoker/api/serve/rate_meter.hpp"

namespace stoker::serve {

struct SubmitCall {
  CallHolder call;
};
struct CallCancelled {
  CallPtr call;
};
struct WorkerStarted {
  ActorRef<BatchWorker> worker;
};
/// A batch has: the batcher looks which one.
struct BatchEnded {};
/// Of its timer.
struct LookAgain {};
struct SetBatchSize {
  std::int64_t rows = 0;
};
struct SetTimeout {
  Clock::duration timeout = {};
};
struct AskStatus {};
/// Answered when all accepted calls are. Nothing may be admitted any more: batches wait no longer to be full.
struct AwaitDrained {};

/// What a batcher needs, and shares with the handles of its serving.
struct BatcherParts {
  std::shared_ptr<const BatchRunner> runner;
  std::shared_ptr<const KeyedAdmission> admission;
  BatchRules rules = {};
  BatchRetry retry = BatchRetry::never;
  std::int64_t max_request_batches = 4096;
  std::string reason = {};  ///< why requests do not join; empty if they do
  std::vector<std::string> partitions = {};
  std::vector<std::string> keys = {""};  ///< by position; one for each Admission
};

class Batcher : public Actor {
 public:
  explicit Batcher(BatcherParts parts)
      : parts_{std::move(parts)},
        queue_{parts_.rules},
        runner_{parts_.runner},
        left_queue_(parts_.keys.size()),
        key_rows_(parts_.keys.size()) {}
  ~Batcher() override;

  void on(SubmitCall submitted);
  void on(const CallCancelled& cancelled);
  void on(WorkerStarted started);
  void on(BatchEnded);
  void on(LookAgain);
  void on(SetBatchSize set);
  void on(SetTimeout set);
  ServingStatus on(AskStatus);
  Future<void> on(AwaitDrained);

 private:
  struct Worker {
    ActorRef<BatchWorker> actor;
    MonitorRef monitor;
    std::shared_ptr<RunningBatch> batch = {};  ///< null: it is free
  };
  using Running = std::shared_ptr<RunningBatch>;
  /// Calls that have a deadline and were not answered, by deadline.
  using Deadlines = std::set<std::pair<Clock::time_point, CallPtr>>;

  void on_down(const Down& down) override;
  void on_parent_exit(const Exit& exit) override;
  void terminate(const ExitReason& why) override;

  [[nodiscard]] Clock::time_point now() const { return executor()->clock().now(); }
  [[nodiscard]] bool needs_too_many_batches(const CheckedRequest& request) const noexcept;
  /// Frees workers whose batch has ended, gives batches to free ones and answers the calls of those that have ended.
  void exchange_batches();
  /// The same, and arms the timer for what is to be done later.
  void dispatch();
  void start_batches();
  void start(Worker& worker, Batch batch);
  [[nodiscard]] Worker* free_worker() noexcept;
  void arm_timer();
  /// A worker's batch has ended, or its worker has.
  void end(const Batch& batch, Result<BatchOutputs> outcome);
  void deliver(const Batch& batch, const Piece& piece, NamedValues outputs);
  void repeat(const Batch& batch);
  /// Answers with a failure, unless it was answered.
  void fail(const CallPtr& call, const Error& why);
  /// It has its result, maybe from the thread that computed it.
  void count_answer(const CallPtr& call);
  /// A call was answered, and not with a result.
  void count_unanswered(const CallPtr& call);
  /// A call was answered: it needs no deadline any more.
  void settle(const CallPtr& call);
  /// Whether the plan for such a batch was not used before.
  [[nodiscard]] bool is_new(const Batch& batch) const;
  void note_use(const Batch& batch);
  void note_times(const Batch& batch);
  /// A call was answered before all of its rows have run: nobody waits for the rest.
  void drop(const CallPtr& call);
  /// Ends batches that nobody waits for.
  void cancel_unwanted();
  /// Answers those whose deadline has passed, or whose level lets them wait no longer.
  void expire();
  /// Admits nobody and answers all that wait.
  void close(const ExitReason& why);
  [[nodiscard]] bool is_idle() const noexcept;
  void tell_drained();

  const BatcherParts parts_;
  BatchQueue queue_;
  const std::shared_ptr<const BatchRunner> runner_;
  std::vector<Worker> workers_;
  Deadlines deadlines_;
  SendTimer timer_;
  Clock::time_point armed_ = Clock::time_point::max();
  std::optional<ExitReason> leaving_;
  std::vector<Promise<void>> drained_;
  ServingTotals totals_;
  std::map<std::int64_t, std::uint64_t> batch_sizes_;
  ServingTimes times_;
  std::map<std::int64_t, ServingBatchTimes> batch_times_;
  std::map<ErrorCode, std::uint64_t> failures_;
  std::chrono::system_clock::time_point last_batch_;
  std::map<Signature, std::vector<std::int64_t>> used_;  ///< sizes of batches that have run
  RateMeter answered_, rows_;
  std::vector<RateMeter> left_queue_;  ///< whole requests, by key
  std::vector<std::uint64_t> key_rows_;
};

}  // namespace stoker::serve
