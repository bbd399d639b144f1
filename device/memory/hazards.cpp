#include "stoker/device/memory/hazards.hpp"

#include <algorithm>

namespace stoker {
namespace {

void add_edge(Step& step, std::uint32_t earlier) {
  if (std::ranges::find(step.after, earlier) == step.after.end()) step.after.push_back(earlier);
}

}  // namespace

void Hazards::use(QueueKind queue, std::uint64_t value, bool writes, const Values& settled,
                  Values& waits) noexcept {
  const std::size_t own = index_of(queue);
  const bool read_here = read_[own] == value;
  if (written_[own] != value) {  // else its writer here waits for all that came before
    for (std::size_t q = 0; q < queue_kinds; ++q) {
      const std::uint64_t last_read = q == own && read_here ? read_before_ : read_[q];
      const std::uint64_t earlier = writes ? std::max(written_[q], last_read) : written_[q];
      if (earlier > settled[q]) waits[q] = std::max(waits[q], earlier);
    }
  }
  if (writes) {
    written_[own] = value;
  } else if (!read_here) {
    read_before_ = read_[own];
    read_[own] = value;
  }
}

void Hazards::order(std::uint64_t batch, std::vector<Step>& steps, bool writes) {
  const auto index = static_cast<std::uint32_t>(steps.size() - 1);
  Step& step = steps.back();
  if (batch_ != batch) {
    batch_ = batch;
    batch_writer_.reset();
    batch_readers_.clear();
  }
  if (batch_writer_ && *batch_writer_ != index) add_edge(step, *batch_writer_);
  if (!writes) {
    batch_readers_.push_back(index);
    return;
  }
  for (const std::uint32_t reader : batch_readers_)
    if (reader != index) add_edge(step, reader);
  batch_readers_.clear();
  batch_writer_ = index;
}

}  // namespace stoker
