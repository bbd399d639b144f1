#include "stoker/actors/group.hpp"

namespace stoker {

void GroupMembers::join(const ActorAddress& actor) {
  if (!actor) throw empty_address("group.join");
  fork_.check("group.join").value();
  {
    const std::scoped_lock lock{mutex_};
    const auto [place, added] = places_.try_emplace(actor.id(), last_place_ + 1);
    if (!added) return;
    try {
      members_.emplace(last_place_ + 1, actor);
    } catch (...) {
      places_.erase(place);
      throw;
    }
    ++last_place_;
  }
  // Not under the lock: the actor may be ending, and leave at this moment.
  bool noted = false;
  try {
    noted = actor.cell()->at_end(this, {}, [weak = weak_from_this(), id = actor.id()] {
      if (const auto members = weak.lock()) members->remove(id);
    });
  } catch (...) {
    remove(actor.id());
    throw;
  }
  if (noted) return;
  remove(actor.id());
  throw Error{"group.join", ErrorCode::closed, "the actor has ended", {{"actor", actor.name()}}};
}

bool GroupMembers::leave(const ActorAddress& actor) {
  if (!actor || fork_.forked()) return false;
  actor.cell()->forget_at_end(this, {});
  return remove(actor.id());
}

bool GroupMembers::remove(ActorId id) {
  ActorAddress removed;  // the last share must not go under the lock
  const std::scoped_lock lock{mutex_};
  const auto place = places_.find(id);
  if (place == places_.end()) return false;
  const auto at = members_.find(place->second);
  removed = std::move(at->second);
  members_.erase(at);
  places_.erase(place);
  return true;
}

std::size_t GroupMembers::size() const {
  if (fork_.forked()) return 0;
  const std::scoped_lock lock{mutex_};
  return members_.size();
}

std::vector<ActorAddress> GroupMembers::list() const {
  if (fork_.forked()) return {};
  std::vector<ActorAddress> all;
  const std::scoped_lock lock{mutex_};
  all.reserve(members_.size());
  for (const auto& [place, member] : members_) all.push_back(member);
  return all;
}

ActorAddress GroupMembers::next() {
  if (fork_.forked()) return {};
  const std::scoped_lock lock{mutex_};
  if (members_.empty()) return {};
  auto at = members_.upper_bound(turn_);
  if (at == members_.end()) at = members_.begin();
  turn_ = at->first;
  return at->second;
}

}  // namespace stoker
