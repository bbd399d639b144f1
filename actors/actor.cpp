#include "stoker/actors/actor.hpp"

#include <boost/core/demangle.hpp>

namespace stoker {

ActorCell& Actor::own() const {
  if (!cell_)
    throw Error{"actor", ErrorCode::invalid_argument,
                "an actor has no address before its constructor has returned"};
  return *cell_;
}

}  // namespace stoker

namespace stoker::detail {

Error not_an_actor_of(const ActorAddress& address, const std::type_info& wanted) {
  if (!address) return empty_address("actor_cast");
  return {"actor_cast",
          ErrorCode::invalid_argument,
          "the actor is of another class",
          {{"actor", address.name()},
           {"expected", boost::core::demangle(wanted.name())},
           {"got", boost::core::demangle(address.cell()->type().name())}}};
}

}  // namespace stoker::detail
