#include "stoker/bench/actors/actor_programs.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "stoker/bench/actors/actor_workloads.hpp"
#include "stoker/bench/actors/strand_workloads.hpp"
#include "stoker/tests/checkout/checkout.hpp"

namespace stoker::bench {
namespace {

namespace fs = std::filesystem;

PeerProgram own(std::string name, std::string runtime) {
  return {std::move(name), {own_program(), "--actors", std::move(runtime)}};
}

PeerProgram find_caf() {
  const fs::path program = own_program().parent_path() / "bench_caf_actors";
  if (access(program.c_str(), X_OK) == 0) return {"CAF", {program}};
  return PeerProgram::absent("CAF", "bench_caf_actors is built only where CAF 0.17 is");
}

}  // namespace

ActorPrograms::ActorPrograms()
    : folder_{temporary_folder()},
      stoker{own("Stoker", "stoker")},
      asio{own("Asio strands", "asio")},
      caf{find_caf()},
      beam{find_beam()} {}

ActorPrograms::~ActorPrograms() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

PeerProgram ActorPrograms::find_beam() const {
  const auto erl = on_path("erl");
  const auto erlc = on_path("erlc");
  if (!erl || !erlc) return PeerProgram::absent("BEAM", "erl or erlc is not installed");
  const char* elsewhere = std::getenv("STOKER_BENCH_ERL");  // NOLINT(concurrency-mt-unsafe)
  const fs::path source =
      elsewhere ? fs::path{elsewhere} : checkout_folder() / "bench/peers/actors.erl";
  if (run_program({*erlc, "-o", folder_, source}) != 0)
    return PeerProgram::absent("BEAM", "erlc cannot compile " + source.string());
  return {"BEAM", {*erl, "+S", "2:2", "-noinput", "-pa", folder_, "-run", "actors", "main"}};
}

int serve_actor_program(const std::vector<std::string>& arguments) {
  if (arguments.size() != 3)
    throw std::invalid_argument{"usage: stoker_bench --actors stoker|asio ROW SAMPLES"};
  const auto workload = arguments[0] == "asio" ? strand_workload : actor_workload;
  const Samples samples = workload(arguments[1], std::stoi(arguments[2]));
  for (const double value : samples.values()) std::printf("%.9g\n", value);
  return 0;
}

}  // namespace stoker::bench
