#include <algorithm>
#include <cmath>
#include <memory>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/fft/transform.hpp"

namespace stoker::kernels::fft::STOKER_ISA {
namespace {

/// Rows that go side by side: whole vectors of each instruction set.
constexpr std::int64_t most_lanes = 16;
/// Memory that one core works in: its second-level cache.
constexpr std::size_t room_bytes = std::size_t{1} << 20;

/// Where the pairs of an element are, for each lane: base[2·(element·step + lane·apart)].
struct Grid {
  std::int64_t step;
  std::int64_t apart;
};

template <class T>
void load(const T* from, const Grid& grid, std::int64_t n, std::int64_t lanes, Planes<T> to) {
  for (std::int64_t j = 0; j < n; ++j) {
    const T* pair = from + 2 * j * grid.step;
    T* re = to.re + j * lanes;
    T* im = to.im + j * lanes;
    if (grid.apart == 1) {
#pragma GCC ivdep
      for (std::int64_t l = 0; l < lanes; ++l) {
        re[l] = pair[2 * l];
        im[l] = pair[2 * l + 1];
      }
    } else {
      for (std::int64_t l = 0; l < lanes; ++l, pair += 2 * grid.apart) {
        re[l] = pair[0];
        im[l] = pair[1];
      }
    }
  }
}

template <class T>
void store(Planes<T> from, const Grid& grid, std::int64_t n, std::int64_t lanes, T scale, T* to) {
  for (std::int64_t j = 0; j < n; ++j) {
    T* pair = to + 2 * j * grid.step;
    const T* re = from.re + j * lanes;
    const T* im = from.im + j * lanes;
    if (grid.apart == 1) {
#pragma GCC ivdep
      for (std::int64_t l = 0; l < lanes; ++l) {
        pair[2 * l] = re[l] * scale;
        pair[2 * l + 1] = im[l] * scale;
      }
    } else {
      for (std::int64_t l = 0; l < lanes; ++l, pair += 2 * grid.apart) {
        pair[0] = re[l] * scale;
        pair[1] = im[l] * scale;
      }
    }
  }
}

/// Parts exchanged before and after a transform make it the inverse.
template <class T> Planes<T> turned(Planes<T> planes, bool inverse) {
  return inverse ? Planes<T>{planes.im, planes.re} : planes;
}

/// One slice's memory: two pairs of planes.
template <class T> struct Room {
  Planes<T> one, other;
  static std::size_t bytes(std::int64_t n, std::int64_t lanes) {
    return (4 * static_cast<std::size_t>(n * lanes) * sizeof(T) + 63) / 64 * 64;
  }
  Room(std::byte* at, std::int64_t n, std::int64_t lanes) {
    T* planes = reinterpret_cast<T*>(at);
    one = {planes, planes + n * lanes};
    other = {planes + 2 * n * lanes, planes + 3 * n * lanes};
  }
};

/// How many blocks of lanes there are, and who takes which.
struct Blocks {
  std::int64_t lanes = 1;
  std::int64_t count = 1;
  std::uint32_t slices = 1;

  Blocks(std::int64_t items, std::int64_t lanes_, std::int64_t n)
      : lanes{lanes_}, count{(items + lanes - 1) / lanes} {
    const auto work = static_cast<std::size_t>(count * lanes * n);
    slices = std::min(slice_count(work, std::size_t{1} << 14), static_cast<std::uint32_t>(count));
  }
  template <class Each> void each(std::uint32_t index, Each&& each_block) const {
    const SliceRange range = slice_range(static_cast<std::size_t>(count), slices, index, 1);
    for (std::size_t block = range.begin; block < range.end; ++block)
      each_block(static_cast<std::int64_t>(block));
  }
};

std::int64_t lanes_for(std::int64_t items, std::int64_t room, std::size_t element) {
  const auto fitting =
      static_cast<std::int64_t>(room_bytes / (4 * static_cast<std::size_t>(room) * element));
  return std::clamp<std::int64_t>(std::min(items, fitting), 1, most_lanes);
}

/// Rows side by side, each as a whole in a core's memory.
template <class T> CpuPlan whole_rows(const Rows& rows, bool inverse) {
  const auto transform = std::make_shared<const Transform<T>>(rows.n);
  const std::int64_t room = transform->room();
  const Blocks blocks{rows.rows, lanes_for(rows.rows, room, sizeof(T)), room};
  const std::size_t bytes = Room<T>::bytes(room, blocks.lanes);
  const T scale = inverse ? static_cast<T>(1.0 / static_cast<double>(rows.n)) : T{1};
  CpuPlan plan;
  plan.scratch_bytes = bytes * blocks.slices;
  plan.stages.push_back({blocks.slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const Room<T> memory{args.scratch + index * bytes, room, blocks.lanes};
                           blocks.each(index, [&](std::int64_t block) {
                             const std::int64_t first = block * blocks.lanes;
                             const std::int64_t lanes = std::min(blocks.lanes, rows.rows - first);
                             const Grid grid{1, rows.n};
                             load(args.in<T>(0) + 2 * first * rows.n, grid, rows.n, lanes,
                                  turned(memory.one, inverse));
                             const Planes<T> made = transform->run(memory.one, memory.other, lanes);
                             store(turned(made, inverse), grid, rows.n, lanes, scale,
                                   args.out<T>() + 2 * first * rows.n);
                           });
                         }});
  return plan;
}

/// e^(-2πi·column·k/n) for a block of columns and each k, as a product of a factor for every sixteenth k
/// and one of the sixteen below: few roots have to be looked for.
template <class T> class Twist {
 public:
  explicit Twist(std::int64_t n)
      : n_{n}, few_{static_cast<std::int64_t>(std::sqrt(static_cast<double>(n))) + 1} {
    for (std::int64_t k = 0; k < few_; ++k) fine_.push_back(root(k, n));
    for (std::int64_t k = 0; k < n; k += few_) coarse_.push_back(root(k, n));
  }

  void apply(Planes<T> x, std::int64_t rows, std::int64_t column, std::int64_t lanes) const {
    constexpr std::int64_t few = 16;
    std::array<T, few * most_lanes> low_re, low_im;
    std::array<T, most_lanes> high_re, high_im;
    const auto fill = [&](std::int64_t k, T* re, T* im) {
      for (std::int64_t l = 0; l < lanes; ++l) {
        const std::int64_t turn = (column + l) * k % n_;
        const auto w = product(coarse_[static_cast<std::size_t>(turn / few_)],
                               fine_[static_cast<std::size_t>(turn % few_)]);
        re[l] = static_cast<T>(w.real());
        im[l] = static_cast<T>(w.imag());
      }
    };
    for (std::int64_t k = 0; k < std::min(few, rows); ++k)
      fill(k, low_re.data() + k * lanes, low_im.data() + k * lanes);
    for (std::int64_t k = 0; k < rows; ++k) {
      if (k % few == 0) fill(k, high_re.data(), high_im.data());
      const T* ur = low_re.data() + k % few * lanes;
      const T* ui = low_im.data() + k % few * lanes;
      T* re = x.re + k * lanes;
      T* im = x.im + k * lanes;
#pragma GCC ivdep
      for (std::int64_t l = 0; l < lanes; ++l) {
        const T wr = ur[l] * high_re[l] - ui[l] * high_im[l];
        const T wi = ur[l] * high_im[l] + ui[l] * high_re[l];
        const T a = re[l];
        re[l] = a * wr - im[l] * wi;
        im[l] = a * wi + im[l] * wr;
      }
    }
  }

 private:
  /// Of finite numbers; std::complex's looks after others, too.
  static std::complex<double> product(std::complex<double> a, std::complex<double> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

  std::int64_t n_;
  std::int64_t few_;  // the roots are products of one of few and one of every few-th
  std::vector<std::complex<double>> fine_, coarse_;
};

/// A long row as a matrix: its columns, a twist, its rows (Bailey, "FFTs in external or hierarchical
/// memory", 1990). The first dimension of the result is the second one's.
template <class T> CpuPlan in_two_steps(const Rows& rows, std::int64_t height, bool inverse) {
  const std::int64_t width = rows.n / height;
  const auto columns = std::make_shared<const Transform<T>>(height);
  const auto across = std::make_shared<const Transform<T>>(width);
  const auto twist = std::make_shared<const Twist<T>>(rows.n);
  const std::int64_t width_lanes = lanes_for(width, height, sizeof(T));
  const std::int64_t height_lanes = lanes_for(height, width, sizeof(T));
  const std::int64_t column_blocks = (width + width_lanes - 1) / width_lanes;
  const std::int64_t row_blocks = (height + height_lanes - 1) / height_lanes;
  const Blocks first{rows.rows * column_blocks * width_lanes, width_lanes, height};
  const Blocks second{rows.rows * row_blocks * height_lanes, height_lanes, width};
  const std::size_t between =
      (2 * static_cast<std::size_t>(rows.rows * rows.n) * sizeof(T) + 63) / 64 * 64;
  const std::size_t first_bytes = Room<T>::bytes(height, width_lanes);
  const std::size_t second_bytes = Room<T>::bytes(width, height_lanes);
  const T scale = inverse ? static_cast<T>(1.0 / static_cast<double>(rows.n)) : T{1};
  CpuPlan plan;
  plan.scratch_bytes = between + std::max(first_bytes * first.slices, second_bytes * second.slices);
  plan.stages.push_back(
      {first.slices, [=](const CpuArgs& args, std::uint32_t index) {
         const Room<T> memory{args.scratch + between + index * first_bytes, height, width_lanes};
         first.each(index, [&](std::int64_t block) {
           const std::int64_t row = block / column_blocks;
           const std::int64_t column = block % column_blocks * width_lanes;
           const std::int64_t lanes = std::min(width_lanes, width - column);
           const std::int64_t at = 2 * (row * rows.n + column);
           load(args.in<T>(0) + at, {width, 1}, height, lanes, turned(memory.one, inverse));
           const Planes<T> made = columns->run(memory.one, memory.other, lanes);
           twist->apply(made, height, column, lanes);
           store(made, {width, 1}, height, lanes, T{1}, reinterpret_cast<T*>(args.scratch) + at);
         });
       }});
  plan.stages.push_back(
      {second.slices, [=](const CpuArgs& args, std::uint32_t index) {
         const Room<T> memory{args.scratch + between + index * second_bytes, width, height_lanes};
         second.each(index, [&](std::int64_t block) {
           const std::int64_t row = block / row_blocks;
           const std::int64_t line = block % row_blocks * height_lanes;
           const std::int64_t lanes = std::min(height_lanes, height - line);
           const T* from =
               reinterpret_cast<const T*>(args.scratch) + 2 * (row * rows.n + line * width);
           load(from, {1, width}, width, lanes, memory.one);
           const Planes<T> made = across->run(memory.one, memory.other, lanes);
           store(turned(made, inverse), {height, 1}, width, lanes, scale,
                 args.out<T>() + 2 * (row * rows.n + line));
         });
       }});
  return plan;
}

/// The divisor nearest to the root below it, of a length that has passes; 1 where there is none.
std::int64_t height_of(std::int64_t n) {
  if (!radices_of(n, largest_radix)) return 1;
  auto height = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (height > 1 && n % height != 0) --height;
  return height;
}

template <class T> CpuPlan plan_for(const Rows& rows, bool inverse) {
  const std::size_t whole = 4 * static_cast<std::size_t>(rows.n * most_lanes) * sizeof(T);
  const std::int64_t height = height_of(rows.n);
  const bool long_rows = whole > room_bytes || (rows.rows < 8 && rows.n >= 1024);
  CpuPlan plan = long_rows && height >= 8 ? in_two_steps<T>(rows, height, inverse)
                                          : whole_rows<T>(rows, inverse);
  const auto elements = static_cast<double>(rows.rows * rows.n);
  plan.cost_ns = elements * (2 + 0.3 * std::log2(static_cast<double>(rows.n)));
  return plan;
}

template <bool Inverse> Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  STOKER_ASSIGN(const Rows rows, rows_of(Inverse ? "ifft" : "fft", call.inputs[0]));
  return call.dtype() == DType::f64 ? plan_for<double>(rows, Inverse)
                                    : plan_for<float>(rows, Inverse);
}

}  // namespace

void implement(CpuTable& table) {
  table.set("fft", &plan<false>);
  table.set("ifft", &plan<true>);
}

}  // namespace stoker::kernels::fft::STOKER_ISA
