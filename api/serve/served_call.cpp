#include "stoker/api/serve/served_call.hpp"

#include <algorithm>

#include "stoker/api/serve/batch_notice.hpp"
#include "stoker/runtime/futures/cancel.hpp"

namespace stoker::serve {

ServedCall::~ServedCall() {
  if (FutureCore* const work = work_.load(std::memory_order_acquire)) intrusive_ptr_release(work);
}

void ServedCall::set_work(boost::intrusive_ptr<FutureCore> work) noexcept {
  FutureCore* none = nullptr;
  if (work_.compare_exchange_strong(none, work.get(), std::memory_order_acq_rel)) work.detach();
}

void ServedCall::assist(time_point deadline) noexcept {
  FutureCore* const work = work_.load(std::memory_order_acquire);
  if (work == nullptr) return;
  const BatchNotice::Here here;
  work->assist(deadline);
}

std::vector<Part> ServedCall::add(Part part) {
  rows_there_ += part.rows;
  parts_.push_back(std::move(part));
  if (rows_there_ < request_.rows) return {};
  std::ranges::sort(parts_, {}, &Part::first_row);
  return std::move(parts_);
}

void ServedCall::cancel() noexcept {
  const CallPtr self{this};
  if (!fail(error_or_out_of_memory([] { return cancelled_error("serving"); }))) return;
  if (tell_ == nullptr) return;
  if (const auto batcher = batcher_.lock()) tell_(batcher, self);
}

const RequestTimes* times_of(const Future<NamedValues>& answered) noexcept {
  const auto* const call = dynamic_cast<const ServedCall*>(answered.state().get());
  return call != nullptr ? &call->times() : nullptr;
}

void ServedCall::abandon() noexcept {
  if (ready()) return;
  static_cast<void>(fail(error_or_out_of_memory([this] {
    const std::optional<Error> why = admission_->closed();
    return why ? *why : Error{"serving", ErrorCode::closed, "the serving has ended"};
  })));
}

}  // namespace stoker::serve
