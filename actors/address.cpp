#include "stoker/actors/address.hpp"

#include "stoker/actors/strand.hpp"

namespace stoker {
namespace {

/// Ends its target in its turn.
class StopMessage final : public Message {
 public:
  StopMessage(const std::shared_ptr<ActorCell>& target, ExitReason reason)
      : Message{target}, exit_{std::move(reason)} {}
  void deliver() override { target().finish(exit_.reason); }
  [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(ExitNow); }
  [[nodiscard]] void* content(const std::type_info& wanted) noexcept override {
    return wanted == typeid(ExitNow) ? &exit_ : nullptr;
  }

 private:
  ExitNow exit_;
};

}  // namespace

Error empty_address(std::string_view op) {
  return Error{std::string{op}, ErrorCode::invalid_argument, "an empty address was passed"};
}

const std::string& ActorAddress::name() const noexcept {
  static const std::string nobody;
  return cell_ ? cell_->name() : nobody;
}

ActorCell& ActorAddress::existing(std::string_view op) const {
  if (!cell_) throw empty_address(op);
  cell_->strand()->check_process(op).value();
  return *cell_;
}

void ActorAddress::exit(const ExitReason& why) const {
  if (cell_) cell_->exit(why, Strand::running_actor());
}

Future<ExitReason> ActorAddress::ended() const {
  return cell_ ? cell_->ended() : make_ready_future<ExitReason>(ExitReason::noproc());
}

Future<ExitReason> ActorAddress::stop(const StopOptions& options) const {
  if (!cell_) return make_ready_future<ExitReason>(ExitReason::noproc());
  Future<ExitReason> ended = cell_->ended();
  if (!cell_->strand()->check_process("stop")) return ended;
  auto message = std::make_unique<StopMessage>(cell_, options.reason);
  if (options.patience != std::chrono::nanoseconds::max()) cell_->kill_after(options.patience);
  cell_->strand()->send_signal(std::move(message));
  return ended;
}

}  // namespace stoker
