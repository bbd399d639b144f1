#include "stoker/actors/address.hpp"

#include "stoker/actors/strand.hpp"

namespace stoker {
namespace {

/// Ends its target in its turn.
class StopMessage final : public Message {
 public:
  StopMessage(std::shared_ptr<ActorCell> target, ExitReason reason)
      : Message{std::move(target)}, reason_{std::move(reason)} {}
  void deliver() override { throw ExitNow{reason_}; }

 private:
  ExitReason reason_;
};

}  // namespace

Future<ExitReason> ActorAddress::stop(const StopOptions& options) const {
  Future<ExitReason> ended = cell_->ended();
  cell_->strand()->send_signal(std::make_unique<StopMessage>(cell_, options.reason));
  if (options.patience != std::chrono::nanoseconds::max()) cell_->kill_after(options.patience);
  return ended;
}

}  // namespace stoker
