// Actors against Asio strands, CAF and BEAM, each on two threads.
//
// The two cores of a virtual machine may be near or far, and change within seconds, which moves
// every row here: so all take turns, one process each, and a value is the median over the turns.
// Look at the machine's first rows, too. An aim is a value for one reference machine, as a
// ratio to a floor or peer that is measured in the same turns.
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "stoker/bench/actors/actor_programs.hpp"
#include "stoker/bench/harness/groups.hpp"

namespace stoker::bench {
namespace {

/// Whom ours is compared with, how that one calls the row, and the ratio that is our aim.
struct Rival {
  const PeerProgram* program;
  std::string row;
  std::optional<double> aim;
  std::optional<double> aim_p99 = {};
  std::string name = {};  ///< the program's, if empty
};

struct Question {
  std::string name;
  std::string row;  ///< empty: ours cannot do it yet
  std::string unit;
  Better better;
  int samples;  ///< a turn
  std::vector<Rival> rivals;
  std::string note = {};
  std::optional<double> aim = {};  ///< of the value itself
  bool p99 = false;                ///< a row for it, too; the first is then the p50
};

/// What one program reached: a value a turn.
struct Reached {
  Samples median;
  Samples p99;
};

Reached& operator+=(Reached& reached, const Samples& turn) {
  reached.median.add(turn.median());
  reached.p99.add(turn.quantile(0.99));
  return reached;
}

class Contest {
 public:
  explicit Contest(Context& context) : report_{context.report}, turns_{context.repeats(7)} {}

  void hold(const PeerProgram& ours, const Question& question) {
    Reached mine;
    std::vector<Reached> theirs(question.rivals.size());
    std::vector<std::string> missing(question.rivals.size());
    for (int turn = 0; turn < turns_; ++turn) {
      if (!question.row.empty()) mine += ours.run(question.row, question.samples);
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        const Rival& rival = question.rivals[i];
        missing[i] = rival.program->why_absent();
        if (missing[i].empty()) theirs[i] += rival.program->run(rival.row, question.samples);
      }
    }
    show(question, mine, theirs, missing, false);
    if (question.p99) show(question, mine, theirs, missing, true);
  }

 private:
  void show(const Question& question, const Reached& mine, const std::vector<Reached>& theirs,
            const std::vector<std::string>& missing, bool p99) {
    std::string name = question.name;
    if (question.p99) name += p99 ? ", p99" : ", p50";
    const auto part = [&](const Reached& reached) -> const Samples& {
      return p99 ? reached.p99 : reached.median;
    };
    bool shown = false;
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      const Rival& rival = question.rivals[i];
      const std::string peer = rival.name.empty() ? rival.program->name() : rival.name;
      if (!missing[i].empty()) {
        report_.skip(name + ", against " + peer, missing[i]);
        continue;
      }
      if (question.row.empty()) {
        report_.add(Row{name + ", " + peer, part(theirs[i]), question.unit, question.better});
        continue;
      }
      Row row{name, part(mine), question.unit, question.better};
      row.against(peer, part(theirs[i])).aim_ratio(p99 ? rival.aim_p99 : rival.aim);
      if (!shown) row.remark(question.note);
      if (!shown && question.aim) row.aim(*question.aim);
      shown = true;
      report_.add(row);
    }
    if (shown || question.row.empty()) return;
    Row row{name, part(mine), question.unit, question.better};
    if (question.aim) row.aim(*question.aim);
    report_.add(row.remark(question.note));
  }

  Report& report_;
  int turns_;
};

/// Each ratio is the value aimed for on the reference machine over the rival's value there; 1 means: beat it.
std::vector<Question> questions(const ActorPrograms& programs) {
  const auto* asio = &programs.asio;
  const auto* caf = &programs.caf;
  const auto* beam = &programs.beam;
  const std::string deferred = "Asio strands, defer";
  return {
      {"ping-pong, per message",
       "ping_pong",
       "ns",
       Better::lower,
       5,
       {{asio, "ping_pong_defer", 1.0, {}, deferred},
        {asio, "ping_pong", 1.0},
        {caf, "ping_pong", 1.0},
        {beam, "ping_pong", 1.0}}},
      {"fan-in, 8 to 1",
       "fan_in",
       "M/s",
       Better::higher,
       3,
       {{asio, "fan_in", 2.4},
        {caf, "fan_in", 2.2},
        {beam, "fan_in", 1.7},
        {beam, "fan_in_off_heap", 1.0, {}, "BEAM, mailbox off the heap"}},
       "50,000 messages of each, sent in one go"},
      {"ring of 503, hops",
       "ring",
       "M/s",
       Better::higher,
       5,
       {{asio, "ring_defer", 1.0, {}, deferred},
        {asio, "ring", 1.0},
        {caf, "ring", 1.0},
        {beam, "ring", 1.0}}},
      {"spawn, answer, end, from an actor",
       "spawn_inside",
       "k/s",
       Better::higher,
       1,
       {{asio, "spawn_inside", 0.77}, {caf, "spawn_inside", 1.0}, {beam, "spawn_inside", 1.8}},
       "100,000; CAF 20,000"},
      {"the same from a plain thread",
       "spawn_outside",
       "k/s",
       Better::higher,
       1,
       {{asio, "spawn_outside", 0.77}, {caf, "spawn_outside", 1.0}}},
      {"an actor that ends itself by leave()",
       "spawn_exit",
       "k/s",
       Better::higher,
       1,
       {{asio, "spawn_inside", {}}, {beam, "spawn_inside", 1.8}},
       "from an actor; the others as above"},
      {"resident bytes per idle actor",
       "idle_bytes",
       "B",
       Better::lower,
       1,
       {{asio, "idle_bytes", {}},
        {caf, "idle_bytes", 1.0},
        {beam, "idle_bytes", 1.0},
        {beam, "idle_bytes_hibernated", 1.0, {}, "BEAM, hibernated"}},
       "growth of a fresh process by 100,000 that have answered once, addresses not counted",
       700},
      {"ask, actor to actor",
       "ask_inside",
       "µs",
       Better::lower,
       5000,
       {{asio, "ask_inside", 1.17, 0.77},
        {caf, "ask_inside", 1.0, 1.0},
        {beam, "ask_inside", 1.0, 1.0},
        {beam, "ask_gen_server", 1.0, 1.0, "BEAM, gen_server:call"}},
       "the answer as a message",
       {},
       true},
      {"ask from a plain thread that sleeps",
       "ask_outside",
       "µs",
       Better::lower,
       5000,
       {{asio, "ask_outside", 0.37, 0.95}, {caf, "ask_outside", 0.63, 0.29}},
       "Future::get()",
       {},
       true},
      {"the same of an idle actor, run here",
       "ask_here",
       "µs",
       Better::lower,
       5000,
       {},
       "Run::here",
       {},
       true},
      {"the same while eight actors flood a ninth",
       "ask_flooded",
       "µs",
       Better::lower,
       2000,
       {},
       "fairness: a turn is 64 messages",
       {},
       true},
      {"crash to a replacement's answer",
       "crash",
       "µs",
       Better::lower,
       500,
       {{asio, "crash", {}, {}, "Asio strands, by hand"},
        {caf, "crash", 0.65, 1.0, "CAF, by hand"},
        {beam, "crash", 0.52, 0.83, "BEAM, supervisor"}},
       "supervisor",
       {},
       true},
      {"10,000 children, start and stop, per child",
       "children_10000",
       "µs",
       Better::lower,
       1,
       {},
       "simple_one_for_one; the same for any number"},
      {"20,000 children, start and stop, per child",
       "children_20000",
       "µs",
       Better::lower,
       1,
       {},
       "simple_one_for_one; the same for any number"},
      {"40,000 children, start and stop, per child",
       "children_40000",
       "µs",
       Better::lower,
       1,
       {},
       "simple_one_for_one; the same for any number"},
      {"casts from a plain thread",
       "stream",
       "M/s",
       Better::higher,
       5,
       {{asio, "stream", {}}, {caf, "stream", 1.0}}},
  };
}

}  // namespace

void actors(Context& context) {
  const ActorPrograms programs;
  Contest contest{context};
  for (const Question& question : questions(programs)) try {
      contest.hold(programs.stoker, question);
    } catch (const std::exception& error) {
      context.report.skip(question.name, error.what());
    }
}

}  // namespace stoker::bench
