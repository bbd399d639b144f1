#include "stoker/actors/group.hpp"

#include <algorithm>

namespace stoker {

Result<void> GroupMembers::join(const ActorAddress& actor) {
  if (!actor) return empty_address("group.join");
  {
    const std::scoped_lock lock{mutex_};
    if (std::ranges::find(members_, actor) != members_.end()) return {};
    members_.push_back(actor);
  }
  // Not under the lock: the actor may be ending, and leave at this moment.
  const bool noted = actor.cell()->at_end(this, {}, [weak = weak_from_this(), id = actor.id()] {
    if (const auto members = weak.lock()) members->remove(id);
  });
  if (noted) return {};
  remove(actor.id());
  return Error{"group.join", ErrorCode::closed, "the actor has ended", {{"actor", actor.name()}}};
}

bool GroupMembers::leave(const ActorAddress& actor) {
  if (!actor) return false;
  actor.cell()->forget_at_end(this, {});
  return remove(actor.id());
}

bool GroupMembers::remove(ActorId id) {
  ActorAddress removed;  // the last share must not go under the lock
  const std::scoped_lock lock{mutex_};
  const auto at = std::ranges::find(members_, id, &ActorAddress::id);
  if (at == members_.end()) return false;
  removed = std::move(*at);
  members_.erase(at);
  return true;
}

std::vector<ActorAddress> GroupMembers::list() const {
  const std::scoped_lock lock{mutex_};
  return members_;
}

ActorAddress GroupMembers::next() {
  const std::scoped_lock lock{mutex_};
  return members_.empty() ? ActorAddress{} : members_[turn_++ % members_.size()];
}

}  // namespace stoker
