#include "stoker/runtime/futures/when.hpp"

#include <string>

namespace stoker::detail {

void check_inputs(const char* op, const std::vector<CorePtr>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i])
      throw Error{op,
                  ErrorCode::invalid_argument,
                  "input " + std::to_string(i) + " is an empty future",
                  {{"input", std::to_string(i)}}};
}

void AllGate::start() noexcept {
  // One more than there are inputs, so that nothing completes while this loop runs.
  left_.store(inputs_.size() + 1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    waiters_[i].gate = this;
    inputs_[i]->observe();
    inputs_[i]->add(waiters_[i]);
  }
  arrive();
}

void AllGate::cancel_inputs() noexcept {
  for (const CorePtr& input : inputs_) input->cancel();
}

namespace {

/// Each registered waiter holds a reference to the state. When the first input is ready the others
/// are removed, so that a future that lives long does not collect dead waiters.
class AnyState final : public FutureState<std::size_t> {
 public:
  explicit AnyState(std::vector<CorePtr> inputs)
      : inputs_(std::move(inputs)), waiters_(inputs_.size()) {}

  void start() noexcept {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if ((phase_.load(std::memory_order_acquire) & won) != 0) break;
      waiters_[i].state = this;
      waiters_[i].index = i;
      intrusive_ptr_add_ref(this);
      registered_ = i + 1;
      inputs_[i]->add(waiters_[i]);
    }
    if ((phase_.fetch_or(all_registered, std::memory_order_acq_rel) & won) != 0) let_go();
  }

 private:
  struct Each final : Waiter {
    AnyState* state = nullptr;
    std::size_t index = 0;
    void wake() noexcept override {
      const boost::intrusive_ptr<AnyState> keep{state, false};
      keep->ready_first(index);
    }
  };

  void ready_first(std::size_t index) noexcept {
    if (!complete(index)) return;
    if ((phase_.fetch_or(won, std::memory_order_acq_rel) & all_registered) != 0) let_go();
  }
  // Called once, by whoever sets the second bit of the phase.
  void let_go() noexcept {
    for (std::size_t i = 0; i < registered_; ++i)
      if (inputs_[i]->remove(waiters_[i])) intrusive_ptr_release(this);
  }
  void cancel() noexcept override {
    for (const CorePtr& input : inputs_) input->cancel();
  }

  static constexpr unsigned won = 1;
  static constexpr unsigned all_registered = 2;
  std::vector<CorePtr> inputs_;
  std::vector<Each> waiters_;
  std::size_t registered_ = 0;
  std::atomic<unsigned> phase_{0};
};

}  // namespace

Future<std::size_t> any_of(std::vector<CorePtr> inputs) {
  if (inputs.empty())
    return make_ready_future<std::size_t>(
        Error{"when_any", ErrorCode::invalid_argument, "there are no futures to wait for"});
  check_inputs("when_any", inputs);
  boost::intrusive_ptr state{new AnyState{std::move(inputs)}};  // NOLINT: counted
  state->start();
  return Future<std::size_t>{std::move(state)};
}

}  // namespace stoker::detail
