#include "stoker/api/data/row_order.hpp"

#include <numeric>
#include <random>
#include <utility>

namespace stoker::nn {
namespace {

__extension__ using Wide = unsigned __int128;

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t state) noexcept : state_{state} {}
  std::uint64_t next() noexcept { return mixed(state_ += 0x9e3779b97f4a7c15ULL); }
  /// In [0, bound).
  std::uint64_t below(std::uint64_t bound) noexcept {
    Wide product = Wide{next()} * bound;
    // Some low halves would make a few results likelier than others; those are drawn again.
    const std::uint64_t least = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < least) product = Wide{next()} * bound;
    return static_cast<std::uint64_t>(product >> 64);
  }

 private:
  std::uint64_t state_;
};

}  // namespace

std::vector<std::int64_t> shuffled_rows(std::int64_t rows, std::uint64_t seed,
                                        std::uint64_t epoch) {
  std::vector<std::int64_t> order = rows_in_order(rows);
  // Mixed twice, so that (seed, epoch + 1) and (seed + 1, epoch) have nothing in common.
  SplitMix64 numbers{mixed(mixed(seed + 0x9e3779b97f4a7c15ULL) + epoch)};
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[numbers.below(left)]);
  return order;
}

std::vector<std::int64_t> rows_in_order(std::int64_t rows) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace stoker::nn
