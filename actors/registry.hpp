// Names for actors: a name belongs to one actor, but an actor may have several.
//
// A name is free before its actor's end is announced (OTP's rule: an actor that gets DOWN may take
// the name). The registry keeps named actors reachable.
//
// Threads: any; in a child of fork() the parent's registry is empty. Lifetime: actors may outlive
// the registry and then only lose their names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/actors/actor.hpp"

namespace stoker {

class ActorRegistry {
 public:
  struct Entry {
    std::string name;
    ActorAddress actor;
  };

  ActorRegistry();

  /// Throws already_exists (the name is taken, also if by this actor), closed (it has ended),
  /// invalid_argument (an empty name or address), forked_process.
  void register_name(std::string name, const ActorAddress& actor) {
    try_register_name(std::move(name), actor).value();
  }
  /// The same with the failure as a value, for actors that compete for a name.
  [[nodiscard]] Result<void> try_register_name(std::string name, const ActorAddress& actor);
  /// The actor of that name; empty if there is none.
  [[nodiscard]] ActorAddress whereis(std::string_view name) const;
  /// The same as a typed address. Throws not_found; invalid_argument if the actor is of another
  /// class; forked_process.
  template <class A> [[nodiscard]] ActorRef<A> find(std::string_view name) const {
    return actor_cast<A>(find_any(name));
  }
  /// False if nothing had the name.
  bool unregister(std::string_view name);
  /// All names, in order.
  [[nodiscard]] std::vector<Entry> list() const;

 private:
  struct Names;
  [[nodiscard]] ActorAddress find_any(std::string_view name) const;
  const std::shared_ptr<Names> names_;  // actors that end refer to it weakly
};

}  // namespace stoker
