#include "stoker/kernels/fused/schedule.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

namespace stoker::kernels::fused {
namespace {

/// What registers may take of a first-level cache, beside the blocks of inputs and outputs.
constexpr std::size_t register_budget = std::size_t{24} << 10;

bool converts(DType dtype) noexcept { return dtype == DType::f16 || dtype == DType::bf16; }
std::size_t compute_bytes(DType dtype) noexcept { return converts(dtype) ? 4 : size_of(dtype); }

/// Which schedule is wanted.
struct Form {
  std::size_t stream_from = std::numeric_limits<std::size_t>::max();
  std::size_t row = 0;  ///< of a tile or part schedule; 0: blocks follow each other
  bool tiled = false;
};

class Scheduler {
 public:
  Scheduler(const FusedProgram& program, const Form& form, std::size_t block)
      : program_{program},
        in_rows_{form.row > 0},
        dtypes_{program.dtypes()},
        needed_{needed_values(program)},
        places_(dtypes_.size()),
        last_use_(dtypes_.size(), 0) {
    schedule_.layout = layout_of(program, needed_);
    schedule_.elements = static_cast<std::size_t>(program.shape.elements());
    schedule_.buffers = program.buffers().size();
    schedule_.tiled = form.tiled;
    schedule_.block = block_length(std::min(block, (schedule_.elements + 63) / 64 * 64));
    start_ = form.row <= schedule_.block ? form.row : std::gcd(form.row, schedule_.block);
    for (const auto& input : program.inputs) schedule_.offsets.push_back(input.offset);
    for (const auto output : program.outputs)
      streams_.push_back(!schedule_.tiled &&
                         schedule_.elements * size_of(dtypes_[output]) >= form.stream_from);
    for (std::size_t i = 0; i < program.code.size(); ++i)
      if (needed_[program.first_result() + i])
        for (std::size_t k = 0; k < program.code[i].function->arity; ++k)
          last_use_[program.code[i].operands[k]] = i;
    for (const auto output : program.outputs)
      if (output < program.first_result()) last_use_[output] = program.code.size();
    std::uint32_t buffer = 0;
    for (const auto& input : program.inputs) sources_.push_back(input.index ? 0 : ++buffer);
  }

  Schedule run() {
    for (std::size_t i = 0; i < program_.code.size(); ++i)
      if (needed_[program_.first_result() + i]) add_instruction(i);
    // What no instruction makes: inputs and constants that are outputs themselves.
    for (std::size_t o = 0; o < program_.outputs.size(); ++o)
      if (program_.outputs[o] < program_.first_result()) {
        fetch(program_.outputs[o]);
        put_out(program_.outputs[o], o);
      }
    finish();
    return std::move(schedule_);
  }

 private:
  /// At most `most`, a multiple of 64 and, where it can be, of the periods of repeated inputs, which
  /// are then gathered once for each slice.
  [[nodiscard]] std::size_t block_length(std::size_t most) const {
    std::size_t unit = 64;
    for (std::size_t k = 0; k < program_.inputs.size() && !in_rows_; ++k) {
      if (!needed_[k] || schedule_.layout.dense(k)) continue;
      const auto period = static_cast<std::size_t>(schedule_.layout.period(k));
      if (period == 0 || period > most) continue;
      const std::size_t both = std::lcm(unit, period);
      if (both <= most) unit = both;
    }
    return std::max<std::size_t>(most / unit * unit, 64);
  }

  [[nodiscard]] bool repeats(std::size_t input) const {
    const auto period = static_cast<std::size_t>(schedule_.layout.period(input));
    return period != 0 && (in_rows_ ? start_ : schedule_.block) % period == 0;
  }

  // Registers are numbered in Place::offset until finish() knows their size.
  Place allocate(std::size_t bytes, bool fresh = false) {
    widest_ = std::max(widest_, bytes);
    std::int64_t number = 0;
    if (fresh || free_.empty()) {
      number = registers_++;
    } else {
      number = free_.back();
      free_.pop_back();
    }
    return {0, 0, number};
  }

  void release(std::size_t value) {
    const auto& place = places_[value];
    if (place && place->source == 0 && !permanent(value)) free_.push_back(place->offset);
  }

  /// Registers filled once for each slice stay.
  [[nodiscard]] bool permanent(std::size_t value) const {
    if (value >= program_.first_result()) return false;
    return value >= program_.inputs.size() || (!schedule_.layout.dense(value) && repeats(value));
  }

  [[nodiscard]] std::uint64_t constant_bits(const FusedProgram::Constant& constant) const {
    const auto low = static_cast<std::uint16_t>(constant.bits);
    if (constant.dtype == DType::f16)
      return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<Half>(low)));
    if (constant.dtype == DType::bf16) return std::uint64_t{low} << 16;
    if (constant.dtype == DType::boolean) return (constant.bits & 255U) != 0;
    return constant.bits;
  }

  /// Makes an input or constant readable, by a step if it takes one.
  void fetch(std::size_t value) {
    if (places_[value]) return;
    const DType dtype = dtypes_[value];
    Step step{.dtype = dtype, .result = dtype, .input = value};
    if (value >= program_.inputs.size()) {
      step.kind = Step::Kind::fill;
      step.bits = constant_bits(program_.constants[value - program_.inputs.size()]);
    } else if (program_.inputs[value].index) {
      step.kind = Step::Kind::position;
    } else {
      const auto bytes = static_cast<std::uint32_t>(size_of(dtype));
      step.from[0] = {sources_[value], 0, 0};
      if (schedule_.layout.dense(value)) {
        step.from[0] = {sources_[value], bytes, program_.inputs[value].offset * bytes};
        if (!converts(dtype)) {
          places_[value] = step.from[0];
          return;
        }
        step.kind = Step::Kind::load;
      } else {
        step.kind = Step::Kind::gather;
      }
    }
    // A register that is filled before the blocks must be nobody else's in any of them.
    places_[value] = step.to = allocate(compute_bytes(dtype), permanent(value));
    auto& steps = permanent(value) ? schedule_.before : schedule_.steps;
    steps.push_back(step);
    if (step.kind == Step::Kind::position && converts(dtype)) round(steps, step.to, dtype);
  }

  static void round(std::vector<Step>& steps, const Place& place, DType dtype) {
    Step step{.kind = Step::Kind::round, .dtype = dtype, .result = dtype};
    step.from[0] = step.to = place;
    steps.push_back(step);
  }

  [[nodiscard]] Place output_place(std::size_t output) const {
    const auto bytes = schedule_.tiled
                           ? 0U
                           : static_cast<std::uint32_t>(size_of(dtypes_[program_.outputs[output]]));
    return {static_cast<std::uint32_t>(1 + schedule_.buffers + output), bytes, 0};
  }

  /// The first output that `value` can be computed into.
  [[nodiscard]] std::optional<std::size_t> direct_output(std::size_t value) const {
    if (converts(dtypes_[value]) && !schedule_.tiled) return std::nullopt;
    for (std::size_t o = 0; o < program_.outputs.size(); ++o)
      if (program_.outputs[o] == value && !streams_[o]) return o;
    return std::nullopt;
  }

  void add_instruction(std::size_t index) {
    const auto& one = program_.code[index];
    const std::size_t value = program_.first_result() + index;
    const std::size_t arity = one.function->arity;
    Step step{
        .dtype = dtypes_[one.operands[arity - 1]], .result = one.result, .function = one.function};
    for (std::size_t k = 0; k < arity; ++k) {
      fetch(one.operands[k]);
      step.from[k] = *places_[one.operands[k]];
    }
    // A loop may write over an operand whose elements are as large, not over others.
    const std::size_t bytes = compute_bytes(one.result);
    const auto release_operands = [&](bool same_size) {
      for (std::size_t k = 0; k < arity; ++k) {
        const auto operand = one.operands[k];
        const bool again = std::find(one.operands.begin(), one.operands.begin() + k, operand) !=
                           one.operands.begin() + k;
        if (!again && last_use_[operand] == index &&
            (compute_bytes(dtypes_[operand]) == bytes) == same_size)
          release(operand);
      }
    };
    const std::optional<std::size_t> direct = direct_output(value);
    release_operands(true);
    step.to = direct ? output_place(*direct) : allocate(bytes);
    release_operands(false);
    places_[value] = step.to;
    schedule_.steps.push_back(step);
    schedule_.ns_per_element += one.function->cost_ns * static_cast<double>(bytes) / 4;
    if (converts(one.result) && !(one.function->closed))
      round(schedule_.steps, step.to, one.result);
    for (std::size_t o = 0; o < program_.outputs.size(); ++o)
      if (program_.outputs[o] == value && o != direct) put_out(value, o);
    if (last_use_[value] <= index && !direct) release(value);
  }

  void put_out(std::size_t value, std::size_t output) {
    const DType dtype = dtypes_[value];
    Step step{.dtype = dtype, .result = dtype};
    step.from[0] = *places_[value];
    Place staged;
    if (converts(dtype) && !schedule_.tiled) {
      step.kind = Step::Kind::store;
      step.to = streams_[output] ? staged = allocate(4) : output_place(output);
      schedule_.steps.push_back(step);
      if (!streams_[output]) return;
      step.from[0] = staged;
      free_.push_back(staged.offset);
    }
    if (streams_[output]) {
      step.kind = Step::Kind::stream;
      schedule_.streams = true;
    } else {
      step.kind = Step::Kind::compute;
      step.function = *find_scalar_function("copy");
    }
    step.to = output_place(output);
    schedule_.steps.push_back(step);
  }

  void finish() {
    const auto bytes =
        static_cast<std::int64_t>(schedule_.block * std::max<std::size_t>(widest_, 1));
    const auto resolve = [&](Place& place) {
      if (place.source == 0) place.offset *= bytes;
    };
    for (auto* steps : {&schedule_.before, &schedule_.steps})
      for (Step& step : *steps) {
        for (Place& place : step.from) resolve(place);
        resolve(step.to);
      }
    schedule_.register_bytes = static_cast<std::size_t>(registers_ * bytes);
    double moved = 0;
    for (std::size_t k = 0; k < program_.inputs.size(); ++k)
      if (needed_[k]) moved += static_cast<double>(size_of(dtypes_[k]));
    for (const auto output : program_.outputs)
      moved += schedule_.tiled ? 0 : static_cast<double>(size_of(dtypes_[output]));
    schedule_.ns_per_element += 0.03 * moved;
  }

  const FusedProgram& program_;
  const bool in_rows_;
  std::vector<DType> dtypes_;
  std::vector<bool> needed_;
  std::vector<std::optional<Place>> places_;
  std::vector<std::size_t> last_use_;
  std::vector<bool> streams_;
  std::vector<std::uint32_t> sources_;
  std::vector<std::int64_t> free_;
  std::int64_t registers_ = 0;
  std::size_t start_ = 0;  // blocks in rows begin at multiples of it
  std::size_t widest_ = 0;
  Schedule schedule_;
};

Schedule smallest_fitting(const FusedProgram& program, const Form& form) {
  Schedule schedule;
  for (const std::size_t block : {1024, 512, 256}) {
    schedule = Scheduler{program, form, block}.run();
    if (schedule.register_bytes <= register_budget) break;
  }
  return schedule;
}

/// The instructions of a program as in_chains() orders them.
std::vector<std::size_t> chain_order(const FusedProgram& program) {
  const std::size_t first = program.first_result();
  const std::size_t count = program.code.size();
  std::vector<std::size_t> order;
  std::vector<bool> done(first + count, false);
  std::fill_n(done.begin(), first, true);
  const auto operands = [&](std::size_t i) {
    return std::span{program.code[i].operands}.first(program.code[i].function->arity);
  };
  const auto ready = [&](std::size_t i) {
    return std::ranges::all_of(operands(i), [&](auto value) { return bool{done[value]}; });
  };
  for (std::size_t earliest = 0; order.size() < count;) {
    while (done[first + earliest]) ++earliest;
    std::size_t next = earliest;
    for (std::size_t i = earliest; !order.empty() && i < count; ++i) {
      if (done[first + i] || !ready(i) ||
          std::ranges::find(operands(i), first + order.back()) == operands(i).end())
        continue;
      next = i;
      break;
    }
    order.push_back(next);
    done[first + next] = true;
  }
  return order;
}

}  // namespace

FusedProgram in_chains(const FusedProgram& program) {
  const std::vector<std::size_t> order = chain_order(program);
  const std::size_t first = program.first_result();
  std::vector<FusedProgram::Value> now(first + order.size());
  std::iota(now.begin(), now.end(), FusedProgram::Value{0});
  for (std::size_t i = 0; i < order.size(); ++i)
    now[first + order[i]] = static_cast<FusedProgram::Value>(first + i);
  FusedProgram result = program;
  for (std::size_t i = 0; i < order.size(); ++i) {
    FusedProgram::Instruction& one = result.code[i] = program.code[order[i]];
    for (std::size_t k = 0; k < one.function->arity; ++k) one.operands[k] = now[one.operands[k]];
  }
  for (FusedProgram::Value& output : result.outputs) output = now[output];
  return result;
}

Schedule make_schedule(const FusedProgram& program, std::size_t stream_from) {
  return smallest_fitting(program, {.stream_from = stream_from});
}

Schedule make_part_schedule(const FusedProgram& program, std::size_t row) {
  return smallest_fitting(program, {.row = std::max<std::size_t>(row, 1)});
}

Schedule make_tile_schedule(const FusedProgram& program, std::size_t row) {
  return smallest_fitting(program, {.row = std::max<std::size_t>(row, 1), .tiled = true});
}

}  // namespace stoker::kernels::fused
