// One request of a serving: its inputs, its deadline and the future of its result.
//
// It is answered exactly once: the first answer counts, whoever gives it. Whoever may still answer it holds a
// CallHolder. When the last holder is gone without an answer, the call answers itself with the reason for which the
// serving has closed; so no call can be forgotten.
//
// Threads: answers and cancel() from any; parts are delivered, and inputs kept or released, by one thread at a time
// (the batcher's strand).
// Lifetime: the future keeps the call, but does not hold it.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/actors/actor_cell.hpp"
#include "stoker/api/serve/admission.hpp"
#include "stoker/api/serve/batch_times.hpp"
#include "stoker/api/serve/row_layout.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker::serve {

class ServedCall;
using CallPtr = boost::intrusive_ptr<ServedCall>;

/// The outputs for some rows of a call.
struct Part {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  NamedValues outputs = {};
};

class ServedCall final : public FutureState<NamedValues> {
 public:
  /// Sends the batcher word that a call was cancelled.
  using TellCancelled = void (*)(const std::shared_ptr<ActorCell>& batcher, const CallPtr& call);

  /// `deadline`: time_point::max() for none. `tell` may be null.
  ServedCall(CheckedRequest request, Clock::time_point deadline, Admission::Ticket ticket,
             std::shared_ptr<const Admission> admission, std::weak_ptr<ActorCell> batcher,
             TellCancelled tell)
      : request_{std::move(request)},
        deadline_{deadline},
        ticket_{std::move(ticket)},
        admission_{std::move(admission)},
        batcher_{std::move(batcher)},
        tell_{tell} {
    times_.rows = request_.rows;
  }
  ~ServedCall() override;

  [[nodiscard]] const CheckedRequest& request() const noexcept { return request_; }
  [[nodiscard]] Clock::time_point deadline() const noexcept { return deadline_; }
  [[nodiscard]] Future<NamedValues> future() noexcept {
    return Future<NamedValues>{boost::intrusive_ptr<FutureState<NamedValues>>{this}};
  }

  /// By the batcher, before anything else.
  void arrive(Clock::time_point at) noexcept { times_.arrived = at; }
  /// Some of its rows have run. By who is about to answer it, or to add these rows.
  void ran(const BatchMoments& batch, std::int64_t batch_rows) noexcept {
    times_.add(batch, batch_rows);
  }
  /// Complete once it has a result.
  [[nodiscard]] const RequestTimes& times() const noexcept { return times_; }

  /// Its last row has left the queue: others may take its place.
  void left_queue() noexcept { ticket_.give_back(); }
  /// What computes its result, for a call that is alone in its batch: the first such work stays.
  void set_work(boost::intrusive_ptr<FutureCore> work) noexcept;
  /// The waiting thread takes part in that work, and in telling the batcher of its end.
  void assist(time_point deadline) noexcept override;
  /// It has its result, and no batch reads its inputs any more.
  void release_inputs() noexcept {
    if (!keeps_inputs_) request_.values.clear();
  }
  /// A thread may read its inputs whatever becomes of it: they stay for as long as the call does.
  void keep_inputs() noexcept { keeps_inputs_ = true; }
  /// False if it was answered before.
  bool fail(Error why) noexcept { return complete(Result<NamedValues>{std::move(why)}); }
  /// Whether it was answered with a result. Precondition: an answer of the caller's came too late. The first one may
  /// still be on its way into the future: another thread is storing it.
  [[nodiscard]] bool has_result() const noexcept {
    while (!ready()) std::this_thread::yield();
    return result().has_value();
  }
  /// Takes the outputs for some of its rows. When all rows are there, returns their parts in order of rows.
  [[nodiscard]] std::vector<Part> add(Part part);
  /// Answers with `cancelled` at once. The rest of its work is dropped: before it runs, or between the steps of a run
  /// whose requests nobody waits for.
  void cancel() noexcept override;

 private:
  friend class CallHolder;
  void hold() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
  void let_go() noexcept {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) abandon();
  }
  void abandon() noexcept;

  CheckedRequest request_;
  const Clock::time_point deadline_;
  Admission::Ticket ticket_;
  const std::shared_ptr<const Admission> admission_;
  const std::weak_ptr<ActorCell> batcher_;
  const TellCancelled tell_;
  std::atomic<std::uint32_t> holders_{0};
  std::atomic<FutureCore*> work_{nullptr};  ///< counted
  RequestTimes times_;
  std::vector<Part> parts_;
  std::int64_t rows_there_ = 0;
  bool keeps_inputs_ = false;
};

/// The times of a request that has its result. Null if the future is not that of a request that was accepted.
[[nodiscard]] const RequestTimes* times_of(const Future<NamedValues>& answered) noexcept;

/// Holds a call that is to be answered.
class CallHolder {
 public:
  explicit CallHolder(CallPtr call) noexcept : call_{std::move(call)} { call_->hold(); }
  CallHolder(const CallHolder& other) noexcept : call_{other.call_} {
    if (call_) call_->hold();
  }
  CallHolder(CallHolder&& other) noexcept = default;
  CallHolder& operator=(CallHolder other) noexcept {
    call_.swap(other.call_);
    return *this;
  }
  ~CallHolder() {
    if (call_) call_->let_go();
  }

  [[nodiscard]] ServedCall* operator->() const noexcept { return call_.get(); }
  [[nodiscard]] ServedCall& operator*() const noexcept { return *call_; }
  [[nodiscard]] const CallPtr& pointer() const noexcept { return call_; }

 private:
  CallPtr call_;
};

}  // namespace stoker::serve
