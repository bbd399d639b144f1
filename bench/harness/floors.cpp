#include "stoker/bench/harness/floors.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <functional>
#include <mutex>
#include <new>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "stoker/bench/harness/harness.hpp"

namespace stoker::bench {
namespace {

#if defined(__x86_64__)
// Plain loops at the instruction set of the machine, so that the floor is not the compiler's
// baseline.
#define STOKER_BENCH_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define STOKER_BENCH_CLONES
#endif

STOKER_BENCH_CLONES void triad_loop(float* a, const float* b, const float* c, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + 3.0F * c[i];
}

STOKER_BENCH_CLONES float sum_loop(const float* b, std::size_t n) {
  float lanes[64] = {};
  for (std::size_t i = 0; i + 64 <= n; i += 64)
    for (std::size_t lane = 0; lane < 64; ++lane) lanes[lane] += b[i + lane];
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

void streaming_triad_loop(float* a, const float* b, const float* c, std::size_t n) {
#if defined(__x86_64__)
  const __m128 s = _mm_set1_ps(3.0F);
  std::size_t i = 0;
  for (; i < n && reinterpret_cast<std::uintptr_t>(a + i) % 64 != 0; ++i) a[i] = b[i] + 3.0F * c[i];
  for (; i + 16 <= n; i += 16)
    for (std::size_t k = 0; k < 16; k += 4)
      _mm_stream_ps(a + i + k,
                    _mm_add_ps(_mm_loadu_ps(b + i + k), _mm_mul_ps(s, _mm_loadu_ps(c + i + k))));
  for (; i < n; ++i) a[i] = b[i] + 3.0F * c[i];
  _mm_sfence();
#else
  triad_loop(a, b, c, n);
#endif
}

constexpr int accumulators = 16;  // hides the latency of a multiply-add at two a cycle
constexpr int fma_rounds = 4'000'000;

/// Multiply-adds on vectors of `width` bytes; inlined into one function per instruction set.
template <class Vector> [[gnu::always_inline]] inline float fma_loop() {
  Vector x[accumulators];
#pragma GCC unroll 16
  for (int i = 0; i < accumulators; ++i) x[i] = Vector{} + static_cast<float>(i);
  const Vector scale = Vector{} + 0.999F;
  const Vector shift = Vector{} + 0.001F;
  for (int round = 0; round < fma_rounds; ++round) {
    // Unrolled, so that the accumulators stay in registers.
#pragma GCC unroll 16
    for (int i = 0; i < accumulators; ++i) x[i] = x[i] * scale + shift;
  }
  Vector sum{};
#pragma GCC unroll 16
  for (int i = 0; i < accumulators; ++i) sum += x[i];
  return sum[0];
}

using Vector16 = float __attribute__((vector_size(16)));
using Vector32 = float __attribute__((vector_size(32)));
using Vector64 = float __attribute__((vector_size(64)));

#if defined(__x86_64__)
[[gnu::target("avx512f")]] float fma_avx512() { return fma_loop<Vector64>(); }
[[gnu::target("avx2,fma")]] float fma_avx2() { return fma_loop<Vector32>(); }
#endif
float fma_plain() { return fma_loop<Vector16>(); }

void pin(unsigned core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

std::vector<unsigned> cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<unsigned> found;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (unsigned core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) found.push_back(core);
  return found;
}

}  // namespace

std::string processor() {
  std::ifstream info{"/proc/cpuinfo"};
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

unsigned usable_cores() { return std::max<unsigned>(1, static_cast<unsigned>(cores().size())); }

double core_distance_ns() {
  const auto all = cores();
  if (all.size() < 2) return 0;
  constexpr int rounds = 20000;
  struct alignas(128) Line {
    std::atomic<int> turn{0};
  } line;
  std::thread other{[&] {
    pin(all[1]);
    for (int i = 0; i < rounds; ++i) {
      while (line.turn.load(std::memory_order_acquire) != 2 * i + 1) {
      }
      line.turn.store(2 * i + 2, std::memory_order_release);
    }
  }};
  double seconds = 0;
  // A thread of our own: pinning the caller would outlive the measurement.
  std::thread one{[&] {
    pin(all[0]);
    Clock::time_point start;
    for (int i = 0; i < rounds; ++i) {
      if (i == rounds / 10) start = Clock::now();
      line.turn.store(2 * i + 1, std::memory_order_release);
      while (line.turn.load(std::memory_order_acquire) != 2 * i + 2) {
      }
    }
    seconds = seconds_since(start);
  }};
  one.join();
  other.join();
  return seconds * 1e9 / (2.0 * (rounds - rounds / 10));
}

double fma_peak(unsigned threads) {
  double lanes = 4;
  float (*loop)() = fma_plain;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    lanes = 16;
    loop = fma_avx512;
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    lanes = 8;
    loop = fma_avx2;
  }
#endif
  const double seconds = seconds_of([&] {
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back([&] { keep(loop()); });
    keep(loop());
    for (std::thread& other : others) other.join();
  });
  return 2.0 * lanes * accumulators * fma_rounds * threads / seconds;
}

/// Threads that run a share of a loop each. They wait without spinning, so that between two loops
/// the cores belong to whoever is measured next.
class MemoryFloor::Crew {
 public:
  using Share = std::function<void(unsigned index, unsigned count)>;

  explicit Crew(unsigned threads) : count_{threads} {
    for (unsigned i = 1; i < threads; ++i) others_.emplace_back([this, i] { work(i); });
  }
  ~Crew() {
    {
      const std::scoped_lock lock{mutex_};
      ending_ = true;
    }
    changed_.notify_all();
    for (std::thread& other : others_) other.join();
  }
  /// Seconds until every thread has done its share.
  double run(const Share& share) {
    {
      const std::scoped_lock lock{mutex_};
      share_ = &share;
      left_ = count_ - 1;
      ++round_;
    }
    const auto start = Clock::now();
    changed_.notify_all();
    share(0, count_);
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return left_ == 0; });
    return seconds_since(start);
  }

 private:
  void work(unsigned index) {
    int done = 0;
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [&] { return ending_ || round_ != done; });
      if (ending_) return;
      done = round_;
      const Share& share = *share_;
      lock.unlock();
      share(index, count_);
      lock.lock();
      if (--left_ == 0) changed_.notify_all();
    }
  }

  const unsigned count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const Share* share_ = nullptr;
  unsigned left_ = 0;
  int round_ = 0;
  bool ending_ = false;
  std::vector<std::thread> others_;
};

namespace {

/// The part of n elements that thread `index` of `count` works on, in whole cache lines.
std::pair<std::size_t, std::size_t> part(std::size_t n, unsigned index, unsigned count) {
  const std::size_t lines = n / 16;
  const std::size_t begin = lines * index / count * 16;
  const std::size_t end = index + 1 == count ? n : lines * (index + 1) / count * 16;
  return {begin, end - begin};
}

}  // namespace

void MemoryFloor::Unmap::operator()(float* memory) const noexcept { munmap(memory, bytes); }

MemoryFloor::Array MemoryFloor::array(std::size_t elements, float value) {
  constexpr std::size_t huge = std::size_t{2} << 20U;
  const std::size_t bytes = (elements * sizeof(float) + huge - 1) / huge * huge;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc{};
  madvise(memory, bytes, MADV_HUGEPAGE);  // a wish
  Array made{static_cast<float*>(memory), Unmap{bytes}};
  std::fill_n(made.get(), elements, value);
  return made;
}

MemoryFloor::MemoryFloor(std::size_t elements, unsigned threads)
    : size_{elements},
      a_{array(elements, 1)},
      b_{array(elements, 2)},
      c_{array(elements, 3)},
      crew_{std::make_unique<Crew>(threads)} {}

MemoryFloor::~MemoryFloor() = default;

double MemoryFloor::triad() {
  const double seconds = crew_->run([this](unsigned index, unsigned count) {
    const auto [begin, n] = part(size_, index, count);
    triad_loop(a_.get() + begin, b_.get() + begin, c_.get() + begin, n);
  });
  return 12.0 * static_cast<double>(size_) / seconds;
}

double MemoryFloor::triad_streaming() {
  const double seconds = crew_->run([this](unsigned index, unsigned count) {
    const auto [begin, n] = part(size_, index, count);
    streaming_triad_loop(a_.get() + begin, b_.get() + begin, c_.get() + begin, n);
  });
  return 12.0 * static_cast<double>(size_) / seconds;
}

double MemoryFloor::copy() {
  const double seconds = crew_->run([this](unsigned index, unsigned count) {
    const auto [begin, n] = part(size_, index, count);
    std::memcpy(a_.get() + begin, b_.get() + begin, n * sizeof(float));
  });
  return 8.0 * static_cast<double>(size_) / seconds;
}

double MemoryFloor::read() {
  const double seconds = crew_->run([this](unsigned index, unsigned count) {
    const auto [begin, n] = part(size_, index, count);
    keep(sum_loop(b_.get() + begin, n));
  });
  return 4.0 * static_cast<double>(size_) / seconds;
}

}  // namespace stoker::bench
