// Programs that measure one row of an actor runtime each: `PROGRAM ROW SAMPLES` prints one sample a
// line, in the row's unit, and ends.
//
// Ours and Asio's are this program itself (`stoker_bench --actors stoker`), CAF's is
// bench_caf_actors beside it if CAF was there when it was built, BEAM's is bench/peers/actors.erl,
// compiled here if `erl` is installed. A process for each row and turn: all begin with a fresh heap,
// and nobody's idle threads poll while another is measured.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/bench/harness.hpp"

namespace stoker::bench {

class ActorProgram {
 public:
  ActorProgram(std::string name, std::vector<std::string> command)
      : name_{std::move(name)}, command_{std::move(command)} {}
  /// One that is not there, and why.
  [[nodiscard]] static ActorProgram absent(std::string name, std::string why);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Empty if it is there.
  [[nodiscard]] const std::string& why_absent() const noexcept { return why_absent_; }
  /// Runs it. Throws std::system_error if it cannot be started, std::runtime_error if it fails or
  /// takes longer than two minutes.
  [[nodiscard]] Samples run(std::string_view row, int samples) const;

 private:
  std::string name_;
  std::vector<std::string> command_;
  std::string why_absent_;
};

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
  const ActorProgram stoker, asio, caf, beam;

 private:
  [[nodiscard]] ActorProgram find_beam() const;
};

/// The main function of `stoker_bench --actors stoker|asio ROW SAMPLES`; `arguments` are those after
/// --actors.
int serve_actor_program(const std::vector<std::string>& arguments);

}  // namespace stoker::bench
