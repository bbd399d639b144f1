// bench_caf_actors ROW SAMPLES: the rows of bench/actors/actor_workloads.hpp with CAF's actors and its
// default scheduler on two threads. Prints one sample a line, in the row's unit. Written for CAF 0.17.
#include <malloc.h>
#include <unistd.h>

#include <caf/all.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Done = std::promise<void>;
using caf::actor;
using caf::behavior;

constexpr int ping_pong_messages = 100'000;
constexpr int producers = 8;
constexpr int fan_in_messages = 50'000;
constexpr int ring_size = 503;
constexpr int hops = 100'000;
constexpr int spawns = 100'000;
constexpr int spawns_inside = 20'000;  // as few as that: two workers that steal make it very slow
constexpr int stream_messages = 100'000;

using meet = caf::atom_constant<caf::atom("meet")>;
using part = caf::atom_constant<caf::atom("part")>;
using go = caf::atom_constant<caf::atom("go")>;
using hello = caf::atom_constant<caf::atom("hello")>;
using crash = caf::atom_constant<caf::atom("crash")>;
using up = caf::atom_constant<caf::atom("up")>;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double resident_bytes() {
  malloc_trim(0);
  std::ifstream statm{"/proc/self/statm"};
  double all = 0;
  double resident = 0;
  statm >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// --- ping-pong and ring --------------------------------------------------------------------------

struct Next {
  actor next;
};

behavior player(caf::stateful_actor<Next>* self, Done* done) {
  return {[=](meet, const actor& next) { self->state.next = next; },
          [=](part) {
            self->state.next = nullptr;
            self->quit();
          },
          [=](int left) {
            if (left == 0)
              done->set_value();
            else
              self->send(self->state.next, left - 1);
          }};
}

double seconds_of_ring(caf::actor_system& system, int players, int passes) {
  Done done;
  std::vector<actor> ring;
  for (int i = 0; i < players; ++i) ring.push_back(system.spawn(player, &done));
  for (std::size_t i = 0; i < ring.size(); ++i)
    caf::anon_send(ring[i], meet::value, ring[(i + 1) % ring.size()]);
  const auto start = Clock::now();
  caf::anon_send(ring.front(), passes);
  done.get_future().wait();
  const double seconds = seconds_since(start);
  for (const actor& each : ring) caf::anon_send(each, part::value);
  return seconds;
}

// --- fan-in and stream ---------------------------------------------------------------------------

struct Count {
  int left = 0;
};

behavior sink(caf::stateful_actor<Count>* self, int expected, Done* done) {
  self->state.left = expected;
  return {[=](int) {
    if (--self->state.left == 0) done->set_value();
  }};
}

behavior producer(caf::event_based_actor* self, const actor& to) {
  return {[=](go) {
    for (int i = 0; i < fan_in_messages; ++i) self->send(to, i);
  }};
}

double fan_in(caf::actor_system& system) {
  Done done;
  const actor to = system.spawn(sink, producers * fan_in_messages, &done);
  std::vector<actor> from;
  for (int i = 0; i < producers; ++i) from.push_back(system.spawn(producer, to));
  const auto start = Clock::now();
  for (const actor& each : from) caf::anon_send(each, go::value);
  done.get_future().wait();
  return 1e-6 * producers * fan_in_messages / seconds_since(start);
}

double stream(caf::actor_system& system) {
  Done done;
  const actor to = system.spawn(sink, stream_messages, &done);
  const auto start = Clock::now();
  for (int i = 0; i < stream_messages; ++i) caf::anon_send(to, i);
  done.get_future().wait();
  return 1e-6 * stream_messages / seconds_since(start);
}

// --- spawning ------------------------------------------------------------------------------------

/// Answers once. Nobody keeps its address, so that is its end.
behavior child(caf::event_based_actor* self) {
  return {[=](hello, const actor& from) { self->send(from, 1); }};
}

behavior parent(caf::event_based_actor* self, const actor& to) {
  return {[=](go) {
    for (int i = 0; i < spawns_inside; ++i) self->send(self->spawn(child), hello::value, to);
  }};
}

double spawn_inside(caf::actor_system& system) {
  Done done;
  const actor to = system.spawn(sink, spawns_inside, &done);
  const actor from = system.spawn(parent, to);
  const auto start = Clock::now();
  caf::anon_send(from, go::value);
  done.get_future().wait();
  return 1e-3 * spawns_inside / seconds_since(start);
}

double spawn_outside(caf::actor_system& system) {
  Done done;
  const actor to = system.spawn(sink, spawns, &done);
  const auto start = Clock::now();
  for (int i = 0; i < spawns; ++i) caf::anon_send(system.spawn(child), hello::value, to);
  done.get_future().wait();
  return 1e-3 * spawns / seconds_since(start);
}

double idle_bytes(caf::actor_system& system) {
  Done done;
  std::vector<actor> idle(spawns);
  const actor to = system.spawn(sink, spawns, &done);
  const double before = resident_bytes();
  for (actor& each : idle) {
    each = system.spawn(child);
    caf::anon_send(each, hello::value, to);
  }
  done.get_future().wait();
  return (resident_bytes() - before) / spawns;
}

// --- asking --------------------------------------------------------------------------------------

behavior echo(caf::event_based_actor*) {
  return {[](int value) { return value; }};
}

struct Asking {
  Clock::time_point start;
  int left = 0;
  actor worker;  // kept: one that nobody holds any more would count as ended
  std::function<void()> ask;
};

behavior asker(caf::stateful_actor<Asking>* self, const actor& to, int samples,
               std::vector<double>* latencies, Done* done) {
  self->state.left = samples;
  self->state.ask = [=] {
    self->state.start = Clock::now();
    self->request(to, caf::infinite, 1).then([=](int) {
      latencies->push_back(seconds_since(self->state.start) * 1e6);
      if (--self->state.left == 0) {
        done->set_value();
        self->quit();
      } else {
        self->state.ask();
      }
    });
  };
  return {[=](go) { self->state.ask(); }};
}

std::vector<double> ask_inside(caf::actor_system& system, int samples) {
  std::vector<double> latencies;
  Done done;
  caf::anon_send(system.spawn(asker, system.spawn(echo), samples, &latencies, &done), go::value);
  done.get_future().wait();
  return latencies;
}

std::vector<double> ask_outside(caf::actor_system& system, int samples) {
  std::vector<double> latencies;
  caf::scoped_actor self{system};
  const actor to = system.spawn(echo);
  for (int i = 0; i < samples; ++i) {
    const auto start = Clock::now();
    self->request(to, caf::infinite, i)
        .receive([](int) {}, [](const caf::error&) { throw std::runtime_error{"no answer"}; });
    latencies.push_back(seconds_since(start) * 1e6);
  }
  return latencies;
}

// --- a crash and its replacement -----------------------------------------------------------------

behavior worker(caf::event_based_actor* self) {
  // CAF's own handler prints.
  self->set_exception_handler(
      [](std::exception_ptr&) -> caf::error { return caf::exit_reason::unhandled_exception; });
  return {[](crash) { throw std::runtime_error{"crash"}; }, [](int value) { return value; }};
}

/// CAF has no supervisors: this one watches its worker, makes the next and says so.
behavior supervisor(caf::event_based_actor* self, const actor& client) {
  const auto start = [=] { self->send(client, up::value, self->spawn<caf::monitored>(worker)); };
  self->set_down_handler([=](const caf::down_msg&) { start(); });
  return {[=](go) { start(); }};
}

behavior client(caf::stateful_actor<Asking>* self, int samples, std::vector<double>* latencies,
                Done* done) {
  self->state.left = samples + 1;  // the first worker replaces nobody
  return {[=](up, const actor& to) {
    self->state.worker = to;
    self->request(to, caf::infinite, 1).then([=](int) {
      if (self->state.left <= samples) latencies->push_back(seconds_since(self->state.start) * 1e6);
      if (--self->state.left == 0) {
        done->set_value();
        return;
      }
      self->state.start = Clock::now();
      self->send(self->state.worker, crash::value);
    });
  }};
}

std::vector<double> crashes(caf::actor_system& system, int samples) {
  std::vector<double> latencies;
  Done done;
  const actor asks = system.spawn(client, samples, &latencies, &done);
  const actor watches = system.spawn(supervisor, asks);
  caf::anon_send(watches, go::value);
  done.get_future().wait();
  caf::anon_send_exit(watches, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(asks, caf::exit_reason::user_shutdown);
  return latencies;
}

/// As the others do: one sample more than asked, the first not counted.
template <class F> std::vector<double> sample(int samples, F&& measure) {
  std::vector<double> values;
  for (int i = -1; i < samples; ++i)
    if (const double value = measure(); i >= 0) values.push_back(value);
  return values;
}

std::vector<double> run(caf::actor_system& system, const std::string& row, int samples) {
  const auto repeat = [&](auto measure) {
    return sample(samples, [&] { return measure(system); });
  };
  if (row == "ping_pong")
    return sample(samples, [&] {
      return seconds_of_ring(system, 2, ping_pong_messages) * 1e9 / ping_pong_messages;
    });
  if (row == "ring")
    return sample(samples, [&] { return 1e-6 * hops / seconds_of_ring(system, ring_size, hops); });
  if (row == "fan_in") return repeat(fan_in);
  if (row == "stream") return repeat(stream);
  if (row == "spawn_inside") return repeat(spawn_inside);
  if (row == "spawn_outside") return repeat(spawn_outside);
  if (row == "idle_bytes") return {idle_bytes(system)};
  if (row == "ask_inside") return ask_inside(system, samples);
  if (row == "ask_outside") return ask_outside(system, samples);
  if (row == "crash") return crashes(system, samples);
  throw std::invalid_argument{"there is no row '" + row + "'"};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::invalid_argument{"usage: bench_caf_actors ROW SAMPLES"};
  caf::actor_system_config config;
  config.set("scheduler.max-threads", 2);
  caf::actor_system system{config};
  for (const double value : run(system, argv[1], std::atoi(argv[2]))) std::printf("%.9g\n", value);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_caf_actors: %s\n", error.what());
  return 1;
}
