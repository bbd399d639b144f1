#include "stoker/actors/process_actor.hpp"

#include <algorithm>

namespace stoker {

/// Lets the stack go on, in a turn of its strand; also when the cell has ended meanwhile.
class ProcessLife::Resume final : public Message {
 public:
  Resume(const std::shared_ptr<ActorCell>& target, Task& process)
      : Message{target}, process_{&process} {
    system = true;
  }
  void deliver() override { process_->run(); }
  void refuse(const Error&) noexcept override {
    if (target().strand()->closed())
      process_->drop();  // there is nowhere to run any more
    else
      process_->run();
  }
  [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(Resume); }

 private:
  Task* process_;
};

class ProcessLife::Body final : public ProcessBody {
 public:
  Body(std::shared_ptr<ProcessLife> life, std::function<void()> function)
      : life_{std::move(life)}, function_{std::move(function)} {}

  void run() noexcept override {
    try {
      life_->begin();
      function_();
    } catch (const ExitNow& exit) {
      why_ = exit.reason;
    } catch (...) {
      why_ = ExitReason::failure(error_from_current_exception(life_->name_));
    }
    function_ = nullptr;  // here, so that destructors may wait too
  }
  void ended() noexcept override { life_->ended(why_); }
  void lost() noexcept override { life_->ended(ExitReason::executor_gone()); }

 private:
  std::shared_ptr<ProcessLife> life_;
  std::function<void()> function_;
  ExitReason why_;
};

void ProcessLife::start(const std::shared_ptr<ProcessLife>& life,
                        const std::shared_ptr<ActorCell>& cell, ActorCell* parent,
                        std::size_t stack_bytes, std::function<void()> function) {
  life->cell_ = cell;
  life->keep_alive_ = cell;
  cell->strand()->set_reader(life.get());
  try {
    if (parent) parent->link(*cell);
    ProcessBase::start(*life->executor_, std::make_unique<Body>(life, std::move(function)),
                       {.stack_bytes = stack_bytes, .name = life->name_}, life.get());
  } catch (...) {
    // It has never been: nobody hears of its end.
    if (parent) parent->unlink(*cell, Flush::no);
    life->keep_alive_.reset();
    throw;
  }
}

// --- on the stack --------------------------------------------------------------------------------

void ProcessLife::begin() {
  {
    const std::scoped_lock lock{mutex_};
    state_ = State::running;
  }
  check_exit();
}

void ProcessLife::check_exit() const {
  const std::scoped_lock lock{mutex_};
  if (exit_) throw ExitNow{*exit_};
}

std::shared_ptr<ActorCell> ProcessLife::cell() const {
  auto cell = cell_.lock();
  if (!cell || !cell->alive()) throw ExitNow{ExitReason::killed()};
  return cell;
}

std::unique_ptr<Message> ProcessLife::take(const std::function<bool(Message&)>& wanted,
                                           std::optional<Clock::time_point> until) {
  const auto picks = [&](Message& message) {
    return message.content(typeid(ExitNow)) != nullptr || wanted(message);
  };
  bool first = true;
  for (;;) {
    check_exit();
    {
      const auto cell = this->cell();
      Strand& strand = *cell->strand();
      // Signals are delivered between its turns, and others want theirs: one that always finds a
      // message never waits.
      if (strand.signals_wait() || taken_ >= std::max(1, executor_->turn_budget())) {
        taken_ = 0;
        this_process::yield();
        continue;
      }
      if (std::exchange(first, false)) strand.rescan();
      if (auto message = strand.take_first(picks)) {
        if (const void* exit = message->content(typeid(ExitNow)))
          throw *static_cast<const ExitNow*>(exit);
        message->taken();
        ++taken_;
        return message;
      }
    }
    if (until && executor_->clock().now() >= *until) return nullptr;
    wait(until);
  }
}

void ProcessLife::wait(std::optional<Clock::time_point> until) {
  Parker parker;
  std::shared_ptr<ActorCell> released;
  {
    const std::scoped_lock lock{mutex_};
    if (exit_) return;
    state_ = State::receiving;
    parked_ = &parker;
    taken_ = 0;
    if (!until) released = std::move(keep_alive_);
  }
  released.reset();  // if nobody else can reach it, it is told to end when this turn does
  if (until)
    static_cast<void>(parker.park_until(executor_->clock(), *until));
  else
    parker.park();
  const std::scoped_lock lock{mutex_};  // whoever unparks is out of it
  state_ = State::running;
  parked_ = nullptr;
  keep_alive_ = cell_.lock();
}

// --- of the cell ---------------------------------------------------------------------------------

void ProcessLife::mail() noexcept {
  const std::scoped_lock lock{mutex_};
  if (Parker* parked = std::exchange(parked_, nullptr)) parked->unpark();
}

bool ProcessLife::may_end(const ExitReason& why) noexcept {
  const std::scoped_lock lock{mutex_};
  if (state_ == State::ended) return true;
  const bool kill = why.kind() == ExitReason::Kind::killed;
  if (!exit_ || kill) exit_ = why;
  if (Parker* sending = std::exchange(sending_, nullptr)) sending->unpark();
  if (state_ == State::running) return kill;  // it waits for something else
  if (Parker* parked = std::exchange(parked_, nullptr)) parked->unpark();
  return false;
}

void ProcessLife::abandon() noexcept {
  {
    const std::scoped_lock lock{mutex_};
    if (!exit_) exit_ = ExitReason::shutdown();
    Parker* parked = std::exchange(parked_, nullptr);
    if (!parked) return;
    unwinding_ = std::this_thread::get_id();
    parked->unpark();
    unwinding_ = std::thread::id{};
  }
  // Nothing else can wake it, and its executor may never run again: it unwinds here.
  if (Task* process = std::exchange(to_unwind_, nullptr)) process->run();
}

void ProcessLife::schedule(Task& process) noexcept {
  if (unwinding_.load() == std::this_thread::get_id()) {
    to_unwind_ = &process;
  } else if (auto cell = cell_.lock()) {
    Strand& strand = *cell->strand();
    strand.send_signal(std::make_unique<Resume>(std::move(cell), process));
  } else {
    executor_->post(process);
  }
}

bool ProcessLife::interruptible(Parker* parker) noexcept {
  const std::scoped_lock lock{mutex_};
  sending_ = parker;
  return parker == nullptr || !exit_;
}

void ProcessLife::ended(const ExitReason& why) noexcept {
  std::shared_ptr<ActorCell> released;
  {
    const std::scoped_lock lock{mutex_};
    state_ = State::ended;
    released = std::move(keep_alive_);
  }
  if (const auto cell = cell_.lock()) cell->finish(why);
}

ProcessActorBase::~ProcessActorBase() {
  if (ActorCell* cell = this->cell()) {
    if (!cell->strand()->check_process("end")) return;  // lock and stack are the parent's
    cell->strand()->set_reader(nullptr);
  }
  life_->abandon();
}

}  // namespace stoker
