#include "stoker/device/commands/flights.hpp"

#include <algorithm>
#include <utility>

namespace stoker {
namespace {

constexpr std::size_t most_spare = 8;

}  // namespace

Flight Flights::take() {
  if (spare_.empty()) return {};
  Flight flight = std::move(spare_.back());
  spare_.pop_back();
  return flight;
}

void Flights::reuse(Flight flight) {
  flight.commands.clear();
  flight.followers.clear();
  flight.scratch.clear();
  flight.waits = {};
  if (spare_.size() < most_spare) spare_.push_back(std::move(flight));
}

bool Flights::empty() const noexcept {
  return std::ranges::all_of(in_flight_, [](const auto& queue) { return queue.empty(); });
}

Flights::Points Flights::submitted() const noexcept {
  return {QueuePoint{QueueKind::compute, submitted_[0]},
          QueuePoint{QueueKind::transfer, submitted_[1]}};
}

std::optional<QueueKind> Flights::last_to_settle(
    const std::array<std::uint64_t, queue_kinds>& values) const noexcept {
  std::optional<QueueKind> last;
  for (std::size_t q = 0; q < queue_kinds; ++q) {
    if (values[q] <= settled_[q]) continue;
    if (last) return {};
    last = static_cast<QueueKind>(q);
  }
  return last;
}

Flight* Flights::find(QueuePoint point) noexcept {
  for (Flight& flight : in_flight_[index_of(point.queue)])
    if (flight.value == point.value) return &flight;
  return nullptr;
}

std::span<const QueuePoint> Flights::waits_of(Flight& flight, Points& room) const noexcept {
  std::size_t count = 0;
  for (std::size_t q = 0; q < queue_kinds; ++q) {
    // A buffer may remember a refused submission's point, which perhaps nobody ever reaches; what
    // it stood for is below the floor.
    flight.waits[q] = std::min(flight.waits[q], submitted_[q]);
    const std::uint64_t value = std::max(flight.waits[q], floor_[q]);
    if (value > settled_[q]) room[count++] = {static_cast<QueueKind>(q), value};
  }
  return {room.data(), count};
}

void Flights::add(QueueKind queue, Flight flight) {
  submitted_[index_of(queue)] = flight.value;
  in_flight_[index_of(queue)].push_back(std::move(flight));
}

Flight Flights::take_back(QueueKind queue) {
  Ring<Flight>& flights = in_flight_[index_of(queue)];
  Flight refused = std::move(flights.back());
  flights.pop_back();
  // The value is free again, but buffers remember it: whatever comes next waits for all before it.
  submitted_[index_of(queue)] = refused.value - 1;
  floor_ = submitted_;
  return refused;
}

bool Flights::can_settle(QueueKind queue) const noexcept {
  const std::size_t own = index_of(queue);
  if (in_flight_[own].empty()) return false;
  const Flight& oldest = in_flight_[own].front();
  if (oldest.value > completed_[own].load(std::memory_order_seq_cst)) return false;
  for (std::size_t other = 0; other < queue_kinds; ++other)
    if (other != own && oldest.waits[other] > settled_[other]) return false;
  return true;
}

Flight Flights::settle(QueueKind queue) {
  Ring<Flight>& flights = in_flight_[index_of(queue)];
  Flight done = std::move(flights.front());
  flights.pop_front();
  settled_[index_of(queue)] = done.value;
  return done;
}

std::array<Ring<Flight>, queue_kinds> Flights::settle_all() {
  std::array<Ring<Flight>, queue_kinds> all;
  all.swap(in_flight_);
  settled_ = submitted_;
  return all;
}

}  // namespace stoker
