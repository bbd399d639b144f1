#include "stoker/api/onnx/run/plans.hpp"

#include <unordered_set>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/onnx/run/constants.hpp"

namespace stoker::onnx {

PlanCounts& PlanCounts::operator+=(const PlanCounts& other) noexcept {
  segments += other.segments;
  traced += other.traced;
  found += other.found;
  dropped += other.dropped;
  cuts += other.cuts;
  return *this;
}

bool Segment::is_over() const {
  return client->is_lost() || (program != nullptr && program->is_over());
}

Plans::Entry* Plans::at(std::span<const std::string> path) {
  Entries* entries = &roots_;
  Entry* found = nullptr;
  for (const std::string& key : path) {
    const auto next = entries->find(key);
    if (next == entries->end()) return nullptr;
    found = &next->second;
    entries = &found->next;
  }
  return found;
}

SegmentPtr Plans::find(const Path& path) {
  Entries gone;  // goes outside of the lock
  const std::scoped_lock lock{mutex_};
  Entry* const entry = at(path);
  if (entry == nullptr) return nullptr;
  if (entry->segment->is_over()) {
    Entry* const parent = path.size() == 1 ? nullptr : at(std::span{path}.first(path.size() - 1));
    Entries& among = parent ? parent->next : roots_;
    gone.insert(among.extract(path.back()));
    remove_all(gone);
    return nullptr;
  }
  entry->used = ++clock_;
  ++counts_.found;
  return entry->segment;
}

SegmentPtr Plans::keep(const Path& path, SegmentPtr segment, std::uint64_t since) {
  // Longer than all that may be kept: a loop may have cuts without end, and counting looks at all constants.
  const bool is_too_long = path.size() > most_;
  Taken taken = is_too_long ? Taken{} : taken_by(*segment);
  const std::scoped_lock lock{mutex_};
  ++counts_.traced;
  if (is_too_long) return segment;
  Entries* among = &roots_;
  std::vector<const Taken*> with_those_before{&taken};
  for (const std::string& key : std::span{path}.first(path.size() - 1)) {
    const auto before = among->find(key);
    if (before == among->end()) return segment;  // dropped meanwhile
    with_those_before.push_back(&before->second.taken);
    among = &before->second.next;
  }
  if (all_of(with_those_before) > most_bytes_) return segment;
  const auto [place, is_new] = among->try_emplace(path.back(), Entry{segment, std::move(taken)});
  place->second.used = ++clock_;
  if (!is_new) return place->second.segment;
  ++counts_.segments;
  add(place->second.taken);
  const auto is_full = [&] { return counts_.segments > most_ || bytes_ > most_bytes_; };
  while (is_full() && drop_oldest(since)) {
  }
  if (is_full()) {
    remove(place->second.taken);
    among->erase(place);
    --counts_.segments;
  }
  return segment;
}

std::uint64_t Plans::now() const {
  const std::scoped_lock lock{mutex_};
  return clock_;
}

bool Plans::drop_oldest(std::uint64_t since) {
  Entries* among = nullptr;
  Entries::iterator oldest;
  const auto look = [&](const auto& self, Entries& entries) -> void {
    for (auto one = entries.begin(); one != entries.end(); ++one) {
      self(self, one->second.next);
      const bool may_go = one->second.next.empty() && one->second.used <= since;
      if (may_go && (among == nullptr || one->second.used < oldest->second.used)) {
        among = &entries;
        oldest = one;
      }
    }
  };
  look(look, roots_);
  if (among == nullptr) return false;
  // The device keeps many programs, which each model would fill with plans of its own that are gone.
  if (const auto& program = oldest->second.segment->program) program->leave_device();
  remove(oldest->second.taken);
  among->erase(oldest);
  --counts_.segments;
  ++counts_.dropped;
  return true;
}

std::uint64_t Plans::all_of(std::span<const Taken* const> together) {
  std::uint64_t bytes = 0;
  std::unordered_set<const void*> counted;
  for (const Taken* const taken : together) {
    bytes += taken->working;
    for (const auto& [buffer, of_buffer] : taken->held)
      if (counted.insert(buffer).second) bytes += of_buffer;
  }
  return bytes;
}

Plans::Taken Plans::taken_by(const Segment& segment) const {
  Taken taken;
  Constants::Counted counted;  // what others account for, and then what is in `taken`
  if (constants_ != nullptr) static_cast<void>(constants_->device_bytes(counted));
  const auto hold = [&](const DeviceBuffer& buffer) {
    const void* const held = buffer.cell().get();
    if (counted.insert(held).second) taken.held.emplace_back(held, buffer.spec().bytes());
  };
  const auto hold_fixed = [&](const Segment::Source& source) {
    if (source.fixed.has_value() && source.fixed.evaluated()) hold(source.fixed.value().buffer());
  };
  std::ranges::for_each(segment.alive, hold_fixed);
  std::ranges::for_each(segment.in_outputs, hold_fixed);
  if (segment.loop_end) std::ranges::for_each(segment.loop_end->given, hold_fixed);
  if (segment.program == nullptr) return taken;
  taken.working = segment.program->working_bytes();
  for (const DeviceBuffer& buffer : segment.program->captured()) hold(buffer);
  return taken;
}

void Plans::add(const Taken& taken) {
  bytes_ += taken.working;
  for (const auto& [buffer, bytes] : taken.held)
    if (++holders_[buffer] == 1) bytes_ += bytes;
}

void Plans::remove(const Taken& taken) {
  bytes_ -= taken.working;
  for (const auto& [buffer, bytes] : taken.held) {
    const auto holders = holders_.find(buffer);
    if (--holders->second > 0) continue;
    holders_.erase(holders);
    bytes_ -= bytes;
  }
}

void Plans::remove_all(const Entries& entries) {
  for (const auto& [key, entry] : entries) {
    remove(entry.taken);
    --counts_.segments;
    ++counts_.dropped;
    remove_all(entry.next);
  }
}

void Plans::count_cut() {
  const std::scoped_lock lock{mutex_};
  ++counts_.cuts;
}

std::uint64_t Plans::bytes() const {
  const std::scoped_lock lock{mutex_};
  return bytes_;
}

std::vector<std::pair<std::string, SegmentPtr>> Plans::after(
    std::span<const std::string> path) const {
  const std::scoped_lock lock{mutex_};
  const Entries* entries = &roots_;
  for (const std::string& key : path) {
    const auto next = entries->find(key);
    if (next == entries->end()) return {};
    entries = &next->second.next;
  }
  std::vector<std::pair<std::string, SegmentPtr>> found;
  for (const auto& [key, entry] : *entries)
    if (!entry.segment->is_over()) found.emplace_back(key, entry.segment);
  return found;
}

PlanCounts Plans::counts() const {
  const std::scoped_lock lock{mutex_};
  return counts_;
}

}  // namespace stoker::onnx
