#include <memory>

#include "stoker/kernels/cpu/stream.hpp"
#include "stoker/kernels/fused/evaluator.hpp"
#include "stoker/kernels/fused/schedule.hpp"
#include "stoker/kernels/fused/tiles.hpp"
#include "stoker/kernels/scalar/loops.hpp"

namespace stoker::kernels::fused::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;
namespace scalar = stoker::kernels::scalar::STOKER_ISA;
using scalar::ScalarLoop;

/// Registers up to this size are on the stack, which may be a fiber's; more is the run's scratch.
constexpr std::size_t stack_bytes = std::size_t{8} << 10;

/// Calls `row(position, stride, n)` for each part of a row that elements [first, first + n) cover,
/// with the position of its first element.
template <class Row>
void for_rows(const Layout& layout, const Strides& strides, std::int64_t position,
              std::size_t first, std::size_t n, Row&& row) noexcept {
  if (layout.rank == 0) {
    row(position, std::int64_t{0}, n);
    return;
  }
  const std::size_t last = layout.rank - 1;
  std::array<std::int64_t, Shape::max_rank> at{};
  auto rest = static_cast<std::int64_t>(first);
  for (std::size_t axis = layout.rank; axis-- > 0;) {
    at[axis] = rest % layout.extents[axis];
    rest /= layout.extents[axis];
    if (axis != last) position += at[axis] * strides[axis];
  }
  for (std::int64_t column = at[last]; n > 0; column = 0) {
    const std::size_t run = std::min(static_cast<std::size_t>(layout.extents[last] - column), n);
    row(position + column * strides[last], strides[last], run);
    n -= run;
    for (std::size_t axis = last; axis-- > 0;) {
      position += strides[axis];
      if (++at[axis] < layout.extents[axis]) break;
      position -= strides[axis] * layout.extents[axis];
      at[axis] = 0;
    }
  }
}

/// Reads elements that lie apart (`base` set) or their positions (null) into a register.
using Spread = void (*)(const Layout&, const Strides&, std::int64_t offset, const void* base,
                        std::size_t first, std::size_t n, void* to) noexcept;

template <class T>
void gather(const Layout& layout, const Strides& strides, std::int64_t offset, const void* base,
            std::size_t first, std::size_t n, void* to) noexcept {
  auto* out = static_cast<cpu::Compute<T>*>(to);
  for_rows(layout, strides, offset, first, n,
           [&](std::int64_t position, std::int64_t stride, std::size_t run) {
             const T* from = static_cast<const T*>(base) + position;
             if (stride == 1) {
               cpu::load_block(from, out, run);
             } else if (stride == 0) {
               cpu::load_block(from, out, 1);
               std::fill_n(out + 1, run - 1, out[0]);
             } else {
               for (std::size_t i = 0; i < run; ++i)
                 cpu::load_block(from + static_cast<std::int64_t>(i) * stride, out + i, 1);
             }
             out += run;
           });
}

template <class T>
void positions(const Layout& layout, const Strides& strides, std::int64_t offset, const void*,
               std::size_t first, std::size_t n, void* to) noexcept {
  auto* out = static_cast<cpu::Compute<T>*>(to);
  for_rows(layout, strides, offset, first, n,
           [&](std::int64_t position, std::int64_t stride, std::size_t run) {
             for (std::size_t i = 0; i < run; ++i)
               out[i] =
                   static_cast<cpu::Compute<T>>(position + static_cast<std::int64_t>(i) * stride);
             out += run;
           });
}

template <class T> void load(const void* const* from, void* to, std::size_t n) noexcept {
  cpu::load_block(static_cast<const T*>(from[0]), static_cast<cpu::Compute<T>*>(to), n);
}

template <class T> void store(const void* const* from, void* to, std::size_t n) noexcept {
  cpu::store_block(static_cast<const cpu::Compute<T>*>(from[0]), static_cast<T*>(to), n);
}

/// A step with the functions of this instruction set looked up.
struct Ready {
  Step step;
  ScalarLoop loop = nullptr;  // compute, load, store, round
  Spread spread = nullptr;    // gather, position
  std::size_t bytes = 0;      // of an element that is filled in or streamed out
};

Result<Ready> ready(const Step& step) {
  using Kind = Step::Kind;
  Ready result{step, nullptr, nullptr, size_of(step.dtype)};
  const bool half = step.dtype == DType::f16;
  switch (step.kind) {
    case Kind::compute:
      result.loop = scalar::find_loop(step.function->name, step.dtype, step.result);
      if (!result.loop)
        return Error{"fused",
                     ErrorCode::internal,
                     "a scalar function has no loop",
                     {{"function", std::string{step.function->name}},
                      {"dtype", std::string{to_string(step.dtype)}}}};
      break;
    case Kind::load: result.loop = half ? &load<Half> : &load<BFloat16>; break;
    case Kind::store: result.loop = half ? &store<Half> : &store<BFloat16>; break;
    case Kind::round: result.loop = scalar::rounding_loop(step.dtype); break;
    case Kind::gather:
      visit_dtype(step.dtype, [&]<class T>() {
        using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
        result.spread = &gather<Stored>;
      });
      break;
    case Kind::position:
      visit_dtype(step.dtype, [&]<class T>() { result.spread = &positions<T>; });
      break;
    case Kind::fill:
      if (step.dtype == DType::f16 || step.dtype == DType::bf16) result.bytes = 4;
      break;
    case Kind::stream: break;
  }
  return result;
}

struct Interpreter final : Evaluator {
  Schedule schedule;  // its steps have become `before` and `steps`
  std::vector<Ready> before;
  std::vector<Ready> steps;
  std::vector<Piece> pieces;      // of the steps
  std::vector<Place> streams_in;  // the inputs that are read from front to back
  std::uint32_t slices = 1;

  [[nodiscard]] const Schedule& plan() const noexcept override { return schedule; }

  void begin(const CpuArgs& args, std::byte* registers) const noexcept override {
    if (schedule.elements == 0) return;  // of nothing, nothing repeats
    for (const Ready& one : before) take(one, args, registers, 0, schedule.block);
  }

  void evaluate(const CpuArgs& args, std::byte* registers, std::size_t first, std::size_t n,
                std::size_t next) const noexcept override {
    for (const Piece& piece : pieces) {
      if (next < schedule.elements) prefetch(args, next, piece.first, piece.first + piece.count);
      const std::size_t tiles = piece.moves.empty() ? 0 : n / tile_elements;
      if (tiles > 0) take_tiles(piece, args, registers, first, tiles);
      const std::size_t done = tiles * tile_elements;
      if (done == n) continue;
      for (std::size_t i = piece.first; i < piece.first + piece.count; ++i)
        take(steps[i], args, registers, first, n, done);
    }
  }

  void run(const CpuArgs& args, std::uint32_t index) const noexcept {
    const auto [begin, end] = slice_range(schedule.elements, slices, index, schedule.block);
    if (schedule.register_bytes <= stack_bytes) {
      alignas(64) std::byte registers[stack_bytes];
      run_range(args, registers, begin, end);
    } else {
      run_range(args, args.scratch + index * schedule.register_bytes, begin, end);
    }
  }

 private:
  void run_range(const CpuArgs& args, std::byte* registers, std::size_t begin,
                 std::size_t end) const noexcept {
    // A slice begins at a whole block, and so at a whole period of what is gathered here.
    this->begin(args, registers);
    for (std::size_t first = begin; first < end; first += schedule.block) {
      const std::size_t n = std::min(schedule.block, end - first);
      const bool ahead = schedule.streams && first + 2 * schedule.block <= end;
      evaluate(args, registers, first, n, ahead ? first + schedule.block : nothing);
    }
    if (schedule.streams) cpu::stream_fence();
  }

  void take_tiles(const Piece& piece, const CpuArgs& args, std::byte* registers, std::size_t first,
                  std::size_t tiles) const noexcept {
    PlacedMove moves[Piece::most_moves];
    for (std::size_t i = 0; i < piece.moves.size(); ++i) {
      const TileMove& move = piece.moves[i];
      moves[i] = {move.function, move.operand,
                  reinterpret_cast<float*>(at(move.place, args, registers, first))};
    }
    run_tiles({moves, piece.moves.size()}, tiles);
  }

  /// Asks for a part of the inputs of the block at `first`, beside the steps of the one before it:
  /// the memory is busy while steps compute. A block is about a page, and the processor by itself
  /// does not look beyond one.
  void prefetch(const CpuArgs& args, std::size_t first, std::size_t part,
                std::size_t parts_end) const noexcept {
    for (const Place& place : streams_in) {
      const std::byte* const from = at(place, args, nullptr, first);
      const std::size_t lines = schedule.block * place.stride / 64;
      const std::size_t end = lines * parts_end / steps.size();
      for (std::size_t i = lines * part / steps.size(); i < end; ++i)
        __builtin_prefetch(from + 64 * i, 0, 2);
    }
  }

  /// Where element `skip` of the block at `first` lies. Only floats are skipped.
  [[nodiscard]] std::byte* at(const Place& place, const CpuArgs& args, std::byte* registers,
                              std::size_t first, std::size_t skip = 0) const noexcept {
    std::byte* base = registers;
    if (place.source > schedule.buffers)
      base = args.out<std::byte>(place.source - 1 - schedule.buffers);
    else if (place.source != 0)  // only ever read
      base = const_cast<std::byte*>(args.in<std::byte>(place.source - 1));
    if (place.stride == 0) base += skip * sizeof(float);  // a register or a tile
    return base + place.offset + static_cast<std::int64_t>((first + skip) * place.stride);
  }

  /// Elements [skip, n) of the block at `first`.
  void take(const Ready& one, const CpuArgs& args, std::byte* registers, std::size_t first,
            std::size_t n, std::size_t skip = 0) const noexcept {
    const Step& step = one.step;
    std::byte* const to = at(step.to, args, registers, first, skip);
    if (one.loop) {
      const void* from[3] = {at(step.from[0], args, registers, first, skip),
                             at(step.from[1], args, registers, first, skip),
                             at(step.from[2], args, registers, first, skip)};
      one.loop(from, to, n - skip);
    } else if (one.spread) {
      one.spread(schedule.layout, schedule.layout.strides[step.input], schedule.offsets[step.input],
                 at(step.from[0], args, registers, 0), first, n, to);
    } else if (step.kind == Step::Kind::stream) {
      cpu::stream_copy(to, at(step.from[0], args, registers, first), n * one.bytes);
    } else {
      fill(to, step.bits, one.bytes, n);
    }
  }

  static void fill(std::byte* to, std::uint64_t bits, std::size_t bytes, std::size_t n) noexcept {
    const auto fill_as = [&](auto value) {
      std::fill_n(reinterpret_cast<decltype(value)*>(to), n, value);
    };
    if (bytes == 1) fill_as(static_cast<std::uint8_t>(bits));
    if (bytes == 2) fill_as(static_cast<std::uint16_t>(bits));
    if (bytes == 4) fill_as(static_cast<std::uint32_t>(bits));
    if (bytes == 8) fill_as(bits);
  }
};

Result<std::shared_ptr<Interpreter>> make_interpreter(Schedule made) {
  const auto interpreter = std::make_shared<Interpreter>();
  interpreter->schedule = std::move(made);
  Schedule& schedule = interpreter->schedule;
  for (const Step& step : schedule.before) {
    STOKER_ASSIGN(Ready one, ready(step));
    interpreter->before.push_back(one);
  }
  for (const Step& step : schedule.steps) {
    STOKER_ASSIGN(Ready one, ready(step));
    interpreter->steps.push_back(one);
    for (const Place& place : step.from) {
      const auto same = [&](const Place& other) { return other.source == place.source; };
      if (place.source != 0 && place.source <= schedule.buffers && place.stride != 0 &&
          std::none_of(interpreter->streams_in.begin(), interpreter->streams_in.end(), same))
        interpreter->streams_in.push_back(place);
    }
  }
  interpreter->pieces = pieces_of(schedule);
  return interpreter;
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  STOKER_ASSIGN(
      const std::shared_ptr<Interpreter> interpreter,
      make_interpreter(make_schedule(in_chains(static_cast<const FusedCall&>(call).program),
                                     cpu::stream_from_bytes)));
  const Schedule& schedule = interpreter->schedule;
  const auto grain =
      static_cast<std::size_t>(std::clamp(10000 / schedule.ns_per_element, 2048.0, 32768.0));
  interpreter->slices = slice_count(schedule.elements, grain);
  CpuPlan plan;
  plan.cost_ns = 30 + 10 * static_cast<double>(schedule.steps.size()) +
                 static_cast<double>(schedule.elements) * schedule.ns_per_element;
  if (schedule.register_bytes > stack_bytes)
    plan.scratch_bytes = interpreter->slices * schedule.register_bytes;
  plan.stages.push_back(
      {interpreter->slices,
       [interpreter](const CpuArgs& args, std::uint32_t index) { interpreter->run(args, index); }});
  return plan;
}

}  // namespace

Result<std::shared_ptr<const Evaluator>> make_evaluator(Schedule schedule) {
  STOKER_ASSIGN(std::shared_ptr<Interpreter> made, make_interpreter(std::move(schedule)));
  return std::shared_ptr<const Evaluator>{std::move(made)};
}

void implement(CpuTable& table) {
  table.set(planner_name, &plan);
  implement_reductions(table);
  implement_products(table);
}

}  // namespace stoker::kernels::fused::STOKER_ISA
