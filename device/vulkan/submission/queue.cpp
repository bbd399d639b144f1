#include "stoker/device/vulkan/submission/queue.hpp"

#include <algorithm>
#include <string>

#include "stoker/device/vulkan/instance/device_clock.hpp"
#include "stoker/device/vulkan/instance/result.hpp"

namespace stoker::device::vulkan {

Result<std::unique_ptr<Queue>> Queue::create(std::shared_ptr<DeviceHandle> device, QueueKind kind) {
  auto queue = std::make_unique<Queue>(std::move(device), kind);
  STOKER_TRY(queue->start());
  return queue;
}

Queue::Queue(std::shared_ptr<DeviceHandle> device, QueueKind kind)
    : device_{std::move(device)},
      kind_{kind},
      family_{kind == QueueKind::compute ? device_->physical().compute_family
                                         : device_->physical().transfer_family},
      timestamp_bits_{!device_->physical().has_feature("hostQueryReset") ? 0
                      : kind == QueueKind::compute ? device_->physical().compute_timestamp_bits
                                                   : device_->physical().transfer_timestamp_bits} {}

Result<void> Queue::start() {
  const bool compute = kind_ == QueueKind::compute;
  device_->api().vkGetDeviceQueue(device_->handle(), family_, 0, &handle_);
  STOKER_ASSIGN(timeline_, make_timeline(compute ? "compute timeline" : "transfer timeline"));
  STOKER_ASSIGN(marks_, make_timeline(compute ? "compute segments" : "transfer segments"));
  prologue_ = std::make_unique<CommandList>(device_, family_, true);
  STOKER_ASSIGN(VkCommandBuffer commands, prologue_->begin());
  const Stage everything = compute ? Stage::compute | Stage::transfer : Stage::transfer;
  barrier(*device_, commands, everything, everything);
  return prologue_->end(0);
}

Result<VkSemaphore> Queue::make_timeline(const char* name) {
  auto type = vk_struct<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  auto info = vk_struct<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
  info.pNext = &type;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  STOKER_VK("open", device_->api(), vkCreateSemaphore, device_->handle(), &info, nullptr,
            &semaphore);
  device_->name(VK_OBJECT_TYPE_SEMAPHORE, reinterpret_cast<std::uint64_t>(semaphore), name);
  return semaphore;
}

Queue::~Queue() {
  const DriverUse use{*device_};
  if (!use) return;
  for (VkSemaphore semaphore : {timeline_, marks_})
    if (semaphore) device_->api().vkDestroySemaphore(device_->handle(), semaphore, nullptr);
}

Flight& Queue::take() {
  const std::scoped_lock lock{flights_mutex_};
  if (!free_) {
    all_.push_back(std::make_unique<Flight>(device_, family_));
    return *all_.back();
  }
  Flight& flight = *free_;
  free_ = flight.next;
  return flight;
}

void Queue::recycle(Flight& flight) noexcept {
  flight.list = nullptr;
  flight.recorded = {};
  flight.steps = 0;
  flight.has_timestamps = false;
  flight.wants_timings = false;
  flight.progress = nullptr;
  flight.typical_ns = nullptr;
  flight.executables.clear();
  flight.last = {};
  const std::scoped_lock lock{flights_mutex_};
  flight.next = free_;
  free_ = &flight;
}

VkResult Queue::launch(Flight& flight, std::span<const SemaphoreValue> waits, bool barrier_first) {
  const std::span<const VkCommandBuffer> segments =
      flight.list ? flight.list->segments() : std::span<const VkCommandBuffer>{};
  commands_.clear();
  if (barrier_first) commands_.push_back(prologue_->segments()[0]);
  commands_.insert(commands_.end(), segments.begin(), segments.end());
  const std::size_t count = std::max<std::size_t>(segments.size(), 1);
  flight.first_mark = marks_submitted_;
  flight.marks = count - 1;
  batches_.clear();
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    const std::size_t end = last ? commands_.size() : next + 1 + (i == 0 && barrier_first ? 1 : 0);
    Batch batch;
    if (i == 0) batch.waits = waits;
    batch.commands = std::span{commands_}.subspan(next, end - next);
    batch.signal = last ? SemaphoreValue{timeline_, flight.value}
                        : SemaphoreValue{marks_, flight.first_mark + i + 1};
    batches_.push_back(batch);
    next = end;
  }
  flight.launched_ns = steady_now_ns();
  {
    const std::scoped_lock lock{submit_mutex_};
    if (const VkResult result = submitter_.submit(*device_, handle_, batches_); result < 0)
      return result;
  }
  device_->counters.submissions.fetch_add(count, std::memory_order_relaxed);
  marks_submitted_ += flight.marks;
  const std::scoped_lock lock{flights_mutex_};
  last_submitted_.store(flight.value, std::memory_order_relaxed);
  flight.next = nullptr;
  (last_ ? last_->next : first_) = &flight;
  last_ = &flight;
  return VK_SUCCESS;
}

void Queue::ring_out() noexcept {
  constexpr std::uint64_t patience_ns = 1'000'000'000;
  try {
    const std::uint64_t value = last_submitted() + 1;
    const Batch batch{{}, {}, {timeline_, value}};
    const std::scoped_lock lock{submit_mutex_};
    if (submitter_.submit(*device_, handle_, {&batch, 1}) == VK_SUCCESS)
      static_cast<void>(wait(value, patience_ns));
  } catch (...) {
    // No memory: whoever waits looks up by itself before long.
  }
}

VkResult Queue::read(std::uint64_t& value) const noexcept {
  return device_->api().vkGetSemaphoreCounterValue(device_->handle(), timeline_, &value);
}

VkResult Queue::wait(std::uint64_t value, std::uint64_t timeout_ns) const noexcept {
  auto info = vk_struct<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline_;
  info.pValues = &value;
  return device_->api().vkWaitSemaphores(device_->handle(), &info, timeout_ns);
}

SemaphoreValue Queue::next_event() const noexcept {
  const std::scoped_lock lock{flights_mutex_};
  if (!first_) return {timeline_, last_submitted() + 1};
  const std::uint64_t last_mark = first_->first_mark + first_->marks;
  if (first_->progress && first_->marks && marks_seen_ < last_mark)
    return {marks_, std::max(marks_seen_, first_->first_mark) + 1};
  return {timeline_, first_->value};
}

Flight* Queue::pop_complete(std::uint64_t value) noexcept {
  const std::scoped_lock lock{flights_mutex_};
  Flight* const flight = first_;
  if (!flight || value < flight->value) return nullptr;
  first_ = flight->next;
  if (!first_) last_ = nullptr;
  return flight;
}

std::uint64_t Queue::expected_end_ns(std::uint64_t value) const noexcept {
  const std::scoped_lock lock{flights_mutex_};
  if (!first_ || first_->value < value || !first_->typical_ns) return 0;
  const std::uint64_t typical = first_->typical_ns->load(std::memory_order_relaxed);
  return typical ? first_->launched_ns + typical : 0;
}

bool Queue::note_progress() noexcept {
  const std::scoped_lock lock{flights_mutex_};
  if (!first_ || !first_->progress || first_->marks == 0) return false;
  std::uint64_t mark = 0;
  if (device_->api().vkGetSemaphoreCounterValue(device_->handle(), marks_, &mark) < 0) return false;
  if (mark <= marks_seen_ || mark <= first_->first_mark) return false;
  marks_seen_ = mark;
  const std::uint64_t segment =
      std::min<std::uint64_t>(mark - first_->first_mark, first_->marks) - 1;
  first_->progress->store(first_->list->steps_done()[segment], std::memory_order_relaxed);
  return true;
}

std::string Queue::labels() const {
  const std::scoped_lock lock{flights_mutex_};
  std::string text;
  const auto add = [&](const VulkanExecutable* executable) {
    if (!executable || text.size() > 512) return;
    if (!text.empty()) text += ", ";
    text += executable->kernel;
  };
  for (const Flight* flight = first_; flight; flight = flight->next) {
    for (const VulkanExecutable* executable : flight->last) add(executable);
    const std::size_t skip =
        flight->recorded.size() - std::min(flight->recorded.size(), flight->last.size());
    for (const Step& step : flight->recorded.subspan(skip))
      add(static_cast<const VulkanExecutable*>(step.executable.get()));
  }
  return text;
}

}  // namespace stoker::device::vulkan
