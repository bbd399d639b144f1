// What System::observe() shows.
#include "stoker/api/observe/observation.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/actors/test_scheduler.hpp"
#include "stoker/api/observe/observing.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/device/fault/fault_injection.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;
using State = ActorObservation::State;

struct Crash {};
struct Note {};

class Worker final : public Actor {
 public:
  void on(Crash) { throw std::runtime_error{"on purpose"}; }
  void on(Note) {}
};

const ActorObservation& find(const ActorObservation& among, std::string_view id) {
  for (const ActorObservation& child : among.children)
    if (child.id == id) return child;
  for (const ActorObservation& child : among.children)  // the program's own are below "program"
    if (child.id == "program") return find(child, id);
  throw std::runtime_error{"there is no child " + std::string{id}};
}

/// A system that moves when the test says so.
class Observation : public testing::Test {
 protected:
  Observation() {
    options.executor = scheduler.executor();
    options.clock = scheduler.clock();
    options.config.observe_socket.clear();
    system.emplace(options);
  }
  ~Observation() override {
    gate.set();
    scheduler.run();
    system.reset();
    scheduler.run();
  }

  template <class T> T answer(const Future<T>& future) {
    scheduler.run();
    EXPECT_TRUE(future.ready());
    return future.get();
  }
  SystemObservation observe() { return answer(system->observe()); }

  ActorRef<Worker> add_worker(const std::string& id, SpawnOptions how = {}) {
    ActorRef<Worker> made;
    ChildSpec spec;
    spec.id = id;
    spec.start = [id, how](const ChildStart& start) -> Result<ActorAddress> {
      SpawnOptions named = how;
      named.name = id;
      return ActorAddress{start.spawn<Worker>(named)};
    };
    const ActorAddress started = answer(system->supervisor().start_child(std::move(spec)));
    return ActorRef<Worker>{started.cell()};
  }
  /// A supervisor below the first that waits for the gate instead of answering.
  Supervisor add_busy_supervisor() {
    const ActorAddress started =
        answer(system->supervisor().start_child(supervisor_child({.name = "busy"}, {})));
    Supervisor busy{actor_cast<SupervisorProcess>(started)};
    ChildSpec slow;
    slow.id = "slow";
    slow.start = [opened = gate.future()](const ChildStart&) -> Result<ActorAddress> {
      static_cast<void>(opened.wait());
      return ActorAddress{};
    };
    static_cast<void>(busy.start_child(std::move(slow)));
    scheduler.run();
    return busy;
  }

  LogCapture quiet;
  Promise<void> gate;
  TestScheduler scheduler;
  SystemOptions options;
  std::optional<System> system;
};

TEST_F(Observation, a_system_without_actors_and_devices_is_empty) {
  const SystemObservation seen = observe();
  EXPECT_FALSE(seen.tree);
  EXPECT_TRUE(seen.devices.empty());
  EXPECT_EQ(seen.pid, static_cast<std::uint64_t>(getpid()));
}

TEST_F(Observation, shows_who_is_below_whom) {
  add_worker("one");
  static_cast<void>(answer(system->supervisor().start_child(
      supervisor_child({.name = "pool"}, {child<Worker>("two")}))));
  const SystemObservation seen = observe();
  ASSERT_TRUE(seen.tree);
  EXPECT_EQ(seen.tree->kind, ChildKind::supervisor);
  EXPECT_EQ(seen.tree->type, "stoker::Supervisor");
  EXPECT_EQ(find(*seen.tree, "one").kind, ChildKind::worker);
  EXPECT_NE(find(*seen.tree, "one").type.find("Worker"), std::string::npos);
  const ActorObservation& pool = find(*seen.tree, "pool");
  EXPECT_EQ(pool.kind, ChildKind::supervisor);
  EXPECT_EQ(find(pool, "two").state, State::running);
  EXPECT_EQ(seen.live_processes, 4U) << "three supervisors and the observer";
}

TEST_F(Observation, a_child_that_crashed_and_is_back_shows_its_restarts) {
  const ActorRef<Worker> first = add_worker("worker");
  ASSERT_TRUE(first.cast(Crash{}));
  scheduler.run();
  const SystemObservation seen = observe();
  const ActorObservation& worker = find(*seen.tree, "worker");
  EXPECT_EQ(worker.restarts, 1U);
  EXPECT_EQ(worker.state, State::running);
  EXPECT_NE(worker.actor, first.id());
}

TEST_F(Observation, a_child_that_was_stopped_is_shown_without_an_actor) {
  add_worker("worker");
  answer(system->supervisor().terminate_child("worker"));
  const SystemObservation seen = observe();
  const ActorObservation& worker = find(*seen.tree, "worker");
  EXPECT_EQ(worker.state, State::stopped);
  EXPECT_EQ(worker.actor, 0U);
}

TEST_F(Observation, a_full_mailbox_shows_its_depth) {
  ChildSpec spec;
  spec.id = "sleeper";
  spec.start = [opened = gate.future()](const ChildStart& start) -> Result<ActorAddress> {
    return ActorAddress{start.spawn_process<Note>(
        {.name = "sleeper", .capacity = 4},
        [opened](ProcessSelf<Note>&) { static_cast<void>(opened.wait()); })};
  };
  spec.restart = Restart::temporary;
  const ActorAddress started = answer(system->supervisor().start_child(std::move(spec)));
  const ProcessRef<Note> sleeper{started.cell()};
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(sleeper.cast(Note{}));
  ASSERT_FALSE(sleeper.cast(Note{}));
  const SystemObservation seen = observe();
  EXPECT_EQ(find(*seen.tree, "sleeper").mailbox_depth, 4U);
  EXPECT_EQ(find(*seen.tree, "sleeper").mailbox_capacity, 4U);
}

TEST_F(Observation, a_supervisor_that_does_not_answer_is_shown_without_its_children) {
  add_worker("worker");
  add_busy_supervisor();
  const auto seeing = system->observe();
  scheduler.run();
  EXPECT_FALSE(seeing.ready());
  scheduler.advance(observation_patience);
  const SystemObservation seen = answer(seeing);
  EXPECT_EQ(find(*seen.tree, "busy").no_answer, "no answer in time");
  EXPECT_EQ(find(*seen.tree, "busy").state, State::running);
  EXPECT_EQ(find(*seen.tree, "worker").no_answer, "");
}

TEST_F(Observation, a_late_answer_is_nobodys_business) {
  add_busy_supervisor();
  const auto seeing = system->observe();
  scheduler.run();
  scheduler.advance(observation_patience);
  static_cast<void>(answer(seeing));
  gate.set();
  EXPECT_EQ(find(*observe().tree, "busy").no_answer, "");
}

TEST_F(Observation, does_not_fill_the_mailbox_of_one_that_never_answers) {
  const Supervisor busy = add_busy_supervisor();
  const std::uint32_t half = busy.strand()->capacity() / 2;
  std::vector<Future<ChildCount>> questions;
  while (busy.strand()->depth() < half) questions.push_back(busy.count_children());
  const SystemObservation seen = observe();
  EXPECT_EQ(busy.strand()->depth(), half);
  EXPECT_EQ(find(*seen.tree, "busy").no_answer, "not asked: too much waits in its mailbox");
}

TEST_F(Observation, two_of_them_give_messages_per_second) {
  const ActorRef<Worker> worker = add_worker("worker");
  const SystemObservation before = observe();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(worker.cast(Note{}));
  scheduler.run();
  const ActorRef<Worker> young = add_worker("young");
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(young.cast(Note{}));
  scheduler.run();
  scheduler.advance(2s);
  const ObservationRates since = rates(before, observe());
  EXPECT_EQ(since.seconds, 2);
  EXPECT_EQ(since.messages.at(worker.id()), 5);
  EXPECT_EQ(since.messages.at(young.id()), 2) << "what is new counts from nothing";
  EXPECT_TRUE(rates(before, before).messages.empty()) << "no time has passed";
}

TEST_F(Observation, counts_the_messages_of_a_process_and_not_its_wakings) {
  ChildSpec spec;
  spec.id = "reader";
  spec.start = [](const ChildStart& start) -> Result<ActorAddress> {
    return ActorAddress{start.spawn_process<Note>({.name = "reader"}, [](ProcessSelf<Note>& self) {
      for (;;) self.receive([](Note) {});
    })};
  };
  const ActorAddress started = answer(system->supervisor().start_child(std::move(spec)));
  const ProcessRef<Note> reader{started.cell()};
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(reader.cast(Note{}));
  EXPECT_EQ(find(*observe().tree, "reader").delivered, 5U);
}

TEST_F(Observation, survives_the_system) {
  add_worker("worker");
  const auto seeing = system->observe();
  system.reset();
  scheduler.run();
  EXPECT_TRUE(seeing.wait());
}

TEST_F(Observation, of_a_stopped_system_is_empty) {
  add_worker("worker");
  system->stop();
  EXPECT_FALSE(observe().tree);
}

TEST_F(Observation, comes_back_from_json_as_it_was) {
  add_worker("worker \xff");
  add_busy_supervisor();
  static_cast<void>(system->device("null"));
  const auto seeing = system->observe();
  scheduler.run();
  scheduler.advance(observation_patience);
  const std::string text = to_json(answer(seeing));
  const auto back = observation_from_json(text);
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.devices.at(0).name, "null");
  for (const char* no : {"", "{}", "[]", "null", R"({"tree": 1})"})
    EXPECT_EQ(try_observation_from_json(no).error().code(), ErrorCode::invalid_argument) << no;
  // Numbers that a counter does not hold, and more levels than a stack has room for.
  const auto changed = [](const std::string& from, const std::string& key, const std::string& to) {
    const std::size_t at = from.find('"' + key + "\":") + key.size() + 3;
    return from.substr(0, at) + to + from.substr(from.find_first_of(",}", at));
  };
  EXPECT_TRUE(try_observation_from_json(changed(text, "buffers", "7")));
  for (const auto& [key, number] : {std::pair{"buffers", "-1"},
                                    {"buffers", "1e300"},
                                    {"buffers", "true"},
                                    {"mailbox_depth", "4294967296"},
                                    {"unix_ms", "9223372036854775807"},
                                    {"clock_ns", "1e300"}})
    EXPECT_FALSE(try_observation_from_json(changed(text, key, number))) << key << number;
  SystemObservation flat = back;
  flat.tree.reset();
  const auto of_depth = [&](std::size_t supervisors) {
    const std::string begin =
        R"({"id":"","actor":1,"name":"","class":"","kind":"supervisor","state":"running","restarts":0,)"
        R"("mailbox_depth":0,"mailbox_capacity":0,"messages":0,"no_answer":null,"children":[)";
    std::string tree;
    for (std::size_t i = 0; i < supervisors; ++i) tree += begin;
    for (std::size_t i = 0; i < supervisors; ++i) tree += "]}";
    return changed(to_json(flat), "tree", tree);
  };
  EXPECT_TRUE(try_observation_from_json(of_depth(100)));
  EXPECT_FALSE(try_observation_from_json(of_depth(50'000)));
}

TEST_F(Observation, as_text_has_one_line_an_actor_in_aligned_columns) {
  add_worker("a worker with quite a long name");
  static_cast<void>(answer(system->supervisor().start_child(
      supervisor_child({.name = "pool"}, {child<Worker>("inner")}))));
  std::istringstream lines{to_text(observe())};
  std::string line;
  const auto column_of = [&](std::string_view begins, std::string_view cell) {
    while (std::getline(lines, line))
      if (line.starts_with(begins)) return line.find(cell);
    return std::string::npos;
  };
  const std::size_t kinds = column_of("ACTOR", "KIND");
  ASSERT_NE(kinds, std::string::npos);
  EXPECT_EQ(column_of("system", "supervisor"), kinds);
  EXPECT_EQ(column_of("    a worker", "worker    "), kinds);
  EXPECT_EQ(column_of("    pool", "supervisor"), kinds);
  EXPECT_EQ(column_of("      inner", "worker"), kinds);
}

// --- devices -------------------------------------------------------------------------------------

class DeviceObservations : public testing::TestWithParam<const char*> {
 protected:
  DeviceObservations() {
    options.drivers = with_faults(faults);
    options.config.observe_socket.clear();
    options.device.submissions_in_flight = 1;
    options.device.steps_per_submission = 1;
  }

  /// Loses the device and waits until it is back.
  void lose_for_a_while(const Device& device) const {
    const auto lost = device.client()->actor().ended();
    faults.lose();
    lost.wait();
    device.when_ready().get();
  }

  const Faults faults;
  SystemOptions options;
  LogCapture quiet;
};

TEST_P(DeviceObservations, show_what_queues_and_what_runs) {
  const System system{options};
  const Device device = system.device(GetParam());
  const Buffer x = device.buffer({1.0F});
  const Buffer y = device.buffer({1.0F});
  faults.hold_completions();
  std::vector<Command> commands;
  for (int i = 0; i < 3; ++i) commands.push_back(device.submit("relu", {x}, y));
  Pipeline pipeline = system.pipeline(device);
  pipeline.add("relu", {x}, y).compile();
  const SystemObservation seen = system.observe().get();
  faults.release_all();
  ASSERT_EQ(seen.devices.size(), 1U);
  const DeviceObservation& one = seen.devices[0];
  EXPECT_EQ(one.name, device.name());
  EXPECT_EQ(one.description, device.info().description);
  EXPECT_TRUE(one.ready);
  EXPECT_EQ(one.commands.in_flight, 1U);
  EXPECT_EQ(one.commands.queued, 2U);
  EXPECT_EQ(one.buffers, 2U);
  EXPECT_EQ(one.pipelines, 1U);
  EXPECT_GE(one.memory.in_use, 8U);
  EXPECT_GE(one.memory.budget, one.memory.in_use);
  const ActorObservation& supervisor = find(*seen.tree, "device " + device.name());
  EXPECT_EQ(find(supervisor, device.name()).type, "stoker::DeviceActor");
}

TEST_P(DeviceObservations, show_that_one_was_lost_and_came_back) {
  const System system{options};
  const Device device = system.device(GetParam());
  lose_for_a_while(device);
  const SystemObservation seen = system.observe().get();
  ASSERT_EQ(seen.devices.size(), 1U);
  EXPECT_TRUE(seen.devices[0].ready);
  EXPECT_EQ(seen.devices[0].reopened, 1U);
  const ActorObservation& supervisor = find(*seen.tree, "device " + device.name());
  EXPECT_EQ(find(supervisor, device.name()).restarts, 1U);
  EXPECT_NE(to_text(seen).find("opened again 1×"), std::string::npos);
}

TEST_P(DeviceObservations, count_from_nothing_when_it_came_back) {
  const System system{options};
  const Device device = system.device(GetParam());
  const auto run = [&](int times) {
    const Buffer x = device.buffer({1.0F});
    for (int i = 0; i < times; ++i) device.submit("relu", {x}, x).get();
  };
  run(5);
  SystemObservation before = system.observe().get();
  lose_for_a_while(device);
  run(2);
  SystemObservation after = system.observe().get();
  before.at = 0s;
  after.at = 1s;
  EXPECT_EQ(rates(before, after).completed.at(device.name()), 2);
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceObservations, testing::Values("cpu", "null", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

}  // namespace
}  // namespace stoker
