#include "stoker/api/serve/calls/device_probe.hpp"

#include <utility>

namespace stoker::serve {

Future<bool> DeviceProbe::computes() {
  if (!device_.ready()) return make_ready_future<bool>(false);
  const std::lock_guard lock{mutex_};
  const auto at = now();
  const bool is_same = seen_.lock() == device_.client();
  if (!runs_ && at - started_ >= interval) start();
  if (is_same && at - succeeded_ <= validity) return make_ready_future<bool>(true);
  if (!runs_) return make_ready_future<bool>(false);  // it failed a moment ago
  if (waiting_.empty())
    timer_ = Timer{executor_->clock(), at + patience, *executor_, [weak = weak_from_this()] {
                     if (const auto self = weak.lock()) self->lose_patience();
                   }};
  return waiting_.emplace_back().future();
}

void DeviceProbe::has_computed() {
  const std::lock_guard lock{mutex_};
  seen_ = device_.client();
  succeeded_ = now();
}

void DeviceProbe::start() {
  started_ = now();
  try {
    completed_before_ = completed();
    const std::shared_ptr<DeviceClient> client = device_.client();
    const Buffer buffer = device_.buffer(DType::f32, Shape{1});
    buffer.fill(1.0F);
    runs_ = true;
    static_cast<void>(buffer.read_bytes().then(
        *executor_,
        [self = shared_from_this(), client,
         buffer](const Result<std::vector<std::byte>>& outcome) -> Result<void> {
          self->ended(client, outcome.has_value());
          return {};
        }));
  } catch (const Error&) {
    runs_ = false;
    succeeded_ = {};
  }
}

void DeviceProbe::ended(const std::shared_ptr<DeviceClient>& client, bool well) {
  Waiting told;
  {
    const std::lock_guard lock{mutex_};
    runs_ = false;
    seen_ = client;
    succeeded_ = well ? now() : Clock::time_point{};
    timer_.cancel();
    told = std::exchange(waiting_, {});
  }
  for (Promise<bool>& one : told) one.set(well);
}

void DeviceProbe::lose_patience() {
  Waiting told;
  bool others_ended = false;
  {
    const std::lock_guard lock{mutex_};
    told = std::exchange(waiting_, {});
    const auto at = now();
    // Since the last look, or what ended before a device hung would speak for it ever after.
    if (const std::uint64_t ended = completed(); ended != completed_before_) {
      completed_before_ = ended;
      others_ended_ = at;
    }
    others_ended = at - others_ended_ <= validity;
  }
  others_ended = others_ended && device_.ready();
  for (Promise<bool>& one : told) one.set(others_ended);
}

}  // namespace stoker::serve
