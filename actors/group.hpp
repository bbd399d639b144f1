// A group of actors of one class that are addressed together. Members leave when they end, before
// their end is announced. An actor may be in several groups, but only once in each.
//
// Threads: any; copies share. A group keeps its members reachable. A message to all goes to the
// members at that moment; order is kept for each sender and member. In a child of fork() a group of
// the parent has no members.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stoker/actors/actor.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {

/// The members, by their identity.
class GroupMembers final : public std::enable_shared_from_this<GroupMembers> {
 public:
  /// Throws invalid_argument (empty address), closed (it has ended), forked_process. A second join
  /// does nothing.
  void join(const ActorAddress& actor);
  /// False if it was not a member.
  bool leave(const ActorAddress& actor);
  [[nodiscard]] std::size_t size() const;
  /// The members in the order in which they joined.
  [[nodiscard]] std::vector<ActorAddress> list() const;
  /// The next member, round-robin; empty if there is none.
  [[nodiscard]] ActorAddress next();

 private:
  bool remove(ActorId id);
  const ForkGuard fork_;
  mutable std::mutex mutex_;                       // of what follows
  std::map<std::uint64_t, ActorAddress> members_;  // in the order they joined
  std::unordered_map<ActorId, std::uint64_t> places_;
  std::uint64_t last_place_ = 0;
  std::uint64_t turn_ = 0;  // the place that was addressed last
};

template <class A> class ActorGroup {
 public:
  /// A second join does nothing. Throws invalid_argument (empty address), closed (it has ended),
  /// forked_process.
  void join(const ActorRef<A>& actor) const { members_->join(actor); }
  /// False if it was not a member.
  bool leave(const ActorRef<A>& actor) const { return members_->leave(actor); }
  [[nodiscard]] std::vector<ActorRef<A>> members() const {
    std::vector<ActorRef<A>> all;
    for (const ActorAddress& one : members_->list()) all.emplace_back(one.cell());
    return all;
  }
  [[nodiscard]] std::size_t size() const { return members_->size(); }

  /// Casts a copy to every member; returns how many accepted it.
  template <class M> std::size_t cast_all(const M& message) const {
    std::size_t taken = 0;
    for (const ActorRef<A>& one : members())
      if (one.cast(M{message})) ++taken;
    return taken;
  }
  /// Casts to the next member, round-robin. Errors, returned as by cast(): not_found if there is no
  /// member, and those of cast().
  template <class M> Result<void> cast_next(M message) const {
    const ActorRef<A> one = next();
    if (!one) return Error{"group", ErrorCode::not_found, "the group has no members"};
    return one.cast(std::move(message));
  }
  /// The next member, round-robin; empty if there is none.
  [[nodiscard]] ActorRef<A> next() const { return ActorRef<A>{members_->next().cell()}; }

 private:
  std::shared_ptr<GroupMembers> members_ = std::make_shared<GroupMembers>();
};

}  // namespace stoker
