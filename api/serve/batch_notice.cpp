#include "stoker/api/serve/batch_notice.hpp"

#include "stoker/api/serve/batcher.hpp"
#include "stoker/runtime/base/thread_local.hpp"

namespace stoker::serve {
namespace {

/// The innermost Here of the calling thread.
STOKER_THREAD_LOCAL_ACCESS BatchNotice::Here*& here_of_this_thread() noexcept {
  static thread_local BatchNotice::Here* here = nullptr;
  return here;
}

}  // namespace

BatchNotice::Here::Here(const ServedCall* own) noexcept : outer_{here_of_this_thread()}, own_{own} {
  here_of_this_thread() = this;
}

BatchNotice::Here::~Here() {
  own_ = nullptr;
  while (BatchNotice* const first = woken_) {
    woken_ = static_cast<BatchNotice*>(static_cast<Message*>(first->Envelope::next));
    first->Envelope::next = nullptr;
    deliver_here(std::unique_ptr<BatchNotice>{first});
  }
  here_of_this_thread() = outer_;
}

bool BatchNotice::Here::may_start(const Batch& batch) noexcept {
  const Here* const here = here_of_this_thread();
  if (here == nullptr) return true;
  return batch.pieces.size() == 1 && batch.pieces.front().call.pointer().get() == here->own_;
}

void BatchNotice::send(const ActorRef<Batcher>& batcher, std::shared_ptr<RunningBatch> batch,
                       Future<BatchOutputs> outcome) {
  auto notice = std::make_unique<BatchNotice>(batcher.cell(), std::move(batch), std::move(outcome));
  BatchNotice& waiter = *notice.release();  // its own until it is sent
  // It may be gone before on_ready() returns.
  const Future<BatchOutputs> awaited = waiter.outcome_;
  awaited.on_ready(waiter);
}

void BatchNotice::deliver() { static_cast<Batcher*>(target().actor())->on(BatchEnded{}); }

const std::type_info& BatchNotice::type() const noexcept { return typeid(BatchEnded); }

void BatchNotice::wake() noexcept {
  batch_->ended_with(std::move(outcome_), batcher_->strand()->executor().clock().now());
  if (Here* const here = here_of_this_thread()) {
    Envelope::next = here->woken_;
    here->woken_ = this;
    return;
  }
  const auto target = batcher_;  // this may be gone before defer() returns
  target->strand()->executor().defer(static_cast<Task&>(*this));
}

void BatchNotice::run() noexcept { deliver_here(std::unique_ptr<BatchNotice>{this}); }

void BatchNotice::drop() noexcept { const std::unique_ptr<BatchNotice> self{this}; }

void BatchNotice::deliver_here(std::unique_ptr<BatchNotice> notice) noexcept {
  const auto target = std::move(notice->batcher_);
  Strand& strand = *target->strand();
  if (!strand.enter()) return strand.send_signal(std::move(notice));
  static_cast<void>(strand.deliver_now(*target, [&] { notice->deliver(); }));
}

}  // namespace stoker::serve
