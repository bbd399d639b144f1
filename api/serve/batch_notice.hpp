// Word to the batcher that a batch has ended.
//
// The future of the batch wakes it, on any thread, and a task of the batcher's executor delivers it. On a caller's
// thread that has just computed the batch itself, this thread delivers it: waking another one would take longer than a
// small model does.
//
// Threads: any. Lifetime: its own until it is delivered. It allocates nothing when it is woken.
#pragma once

#include <memory>

#include "stoker/actors/message.hpp"
#include "stoker/api/serve/batch_worker.hpp"
#include "stoker/runtime/execution/task.hpp"

namespace stoker::serve {

class BatchNotice final : public Message, private Waiter, private Task {
 public:
  /// Sets the batch's end to this outcome when it is there, and tells `batcher`.
  static void send(const ActorRef<Batcher>& batcher, std::shared_ptr<RunningBatch> batch,
                   Future<BatchOutputs> outcome);

  /// The calling thread is a caller's. While it lives, notices that are woken on this thread wait for its end, and are
  /// then delivered here. For threads outside of any lock.
  class Here {
   public:
    /// `own`: the call that this thread is about to submit, if it is. It may start that one, and leaves all other
    /// batches to other threads: nobody's answer waits for the requests of others.
    explicit Here(const ServedCall* own = nullptr) noexcept;
    ~Here();
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;

    /// Whether the calling thread may start the batch. A thread that is no caller's may start any.
    [[nodiscard]] static bool may_start(const Batch& batch) noexcept;

   private:
    friend class BatchNotice;
    Here* const outer_;
    const ServedCall* own_;
    BatchNotice* woken_ = nullptr;  ///< a list by Message::next
  };

  BatchNotice(const std::shared_ptr<ActorCell>& batcher, std::shared_ptr<RunningBatch> batch,
              Future<BatchOutputs> outcome)
      : Message{batcher},
        batcher_{batcher},
        batch_{std::move(batch)},
        outcome_{std::move(outcome)} {
    brief = true;
  }

  void deliver() override;
  [[nodiscard]] const std::type_info& type() const noexcept override;

 private:
  void wake() noexcept override;
  void run() noexcept override;
  void drop() noexcept override;
  /// Runs the batcher on this thread if it is idle.
  static void deliver_here(std::unique_ptr<BatchNotice> notice) noexcept;

  std::shared_ptr<ActorCell> batcher_;
  const std::shared_ptr<RunningBatch> batch_;
  Future<BatchOutputs> outcome_;
};

}  // namespace stoker::serve
