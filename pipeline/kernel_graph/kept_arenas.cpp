#include "stoker/pipeline/kernel_graph/kept_arenas.hpp"

#include <algorithm>
#include <iterator>

namespace stoker {

void KeptArenas::keep(const std::shared_ptr<Replay>& replay, std::uint64_t limit) {
  Order dropped;
  Order own{{replay, replay->arena ? replay->arena->memory->capacity() : 0}};
  const std::scoped_lock lock{mutex_};
  places_.emplace(replay.get(), own.begin());
  const std::uint64_t bytes = own.front().bytes;
  take_idle(limit - std::min(limit, bytes), dropped);
  order_.splice(order_.end(), own);
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
}

void KeptArenas::use(const Replay& replay) {
  const std::scoped_lock lock{mutex_};
  if (const auto found = places_.find(&replay); found != places_.end())
    order_.splice(order_.end(), order_, found->second);
}

void KeptArenas::drop(const Replay& replay) {
  if (fork_.forked()) return;  // a thread of the parent may hold the lock for ever
  Order dropped;
  const std::scoped_lock lock{mutex_};
  if (const auto found = places_.find(&replay); found != places_.end())
    take(found->second, dropped);
}

bool KeptArenas::drop_idle() {
  Order dropped;
  const std::scoped_lock lock{mutex_};
  take_idle(0, dropped);
  return !dropped.empty();
}

void KeptArenas::take(Order::iterator one, Order& to) noexcept {
  places_.erase(one->replay.get());
  bytes_.fetch_sub(one->bytes, std::memory_order_relaxed);
  to.splice(to.end(), order_, one);
}

void KeptArenas::take_idle(std::uint64_t limit, Order& to) noexcept {
  for (auto one = order_.begin(); one != order_.end() && bytes() > limit;) {
    const auto next = std::next(one);
    if (one->can_go()) take(one, to);
    one = next;
  }
}

}  // namespace stoker
