#include "stoker/pipeline/tensor/graph/host_step.hpp"

#include "stoker/actors/device/device_client.hpp"
#include "stoker/runtime/futures/timeline.hpp"
#include "stoker/runtime/futures/when.hpp"

namespace stoker::expr {

HeldResults::HeldResults(std::shared_ptr<DeviceClient> device,
                         std::span<const DeviceBuffer> outputs)
    : device_{std::move(device)},
      outputs_(outputs.begin(), outputs.end()),
      open_{std::make_shared<Timeline>()} {}

Result<std::shared_ptr<HeldResults>> HeldResults::hold(std::shared_ptr<DeviceClient> device,
                                                       std::span<const DeviceBuffer> outputs) {
  auto held = std::make_shared<HeldResults>(std::move(device), outputs);
  for (const DeviceBuffer& output : outputs)
    STOKER_TRY(held->device_->hold(output, TimelinePoint{held->open_, 1}));
  return held;
}

void HeldResults::write(std::size_t i, std::uint64_t offset, const DeviceBuffer& from) {
  const auto written = device_->write_held(from, outputs_[i], offset);
  if (written)
    writes_.emplace_back(*written);
  else
    fail(written.error());
}

HeldResults::~HeldResults() {
  if (!finished_)
    open_->fail(error_or_out_of_memory([] {
      return Error{"hold", ErrorCode::closed, "the work was given up before it was finished"};
    }));
}

void HeldResults::finish() {
  static_cast<void>(when_all(std::move(writes_))
                        .then(device_->executor(), [open = open_](const Result<void>& all) {
                          if (all)
                            open->advance(1);
                          else
                            open->fail(all.error());
                        }));
  finished_ = true;  // unless there was no memory to wait with: then the destructor tells
}

void HeldResults::fail(const Error& why) { open_->fail(why); }

}  // namespace stoker::expr
