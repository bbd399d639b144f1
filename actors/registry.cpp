#include "stoker/actors/registry.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {

struct ActorRegistry::Names {
  const ForkGuard fork;  // in a child a thread of the parent may hold the lock
  mutable std::mutex mutex;
  std::map<std::string, ActorAddress, std::less<>> actors;

  /// Frees the name if it is still that actor's.
  void free(std::string_view name, ActorId actor) noexcept {
    ActorAddress last;  // whose end must not come under the lock
    const std::scoped_lock lock{mutex};
    const auto at = actors.find(name);
    if (at == actors.end() || at->second.id() != actor) return;
    last = std::move(at->second);
    actors.erase(at);
  }
};

ActorRegistry::ActorRegistry() : names_{std::make_shared<Names>()} {}

Result<void> ActorRegistry::try_register_name(std::string name, const ActorAddress& actor) {
  if (name.empty() || !actor)
    return Error{"register_name",
                 ErrorCode::invalid_argument,
                 name.empty() ? "a name is not empty" : "an empty address was passed",
                 {{"name", name}}};
  STOKER_TRY(names_->fork.check("register_name"));
  STOKER_TRY(actor.cell()->strand()->check_process("register_name"));
  {
    const std::scoped_lock lock{names_->mutex};
    const auto [at, added] = names_->actors.try_emplace(name, actor);
    if (!added)
      return Error{"register_name",
                   ErrorCode::already_exists,
                   "the name '" + name + "' is taken",
                   {{"name", name}, {"actor", at->second.name()}}};
  }
  // Not under the lock: the actor may be ending, and free the name of another registration.
  bool listed = false;
  try {
    listed = actor.cell()->at_end(names_.get(), name,
                                  [weak = std::weak_ptr{names_}, name, id = actor.id()] {
                                    if (const auto names = weak.lock()) names->free(name, id);
                                  });
  } catch (...) {
    names_->free(name, actor.id());
    throw;
  }
  if (listed) return {};
  names_->free(name, actor.id());
  return Error{"register_name",
               ErrorCode::closed,
               "the actor has ended",
               {{"name", name}, {"actor", actor.name()}}};
}

ActorAddress ActorRegistry::whereis(std::string_view name) const {
  if (names_->fork.forked()) return {};
  const std::scoped_lock lock{names_->mutex};
  const auto at = names_->actors.find(name);
  return at == names_->actors.end() ? ActorAddress{} : at->second;
}

ActorAddress ActorRegistry::find_any(std::string_view name) const {
  names_->fork.check("find").value();
  if (ActorAddress found = whereis(name)) return found;
  throw Error{"find",
              ErrorCode::not_found,
              "no actor is called '" + std::string{name} + "'",
              {{"name", std::string{name}}}};
}

bool ActorRegistry::unregister(std::string_view name) {
  const ActorAddress actor = whereis(name);
  if (!actor) return false;
  actor.cell()->forget_at_end(names_.get(), name);
  names_->free(name, actor.id());
  return true;
}

std::vector<ActorRegistry::Entry> ActorRegistry::list() const {
  if (names_->fork.forked()) return {};
  const std::scoped_lock lock{names_->mutex};
  std::vector<Entry> entries;
  entries.reserve(names_->actors.size());
  for (const auto& [name, actor] : names_->actors) entries.push_back({name, actor});
  return entries;
}

}  // namespace stoker
