// Word to the batcher that a batch has ended.
//
// The future of the batch wakes it, on any thread, and the batcher's executor delivers it. On a thread that waits for a
// call and has just computed the batch itself, it is delivered by this thread: waking another one would take longer
// than a small model does.
//
// Threads: any. Lifetime: its own until it is delivered. It allocates nothing when it is woken.
#pragma once

#include <memory>

#include "stoker/actors/message.hpp"
#include "stoker/api/serve/batch_worker.hpp"

namespace stoker::serve {

class BatchNotice final : public Message, private Waiter {
 public:
  /// Tells `batcher` of the outcome of that worker's batch.
  static void send(const ActorRef<Batcher>& batcher, ActorId worker, Future<BatchOutputs> outcome);

  /// While it lives, notices that are woken on this thread wait for its end, and are then delivered here. For plain
  /// threads outside of any lock.
  class Here {
   public:
    Here() noexcept;
    ~Here();
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;

   private:
    friend class BatchNotice;
    Here* const outer_;
    BatchNotice* woken_ = nullptr;  ///< a list by Message::next
  };

  BatchNotice(const std::shared_ptr<ActorCell>& batcher, ActorId worker,
              Future<BatchOutputs> outcome)
      : Message{batcher}, batcher_{batcher}, worker_{worker}, outcome_{std::move(outcome)} {}

  void deliver() override;
  [[nodiscard]] const std::type_info& type() const noexcept override;

 private:
  void wake() noexcept override;
  /// Runs the batcher on this thread if it is idle.
  static void deliver_here(std::unique_ptr<BatchNotice> notice) noexcept;

  std::shared_ptr<ActorCell> batcher_;
  const ActorId worker_;
  const Future<BatchOutputs> outcome_;
};

}  // namespace stoker::serve
