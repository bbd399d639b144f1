// Actors in a test's hands: bytes decide who sends what to whom, who is tied to whom, who ends, and in
// which order all of it is delivered. Every call is answered; of each sender an actor gets what was
// accepted, in order, up to its end; who watches is told once; who is linked ends, too, or is told.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "fuzz.hpp"
#include "stoker/actors/test_scheduler.hpp"
#include "stoker/actors/timed_send.hpp"

namespace stoker::fuzz::actors {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t outside = 99;  ///< the sender that is no actor

struct Note {
  std::size_t from;
  int number;
};
struct Question {
  int number;
};
struct Tick {};
class Player;
struct Doing {
  std::function<void(Player&)> what;
};

/// What became of one actor, kept beside it.
struct Record {
  std::map<std::size_t, std::vector<int>> accepted;  ///< by sender
  std::map<std::size_t, std::vector<int>> received;
  std::map<std::uint64_t, int> downs;  ///< by monitor
  std::set<ActorId> exits;
  std::set<std::size_t> linked;
  std::map<std::uint64_t, std::size_t> watching;  ///< by monitor: whom
};

class Player final : public Actor {
 public:
  Player(Record& record, bool traps) : record_{&record}, traps_{traps} {}
  void on(const Note& note) { record_->received[note.from].push_back(note.number); }
  int on(const Question& question) { return question.number + 1; }
  void on(Tick) {}
  void on(const Doing& doing) {
    if (traps_) trap_exit();
    doing.what(*this);
  }

  using Actor::demonitor;
  using Actor::exit;
  using Actor::leave;
  using Actor::link;
  using Actor::monitor;
  using Actor::trap_exit;
  using Actor::unlink;

 private:
  void on_exit(const Exit& exit) override { record_->exits.insert(exit.from); }
  void on_down(const Down& down) override { ++record_->downs[down.monitor.id]; }

  Record* record_;
  const bool traps_;
};

class Stage {
 public:
  explicit Stage(Decisions& decide)
      : decide_{decide},
        scheduler_{decide.flag() ? TestScheduler{decide.byte()} : TestScheduler{}} {
    const std::size_t players = 2 + decide.below(3);
    records_.resize(players);
    for (std::size_t i = 0; i < players; ++i) {
      const std::uint8_t how = decide.byte();
      lossy_.push_back((how & 6U) == 2);
      traps_.push_back((how & 1U) != 0);
      SpawnOptions options{.name = "player" + std::to_string(i)};
      if ((how & 6U) != 0) options.capacity = 1 + how / 8 % 8;
      if (lossy_.back()) options.overflow = OverflowRule::drop_oldest;
      players_.push_back(spawn<Player>(scheduler_.executor(), options, records_[i], traps_[i]));
      // It traps from its first message on.
      static_cast<void>(players_[i].cast(Doing{[](Player&) {}}));
      ended_.push_back(players_[i].ended());
    }
    scheduler_.run();
  }

  void step() {
    const std::size_t who = decide_.below(players_.size());
    const std::size_t whom = decide_.below(players_.size());
    switch (decide_.below(16)) {
      case 0:
      case 1: return send(outside, who);
      case 2:
      case 3: return tell(who, [this, who, whom](Player&) { send(who, whom); });
      case 4:
      case 5: return ask(who);
      case 6:
        return tell(who, [this, who, whom](Player& me) {
          me.link(players_[whom]);
          if (who == whom) return;
          records_[who].linked.insert(whom);
          records_[whom].linked.insert(who);
        });
      case 7:
        return tell(who, [this, who, whom](Player& me) {
          me.unlink(players_[whom]);
          records_[who].linked.erase(whom);
          records_[whom].linked.erase(who);
        });
      case 8:
        return tell(who, [this, who, whom](Player& me) {
          records_[who].watching.emplace(me.monitor(players_[whom]).id, whom);
        });
      case 9:
        return tell(who, [this, who](Player& me) {
          auto& watching = records_[who].watching;
          if (watching.empty()) return;
          const MonitorRef monitor{watching.begin()->first};
          static_cast<void>(me.demonitor(monitor, Flush::yes));
          unwatched_.emplace(monitor.id, records_[who].downs[monitor.id]);
          watching.erase(watching.begin());
        });
      case 10: return tell(who, [](Player&) { throw std::runtime_error{"on purpose"}; });
      case 11: return end(who);
      case 12: timers_.push_back(cast_after(players_[who], 1ms * decide_.byte(), Tick{})); return;
      case 13: scheduler_.advance(1ms * decide_.byte()); return;
      case 14: static_cast<void>(scheduler_.deliver(players_[who])); return;
      default: static_cast<void>(scheduler_.step());
    }
  }

  /// Lets everything happen and looks at what did.
  void finish() {
    scheduler_.run();
    scheduler_.advance(1h);
    scheduler_.run();
    for (const auto& answer : answers_) require(answer.ready(), "every call is answered");
    for (std::size_t i = 0; i < players_.size(); ++i) {
      require(ended_[i].ready() == !players_[i].alive(), "an end is told when it has come");
      check_mail(i);
      check_ties(i);
    }
  }

 private:
  void tell(std::size_t who, std::function<void(Player&)> what) {
    static_cast<void>(players_[who].cast(Doing{std::move(what)}));
  }

  void send(std::size_t from, std::size_t to) {
    const int number = next_++;
    if (players_[to].cast(Note{from, number})) records_[to].accepted[from].push_back(number);
  }

  void ask(std::size_t who) {
    CallOptions options;
    if (decide_.flag()) options.timeout = 1ms * decide_.byte();
    answers_.push_back(players_[who].call(Question{next_++}, options));
  }

  void end(std::size_t who) {
    switch (decide_.below(6)) {
      case 0: return players_[who].exit(ExitReason::normal());
      case 1: return players_[who].exit(ExitReason::shutdown());
      case 2: return players_[who].exit(ExitReason::kill());
      case 3: static_cast<void>(players_[who].stop()); return;
      case 4: static_cast<void>(players_[who].stop({.patience = 5ms})); return;
      default: return tell(who, [](Player& me) { me.leave(ExitReason::shutdown("done")); });
    }
  }

  void check_mail(std::size_t who) const {
    for (const auto& [from, received] : records_[who].received) {
      const auto sent = records_[who].accepted.find(from);
      require(sent != records_[who].accepted.end(), "an actor gets what was sent to it only");
      const auto& accepted = sent->second;
      if (lossy_[who]) {
        require(std::ranges::includes(accepted, received), "what is dropped changes no order");
        require(std::ranges::is_sorted(received),
                "an actor gets messages in the order of the sender");
      } else {
        require(received.size() <= accepted.size() &&
                    std::equal(received.begin(), received.end(), accepted.begin()),
                "an actor gets all messages of a sender, in order, up to its end");
      }
    }
    if (!players_[who].alive() || lossy_[who]) return;
    for (const auto& [from, accepted] : records_[who].accepted) {
      const auto received = records_[who].received.find(from);
      require(
          received != records_[who].received.end() && received->second.size() == accepted.size(),
          "no message to an actor that lives is lost");
    }
  }

  void check_ties(std::size_t who) const {
    if (!players_[who].alive()) return;
    const Record& record = records_[who];
    for (const auto& [monitor, whom] : record.watching) {
      const auto told = record.downs.find(monitor);
      const int times = told == record.downs.end() ? 0 : told->second;
      // A lossy mailbox keeps signals, too.
      require(times == (players_[whom].alive() ? 0 : 1), "who watches is told of an end, once");
    }
    for (const auto& [monitor, times] : unwatched_) {
      const auto told = record.downs.find(monitor);
      if (told != record.downs.end())
        require(told->second == times, "who watches no longer is told nothing");
    }
    for (const std::size_t other : record.linked) {
      if (players_[other].alive()) continue;
      const ExitReason why = ended_[other].wait().value();
      if (traps_[who])
        require(record.exits.contains(players_[other].id()), "who traps is told of a link's end");
      else
        require(why.kind() == ExitReason::Kind::normal,
                "an end that is not normal takes its links along");
    }
  }

  Decisions& decide_;
  TestScheduler scheduler_;
  std::vector<Record> records_;
  std::vector<bool> lossy_;
  std::vector<bool> traps_;
  std::vector<ActorRef<Player>> players_;
  std::vector<Future<ExitReason>> ended_;
  std::vector<Future<int>> answers_;
  std::vector<SendTimer> timers_;
  std::map<std::uint64_t, int> unwatched_;
  int next_ = 0;
};

}  // namespace

void run(Bytes bytes) {
  Decisions decide{bytes};
  Stage stage{decide};
  for (int steps = 0; !decide.empty() && steps < 300; ++steps) stage.step();
  stage.finish();
}

}  // namespace stoker::fuzz::actors
