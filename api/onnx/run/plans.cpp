#include "stoker/api/onnx/run/plans.hpp"

#include "stoker/actors/device/device_client.hpp"

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

std::size_t Plans::size_of(const Entries& entries) {
  std::size_t count = entries.size();
  for (const auto& [key, entry] : entries) count += size_of(entry.next);
  return count;
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
    const std::size_t count = size_of(gone);
    counts_.segments -= count;
    counts_.dropped += count;
    return nullptr;
  }
  entry->used = ++clock_;
  ++counts_.found;
  return entry->segment;
}

SegmentPtr Plans::keep(const Path& path, SegmentPtr segment) {
  const std::scoped_lock lock{mutex_};
  ++counts_.traced;
  if (path.size() > most_) return segment;  // longer than all that may be kept
  Entry* const parent = path.size() == 1 ? nullptr : at(std::span{path}.first(path.size() - 1));
  if (path.size() > 1 && parent == nullptr) return segment;  // dropped meanwhile
  Entries& among = parent ? parent->next : roots_;
  const auto [place, is_new] = among.try_emplace(path.back(), Entry{segment});
  place->second.used = ++clock_;
  if (!is_new) return place->second.segment;
  ++counts_.segments;
  // It and those before it are no more than `most_`, so that there is another leaf.
  while (counts_.segments > most_ && drop_oldest(&place->second)) {
  }
  return segment;
}

bool Plans::drop_oldest(const Entry* except) {
  Entries* among = nullptr;
  Entries::iterator oldest;
  const auto look = [&](const auto& self, Entries& entries) -> void {
    for (auto one = entries.begin(); one != entries.end(); ++one) {
      self(self, one->second.next);
      const bool is_leaf = one->second.next.empty() && &one->second != except;
      if (is_leaf && (among == nullptr || one->second.used < oldest->second.used)) {
        among = &entries;
        oldest = one;
      }
    }
  };
  look(look, roots_);
  if (among == nullptr) return false;
  // The device keeps many programs, which each model would fill with plans of its own that are gone.
  if (const auto& program = oldest->second.segment->program) program->leave_device();
  among->erase(oldest);
  --counts_.segments;
  ++counts_.dropped;
  return true;
}

void Plans::count_cut() {
  const std::scoped_lock lock{mutex_};
  ++counts_.cuts;
}

std::uint64_t Plans::working_bytes_of(const Entries& entries) {
  std::uint64_t bytes = 0;
  for (const auto& [key, entry] : entries) {
    if (entry.segment->program) bytes += entry.segment->program->working_bytes();
    bytes += working_bytes_of(entry.next);
  }
  return bytes;
}

std::uint64_t Plans::working_bytes() const {
  const std::scoped_lock lock{mutex_};
  return working_bytes_of(roots_);
}

PlanCounts Plans::counts() const {
  const std::scoped_lock lock{mutex_};
  return counts_;
}

}  // namespace stoker::onnx
