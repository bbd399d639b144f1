#include "explorer_memory.hpp"

namespace stoker::explore {
namespace {

bool acquires(std::memory_order order) {
  return order != std::memory_order_relaxed && order != std::memory_order_release;
}

bool releases(std::memory_order order) {
  return order != std::memory_order_relaxed && order != std::memory_order_acquire &&
         order != std::memory_order_consume;
}

}  // namespace

void Memory::reset() noexcept {
  clocks_.fill({});
  clocks_[0].at[0] = 1;
  used_ = 0;
  fault_.clear();
}

void Memory::begin(ThreadNumber thread) noexcept {
  clocks_[thread] = clocks_[0];
  ++clocks_[thread].at[thread];
  ++clocks_[0].at[0];
}

void Memory::end(ThreadNumber thread) noexcept { clocks_[0].join(clocks_[thread]); }

VectorClock& Memory::tick(ThreadNumber by) noexcept {
  ++clocks_[by].at[by];
  return clocks_[by];
}

std::size_t Memory::number(const void* object) const noexcept {
  std::size_t i = 0;
  while (i < used_ && objects_[i].address != object) ++i;
  return i;
}

void Memory::meet(const void* object, std::uint64_t value) {
  if (number(object) < used_) return;
  construct(0, object, value);
  Object& old = find(object);  // everybody has always known it
  old.writes = old.accesses = {};
  old.history.front().when = 0;
}

void Memory::construct(ThreadNumber by, const void* object, std::uint64_t value) {
  const std::size_t place = number(object);  // the memory of one that is gone may be used again
  if (place == used_) ++used_;
  if (place == objects_.size()) objects_.emplace_back();
  Object& made = objects_[place];
  made.address = object;
  made.alive = true;
  made.writes = {};
  made.writes.at[by] = tick(by).at[by];
  made.accesses = made.writes;
  made.history.clear();
  made.history.push_back({value, {}, by, made.writes.at[by], false, {}});
}

void Memory::destroy(ThreadNumber by, const void* object) {
  if (number(object) == used_) return;
  Object& gone = find(object);
  if (!tick(by).covers(gone.accesses)) race(gone, "destroyed");
  gone.alive = false;
}

bool Memory::destroyed(const void* object) const noexcept {
  const std::size_t i = number(object);
  return i < used_ && !objects_[i].alive;
}

void Memory::race(const Object& object, const char* how) {
  if (fault_.empty())
    fault_ = "a race: #" + std::to_string(number(object.address)) + " is " + how +
             " without happening after what another thread did to it";
}

void Memory::touch(ThreadNumber by, Object& object, const char* how) {
  const VectorClock& clock = tick(by);
  if (!clock.covers(object.writes)) race(object, how);
  object.accesses.at[by] = clock.at[by];
}

unsigned Memory::choices(ThreadNumber by, const void* object,
                         std::memory_order order) const noexcept {
  const Object& from = objects_[number(object)];
  const VectorClock& clock = clocks_[by];
  const bool strict = order == std::memory_order_seq_cst;
  unsigned count = 0;
  for (auto store = from.history.rbegin(); store != from.history.rend(); ++store) {
    ++count;
    // Whoever knows of this store, or of a read of it, cannot read an older one.
    if (store->when <= clock.at[store->by] || (strict && store->seq_cst)) break;
    bool known_read = false;
    for (ThreadNumber t = 0; t < max_threads; ++t)
      known_read |= store->seen_when[t] != 0 && store->seen_when[t] <= clock.at[t];
    if (known_read) break;
  }
  return count;
}

std::uint64_t Memory::load(ThreadNumber by, const void* object, unsigned back,
                           std::memory_order order) {
  Object& from = find(object);
  touch(by, from, "read");
  Store& store = from.history[from.history.size() - 1 - back];
  if (store.seen_when[by] == 0) store.seen_when[by] = clocks_[by].at[by];
  if (acquires(order)) clocks_[by].join(store.released);
  return store.value;
}

void Memory::append(ThreadNumber by, Object& object, std::uint64_t value, std::memory_order order,
                    const VectorClock* continued) {
  Store made{value, {}, by, clocks_[by].at[by], false, {}};
  made.seq_cst = order == std::memory_order_seq_cst;
  if (continued != nullptr) made.released = *continued;
  if (releases(order)) made.released.join(clocks_[by]);
  object.history.push_back(made);
}

void Memory::store(ThreadNumber by, const void* object, std::uint64_t value,
                   std::memory_order order) {
  Object& to = find(object);
  touch(by, to, "written");
  append(by, to, value, order, nullptr);
}

void Memory::update(ThreadNumber by, const void* object, std::uint64_t value,
                    std::memory_order order) {
  Object& of = find(object);
  touch(by, of, "updated");
  const VectorClock read = of.history.back().released;
  if (acquires(order)) clocks_[by].join(read);
  append(by, of, value, order, &read);  // a read-modify-write continues the release sequence
}

std::size_t Memory::stores(const void* object) const noexcept {
  const std::size_t i = number(object);
  return i < used_ ? objects_[i].history.size() : 0;
}

std::size_t Memory::seen(ThreadNumber by, const void* object) const noexcept {
  const std::vector<Store>& history = objects_[number(object)].history;
  std::size_t seen = history.size();
  while (seen > 0 && history[seen - 1].seen_when[by] == 0 && history[seen - 1].by != by) --seen;
  return seen;
}

void Memory::read_plain(ThreadNumber by, const void* object) { touch(by, find(object), "read"); }

void Memory::write_plain(ThreadNumber by, const void* object) {
  Object& to = find(object);
  const VectorClock& clock = tick(by);
  if (!clock.covers(to.accesses)) race(to, "written");
  to.writes.at[by] = to.accesses.at[by] = clock.at[by];
}

}  // namespace stoker::explore
