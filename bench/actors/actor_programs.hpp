// Programs that measure one row of an actor runtime each (peer_program.hpp).
//
// Ours and Asio's are this program itself (`stoker_bench --actors stoker`), CAF's is
// bench_caf_actors beside it if CAF was there when it was built, BEAM's is bench/peers/actors.erl,
// compiled here if `erl` is installed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/bench/harness/peer_program.hpp"

namespace stoker::bench {

/// All that are compared; compiles BEAM's into a folder that goes with this.
class ActorPrograms {
 public:
  ActorPrograms();
  ~ActorPrograms();
  ActorPrograms(const ActorPrograms&) = delete;
  ActorPrograms& operator=(const ActorPrograms&) = delete;

 private:
  std::filesystem::path folder_;  // before what is compiled into it

 public:
  const PeerProgram stoker, asio, caf, beam;

 private:
  [[nodiscard]] PeerProgram find_beam() const;
};

/// The main function of `stoker_bench --actors stoker|asio ROW SAMPLES`; `arguments` are those after
/// --actors.
int serve_actor_program(const std::vector<std::string>& arguments);

}  // namespace stoker::bench
