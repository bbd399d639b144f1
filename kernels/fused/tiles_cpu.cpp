#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "stoker/kernels/fused/tiles.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace stoker::kernels::fused::STOKER_ISA {
namespace {

using kernels::cpu::STOKER_ISA::vector_bytes;

typedef float Vector __attribute__((vector_size(vector_bytes)));
typedef float Unaligned
    __attribute__((vector_size(vector_bytes), aligned(alignof(float)), may_alias));
typedef std::int32_t Bits __attribute__((vector_size(vector_bytes)));
constexpr std::size_t lanes = vector_bytes / sizeof(float);

Vector vector_at(const float* tile, std::size_t i) noexcept {
  return *reinterpret_cast<const Unaligned*>(tile + i * lanes);
}

/// A difference, since a sum with 0 would take the sign of -0.
Vector all_of(float x) noexcept { return x - Vector{}; }

// Each as the loop of kernels/scalar computes an element. Objects, since a pointer to a function would be
// inlined too late.
constexpr auto root = [](Vector x) {
#if defined(__AVX512F__)
  return Vector{_mm512_maskz_sqrt_ps(0xffff, x)};  // without a mask GCC 12 warns
#elif defined(__AVX__)
  return Vector{_mm256_sqrt_ps(x)};
#elif defined(__SSE2__)
  return Vector{_mm_sqrt_ps(x)};
#else
  for (std::size_t i = 0; i < lanes; ++i) x[i] = std::sqrt(x[i]);
  return x;
#endif
};
constexpr auto magnitude = [](Vector x) {
  return reinterpret_cast<Vector>(reinterpret_cast<Bits>(x) & 0x7fffffff);
};
// A NaN wins, which is the one that differs from itself.
// NOLINTBEGIN(misc-redundant-expression)
constexpr auto larger = [](Vector a, Vector b) { return (a > b) | (a != a) ? a : b; };
constexpr auto smaller = [](Vector a, Vector b) { return (a < b) | (a != a) ? a : b; };
// NOLINTEND(misc-redundant-expression)

// What is in hand is local to one function, and every index is a constant: only so does it stay in
// registers.
template <std::size_t... I>
[[gnu::always_inline]] inline void run(std::span<const PlacedMove> moves, std::size_t tiles,
                                       std::index_sequence<I...>) noexcept {
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    Vector hand[tile_vectors];
    ((hand[I] = Vector{}), ...);
    for (const PlacedMove& move : moves) {
      float* const at = move.at + tile * tile_elements;
      const auto alone = [&](auto f) __attribute__((always_inline)) {
        ((hand[I] = f(hand[I])), ...);
      };
      const auto two = [&](auto f) __attribute__((always_inline)) {
        switch (move.operand) {
          case TileOperand::second: ((hand[I] = f(hand[I], vector_at(at, I))), ...); break;
          case TileOperand::first: ((hand[I] = f(vector_at(at, I), hand[I])), ...); break;
          case TileOperand::second_one: {
            const Vector one = all_of(*move.at);
            ((hand[I] = f(hand[I], one)), ...);
            break;
          }
          case TileOperand::first_one: {
            const Vector one = all_of(*move.at);
            ((hand[I] = f(one, hand[I])), ...);
            break;
          }
        }
      };
      switch (move.function) {
        case TileFunction::load: two([](Vector, Vector b) { return b; }); break;
        case TileFunction::store:
          ((*reinterpret_cast<Unaligned*>(at + I * lanes) = hand[I]), ...);
          break;
        case TileFunction::add: two([](Vector a, Vector b) { return a + b; }); break;
        case TileFunction::subtract: two([](Vector a, Vector b) { return a - b; }); break;
        case TileFunction::multiply: two([](Vector a, Vector b) { return a * b; }); break;
        case TileFunction::divide: two([](Vector a, Vector b) { return a / b; }); break;
        case TileFunction::max: two(larger); break;
        case TileFunction::min: two(smaller); break;
        case TileFunction::negate: alone([](Vector a) { return -a; }); break;
        case TileFunction::abs: alone(magnitude); break;
        case TileFunction::sqrt: alone(root); break;
      }
    }
  }
}

std::optional<TileFunction> function_of(const Step& step) {
  const auto float_register = [](DType dtype) {
    return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
  };
  if (step.kind != Step::Kind::compute || !float_register(step.dtype) ||
      !float_register(step.result))
    return std::nullopt;
  constexpr std::pair<std::string_view, TileFunction> all[] = {
      {"copy", TileFunction::load},         {"add", TileFunction::add},
      {"subtract", TileFunction::subtract}, {"multiply", TileFunction::multiply},
      {"divide", TileFunction::divide},     {"max", TileFunction::max},
      {"min", TileFunction::min},           {"negate", TileFunction::negate},
      {"abs", TileFunction::abs},           {"sqrt", TileFunction::sqrt},
  };
  for (const auto& [name, function] : all)
    if (step.function->name == name) return function;
  return std::nullopt;
}

/// Whether a register holds one number as often as a block has elements.
bool is_one(const Schedule& schedule, const Place& place) {
  return place.source == 0 && std::ranges::any_of(schedule.before, [&](const Step& step) {
           return step.to == place &&
                  (step.kind == Step::Kind::fill ||
                   (step.kind == Step::Kind::gather && schedule.layout.period(step.input) == 1));
         });
}

/// Whether anybody but the next step, which has it in hand as operand `held`, reads what step `index`
/// leaves.
bool must_store(const std::vector<Step>& steps, std::size_t index, std::size_t held) {
  const Place& place = steps[index].to;
  if (place.source != 0) return true;
  for (std::size_t j = index + 1; j < steps.size(); ++j) {
    const std::size_t operands =
        steps[j].kind == Step::Kind::compute ? steps[j].function->arity : 1;
    for (std::size_t k = 0; k < operands; ++k)
      if (steps[j].from[k] == place && (j != index + 1 || k != held)) return true;
    if (steps[j].to == place) return false;
  }
  return false;
}

std::vector<TileMove> moves_of(const Schedule& schedule, std::size_t first, std::size_t end) {
  const std::vector<Step>& steps = schedule.steps;
  std::vector<TileMove> moves;
  const auto push = [&](TileFunction function, const Place& place, bool second) {
    const bool one = is_one(schedule, place);
    if (second)
      moves.push_back({function, one ? TileOperand::second_one : TileOperand::second, place});
    else
      moves.push_back({function, one ? TileOperand::first_one : TileOperand::first, place});
  };
  for (std::size_t i = first; i < end; ++i) {
    const Step& step = steps[i];
    const TileFunction function = *function_of(step);
    const std::size_t arity = step.function->arity;
    std::size_t held = arity;  // the operand in hand
    for (std::size_t k = arity; k-- > 0 && i > first;)
      if (step.from[k] == steps[i - 1].to) held = k;
    if (i > first && must_store(steps, i - 1, held))
      push(TileFunction::store, steps[i - 1].to, true);
    if (held == arity) {
      held = 0;
      push(TileFunction::load, step.from[0], true);
    }
    if (arity == 2)
      push(function, step.from[1 - held], held == 0);
    else if (function != TileFunction::load)
      push(function, step.from[0], true);
  }
  push(TileFunction::store, steps[end - 1].to, true);
  return moves;
}

}  // namespace

void run_tiles(std::span<const PlacedMove> moves, std::size_t tiles) noexcept {
  run(moves, tiles, std::make_index_sequence<tile_vectors>{});
}

std::vector<Piece> pieces_of(const Schedule& schedule) {
  std::vector<Piece> pieces;
  const std::size_t steps = schedule.steps.size();
  for (std::size_t first = 0, end = 0; first < steps; first = end) {
    while (end < steps && end - first < Piece::most_steps && function_of(schedule.steps[end]))
      ++end;
    // By itself a step is as good as its loop.
    if (end - first >= 2)
      pieces.push_back({first, end - first, moves_of(schedule, first, end)});
    else
      pieces.push_back({first, 1, {}});
    end = std::max(end, first + 1);
  }
  return pieces;
}

}  // namespace stoker::kernels::fused::STOKER_ISA
