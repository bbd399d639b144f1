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

BatchNotice::Here::Here() noexcept : outer_{here_of_this_thread()} { here_of_this_thread() = this; }

BatchNotice::Here::~Here() {
  here_of_this_thread() = outer_;
  while (BatchNotice* const first = woken_) {
    woken_ = static_cast<BatchNotice*>(static_cast<Message*>(first->Envelope::next));
    first->Envelope::next = nullptr;
    deliver_here(std::unique_ptr<BatchNotice>{first});
  }
}

void BatchNotice::send(const ActorRef<Batcher>& batcher, ActorId worker,
                       Future<BatchOutputs> outcome) {
  auto notice = std::make_unique<BatchNotice>(batcher.cell(), worker, std::move(outcome));
  BatchNotice& waiter = *notice.release();  // its own until it is sent
  waiter.outcome_.on_ready(waiter);
}

void BatchNotice::deliver() {
  static_cast<Batcher*>(target().actor())->on(BatchEnded{worker_, *outcome_.poll()});
}

const std::type_info& BatchNotice::type() const noexcept { return typeid(BatchEnded); }

void BatchNotice::wake() noexcept {
  if (Here* const here = here_of_this_thread()) {
    Envelope::next = here->woken_;
    here->woken_ = this;
    return;
  }
  std::unique_ptr<BatchNotice> self{this};
  const auto target = std::move(batcher_);
  target->strand()->send_signal(std::move(self));
}

void BatchNotice::deliver_here(std::unique_ptr<BatchNotice> notice) noexcept {
  const auto target = std::move(notice->batcher_);
  Strand& strand = *target->strand();
  if (!strand.enter()) return strand.send_signal(std::move(notice));
  static_cast<void>(strand.deliver_now(*target, [&] { notice->deliver(); }));
}

}  // namespace stoker::serve
