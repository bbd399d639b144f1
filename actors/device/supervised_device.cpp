#include "stoker/actors/device/supervised_device.hpp"

#include "stoker/device/commands/command_scheduler.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {
namespace {

Result<std::shared_ptr<CommandScheduler>> open_scheduler(const SupervisedDevice::Source& source) {
  const std::scoped_lock lock{*source.drivers};
  return CommandScheduler::open(*source.driver, source.index, source.open, source.scheduler);
}

}  // namespace

SupervisedDevice::SupervisedDevice(std::string name, Source source, ClientContext context)
    : name_{std::move(name)}, source_{std::move(source)}, context_{std::move(context)} {}

Result<std::shared_ptr<DeviceClient>> SupervisedDevice::open() {
  return adopt(open_scheduler(source_));
}

Result<std::shared_ptr<DeviceClient>> SupervisedDevice::adopt(
    Result<std::shared_ptr<CommandScheduler>> scheduler) {
  if (!scheduler) return scheduler.error();
  ClientContext context = context_;
  context.slot = weak_from_this();
  auto client = DeviceClient::start(*std::move(scheduler), context);
  std::shared_ptr<DeviceClient> before;  // goes outside the lock
  std::vector<Promise<void>> waiting;
  {
    const std::scoped_lock lock{mutex_};
    if (closed_) return *closed_;
    before = std::exchange(current_, client);
    waiting = std::exchange(waiting_, {});
    ++opened_;
  }
  if (before) before->services().close();
  for (Promise<void>& one : waiting) one.set();
  return client;
}

std::shared_ptr<DeviceClient> SupervisedDevice::current() const {
  const std::scoped_lock lock{mutex_};
  return current_;
}

std::uint64_t SupervisedDevice::reopened() const {
  const std::scoped_lock lock{mutex_};
  return opened_ > 0 ? opened_ - 1 : 0;
}

Future<void> SupervisedDevice::when_open() {
  const std::scoped_lock lock{mutex_};
  if (current_ && !current_->is_lost()) return make_ready_future();
  if (closed_) return make_ready_future<void>(*closed_);
  return waiting_.emplace_back().future();
}

void SupervisedDevice::close(const Error& why) {
  std::vector<Promise<void>> waiting;
  {
    const std::scoped_lock lock{mutex_};
    if (!closed_) closed_ = why;
    waiting = std::exchange(waiting_, {});
  }
  for (Promise<void>& one : waiting) one.set(why);
}

ChildSpec SupervisedDevice::child() {
  ChildSpec spec;
  spec.id = name_;
  spec.start = [slot = shared_from_this()](const ChildStart&) { return slot->start(); };
  return spec;
}

Result<ActorAddress> SupervisedDevice::start() {
  std::jthread done;  // joined outside the lock
  Promise<std::shared_ptr<CommandScheduler>> promise;
  const auto opening = promise.future();
  {
    const std::scoped_lock lock{mutex_};
    if (closed_) return ActorAddress{};  // nothing to run any more
    if (!std::exchange(handed_over_, true)) return ActorAddress{current_->actor()};
    done = std::move(opener_);
    opener_ = std::jthread{[source = source_, promise = std::move(promise)]() mutable {
      const auto open = [&] { return open_scheduler(source); };
      promise.set(detail::call_as_result<std::shared_ptr<CommandScheduler>>("open", open));
    }};
  }
  if (done.joinable()) done.join();  // it had answered
  const Result<std::shared_ptr<CommandScheduler>>& scheduler = opening.wait();
  const Result<std::shared_ptr<DeviceClient>> client = adopt(scheduler);
  if (!client && client.error().code() == ErrorCode::closed) return ActorAddress{};
  if (!client) return client.error();
  log_warn("the device was opened again", {{"device", name_}});
  return ActorAddress{(*client)->actor()};
}

}  // namespace stoker
