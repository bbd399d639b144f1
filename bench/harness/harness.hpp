// What every benchmark shares: samples, rows of results, and measuring two things in turns.
//
// A benchmark is a function of a Context that adds rows to its report. It never fails a build or a
// test: a row says what was measured, what it was compared with in the same run, and whether the
// aim was met; a person judges.
//
// Threads: one; a benchmark that needs more starts and joins them itself. Units: seconds, unless a
// row says otherwise.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::bench {

using Clock = std::chrono::steady_clock;

/// Seconds since `start`.
[[nodiscard]] inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
/// Seconds that one call of `function` takes.
template <class F> [[nodiscard]] double seconds_of(F&& function) {
  const auto start = Clock::now();
  function();
  return seconds_since(start);
}

/// Repeated measurements of one thing.
class Samples {
 public:
  void add(double value) {
    values_.push_back(value);
    sorted_ = false;
  }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  /// In no particular order.
  [[nodiscard]] std::span<const double> values() const& noexcept { return values_; }
  void values() const&& = delete;  // they would be gone
  /// The value below which `share` (0 to 1) of the samples lie, interpolated; 0 if there are none.
  [[nodiscard]] double quantile(double share) const;
  [[nodiscard]] double median() const { return quantile(0.5); }
  /// The distance between the quartiles in percent of the median.
  [[nodiscard]] double spread() const;
  /// Each sample x as `factor / x`: seconds become a rate. The spread stays what it was, nearly.
  [[nodiscard]] Samples rates(double factor) const;
  /// Each sample times `factor`.
  [[nodiscard]] Samples scaled(double factor) const;

 private:
  mutable std::vector<double> values_;
  mutable bool sorted_ = true;
};

enum class Better { higher, lower };

/// One line of the table.
struct Row {
  Row(std::string what, double value_, std::string unit_, Better better_)
      : name{std::move(what)}, value{value_}, unit{std::move(unit_)}, better{better_} {}
  /// The median of samples that are in `unit` already.
  Row(std::string what, const Samples& samples, std::string unit_, Better better_);

  /// Compares with a floor or peer measured in the same run, in the same unit.
  Row& against(std::string peer_name, const Samples& samples);
  Row& against(std::string peer_name, double value);
  /// The bound that the project set itself for the value, or for the ratio to the peer.
  Row& aim(double bound);
  Row& aim_ratio(std::optional<double> bound);
  Row& remark(std::string text);

  /// value ÷ peer's value, if there is a peer.
  [[nodiscard]] std::optional<double> ratio() const;
  /// Whether the aim was reached, if there is one.
  [[nodiscard]] std::optional<bool> met() const;

  std::string group = {};  ///< set by the report
  std::string name;
  double value;
  std::string unit;
  Better better;
  double spread = 0;  ///< percent, see Samples::spread()
  std::size_t n = 1;
  std::string peer = {};
  double peer_value = 0;
  double peer_spread = 0;
  std::optional<double> aim_value = {};
  std::optional<double> aim_of_ratio = {};
  std::string note = {};
};

/// Collects rows and shows each as it comes.
class Report {
 public:
  using Show = std::function<void(const Row&)>;
  explicit Report(Show show) : show_{std::move(show)} {}

  void begin(std::string_view group) { group_ = group; }
  void add(Row row);
  /// A remark without a number: why something was left out.
  void skip(std::string what, std::string why);
  [[nodiscard]] std::span<const Row> rows() const noexcept { return rows_; }

 private:
  Show show_;
  std::string group_;
  std::vector<Row> rows_;
};

struct Context {
  Report& report;
  bool quick = false;       ///< fewer repeats: to see that everything runs
  std::string device = {};  ///< --device; empty: the group's own choice

  [[nodiscard]] int repeats(int full) const { return quick ? (full + 9) / 10 : full; }
};

/// Ours and the peer's samples, taken in turns so that a change of the machine meets both.
struct Duel {
  Samples ours;
  Samples peer;
};

/// Calls `ours` and `peer` in turns, once more than asked and without counting the first. Both
/// return the sample.
template <class Ours, class Peer> [[nodiscard]] Duel duel(int repeats, Ours&& ours, Peer&& peer) {
  Duel result;
  for (int i = -1; i < repeats; ++i) {
    const double mine = ours();
    const double theirs = peer();
    if (i < 0) continue;
    result.ours.add(mine);
    result.peer.add(theirs);
  }
  return result;
}

/// `repeats` samples of what `measure` returns, after one that is not counted.
template <class F> [[nodiscard]] Samples sample(int repeats, F&& measure) {
  Samples samples;
  for (int i = -1; i < repeats; ++i)
    if (const double value = measure(); i >= 0) samples.add(value);
  return samples;
}

/// How often `function` must be called to fill `target` seconds; at least once.
template <class F> [[nodiscard]] int calls_to_fill(double target, F&& function) {
  function();
  for (int calls = 1;; calls *= 4) {
    const double seconds = seconds_of([&] {
      for (int i = 0; i < calls; ++i) function();
    });
    if (seconds > target / 8 || calls > (1 << 24))
      return static_cast<int>(target / seconds * calls) + 1;
  }
}

/// Keeps the compiler from dropping a computation whose result nobody reads.
template <class T> inline void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace stoker::bench
