#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/kernel_blocks.hpp"
#include "stoker/pipeline/tensor/passes/passes.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::expr {
namespace {

using List = std::vector<std::int64_t>;

// Of [n, c, h, w]: the axes of [n, h, w, c], and where each of its own went.
const List to_last{0, 2, 3, 1};
const List to_plain{0, 3, 1, 2};

Shape turned(const Shape& shape) { return {shape[0], shape[2], shape[3], shape[1]}; }
List turned(const List& list) {
  return list.empty() ? list : List{list[0], list[2], list[3], list[1]};
}
std::int64_t turned_axis(std::int64_t axis) {
  return to_plain[static_cast<std::size_t>(axis < 0 ? axis + 4 : axis)];
}

/// Multiply-adds of a convolution of f32 images that runs no slower with channels last; else 0.
double gains(const Program& program, const Instruction& one) {
  if (one.op->name != "conv" || one.specs[0].dtype != DType::f32) return 0;
  const Shape& x = program.spec(one.inputs[0]).shape;
  const Shape& k = program.spec(one.inputs[1]).shape;
  const Shape& y = one.specs[0].shape;
  if (y.rank() != 4 || y.elements() == 0) return 0;
  const Attributes& told = one.attributes;
  const auto is = [&](const char* name, const List& neutral) {
    const List& list = told.integers(name);
    return list.empty() || list == neutral;
  };
  for (const char* axes : {"input_axes", "kernel_axes", "output_axes"})
    if (!is(axes, {0, 1, 2, 3})) return 0;
  const std::int64_t groups = told.integer("feature_groups");
  const bool by_channel = groups == x[1] && groups == y[1];
  if (told.flag("flip") || told.integer("batch_groups") != 1 || !is("input_dilation", {1, 1}) ||
      (groups != 1 && !by_channel))
    return 0;
  // Narrower ones fill no block of the library's, smaller ones it does not compute.
  constexpr std::int64_t block = 16;
  constexpr double least_work = 1 << 17;
  const double work = static_cast<double>(y.elements()) / static_cast<double>(y[1]) *
                      static_cast<double>(k.elements());
  return y[1] < block || (work < least_work && !has_kernel_blocks(one.attributes)) ? 0 : work;
}

/// The attributes of an operation whose operands have channels last; none where it cannot have them so.
using Rule = std::optional<Attributes> (*)(const Attributes&);

/// Lists with an entry for each axis.
template <class... Names> Attributes lists_turned(const Attributes& told, Names... names) {
  Attributes made = told;
  for (const char* name : {names...}) made = with(made, {{name, turned(told.integers(name))}});
  return made;
}
std::optional<Attributes> of_window(const Attributes& told) {
  return lists_turned(told, "window", "strides", "padding_low", "padding_high", "window_dilations",
                      "base_dilations");
}
std::optional<Attributes> of_pad(const Attributes& told) {
  return lists_turned(told, "low", "high", "interior");
}
std::optional<Attributes> of_slice(const Attributes& told) {
  return lists_turned(told, "starts", "lengths", "strides");
}
std::optional<Attributes> of_concatenation(const Attributes& told) {
  return with(told, {{"axis", turned_axis(told.integer("axis"))}});
}
std::optional<Attributes> of_reduction(const Attributes& told) {
  if (!told.flag("keepdims")) return std::nullopt;
  List axes = told.integers("axes");
  std::ranges::transform(axes, axes.begin(), &turned_axis);
  std::ranges::sort(axes);
  return with(told, {{"axes", axes}});
}

const std::map<std::string_view, Rule>& rules() {
  static constinit NeverDestroyed<std::map<std::string_view, Rule>> rules;
  return rules.get([] {
    return std::map<std::string_view, Rule>{
        {"window_sum", &of_window},
        {"window_product", &of_window},
        {"window_max", &of_window},
        {"window_min", &of_window},
        {"pad", &of_pad},
        {"slice", &of_slice},
        {"concatenate", &of_concatenation},
        {"sum", &of_reduction},
        {"mean", &of_reduction},
        {"reduce_max", &of_reduction},
        {"reduce_min", &of_reduction},
    };
  });
}

class ChannelsLast {
 public:
  explicit ChannelsLast(Program& program) : program_{program}, forms_(program.code.size()) {}

  void run() {
    for (std::uint32_t i = 0; i < program_.code.size(); ++i) {
      const Instruction& one = program_.code[i];
      if (one.specs.size() != 1 || one.specs[0].shape.rank() != 4 || !turn(i))
        forms_[i].plain = add(moved(one));
    }
    for (std::uint32_t& parameter : program_.parameters) parameter = *forms_[parameter].plain;
    for (Ref& result : program_.results) result = plain(result);
    program_.code = std::move(code_);
    program_.drop_dead();
  }

 private:
  /// Where an instruction is found among the new ones: as it was, and with channels last.
  struct Forms {
    std::optional<std::uint32_t> plain, last;
    bool made_last = false;  ///< it is computed so
  };

  std::uint32_t add(Instruction one) {
    code_.push_back(std::move(one));
    return static_cast<std::uint32_t>(code_.size() - 1);
  }
  std::uint32_t transposed(Ref ref, const List& axes, const Shape& shape, std::uint32_t origin) {
    static constinit NamedOp transpose{"transpose"};
    const TensorSpec spec{code_[ref.instruction].specs[ref.output].dtype, shape};
    return add({&transpose.get(), Attributes{{"axes", axes}}, {ref}, {spec}, nullptr, origin});
  }

  Ref plain(Ref ref) {
    const Instruction& one = program_.code[ref.instruction];
    Forms& forms = forms_[ref.instruction];
    if (!forms.plain)
      forms.plain = transposed({*forms.last, 0}, to_plain, one.specs[0].shape, one.origin);
    return {*forms.plain, ref.output};
  }
  /// Of a value that has one output and broadcasts to four axes.
  Ref last(Ref ref) {
    static constinit NamedOp reshape{"reshape"};
    const Instruction& one = program_.code[ref.instruction];
    Forms& forms = forms_[ref.instruction];
    if (forms.last) return {*forms.last, 0};
    const TensorSpec& spec = one.specs[ref.output];
    Ref from = plain(ref);
    if (spec.shape.rank() == 0) return from;
    Shape shape = spec.shape;
    if (shape.rank() < 4) {
      List extents(4 - shape.rank(), 1);
      extents.insert(extents.end(), shape.begin(), shape.end());
      shape = Shape{extents[0], extents[1], extents[2], extents[3]};
      from = {add({&reshape.get(),
                   Attributes{{"shape", extents}},
                   {from},
                   {TensorSpec{spec.dtype, shape}},
                   nullptr,
                   one.origin}),
              0};
    }
    const std::uint32_t made = transposed(from, to_last, turned(shape), one.origin);
    if (one.specs.size() == 1) forms.last = made;
    return {made, 0};
  }

  Instruction moved(const Instruction& one) {
    Instruction result = one;
    for (Ref& input : result.inputs) input = plain(input);
    return result;
  }

  /// Computes an instruction with channels last, if it gains by that or its operands come so.
  bool turn(std::uint32_t i) {
    const Instruction& one = program_.code[i];
    if (gains(program_, one) > 0) {
      Instruction made = one;
      made.attributes = with(one.attributes, {{"input_axes", to_plain}, {"output_axes", to_plain}});
      made.inputs = {last(one.inputs[0]), plain(one.inputs[1])};
      put_last(i, std::move(made));
      return true;
    }
    if (!most_stand_last(one)) return false;
    Instruction made = one;
    if (one.op->kind != OpKind::scalar) {
      const auto rule = rules().find(one.op->name);
      if (rule == rules().end()) return false;
      const auto attributes = rule->second(one.attributes);
      if (!attributes) return false;
      made.attributes = *attributes;
    }
    for (Ref& input : made.inputs) input = last(input);
    put_last(i, std::move(made));
    return true;
  }
  void put_last(std::uint32_t i, Instruction made) {
    made.specs[0].shape = turned(made.specs[0].shape);
    forms_[i] = {.plain = {}, .last = add(std::move(made)), .made_last = true};
  }
  /// Of what is read from memory, by elements.
  [[nodiscard]] bool most_stand_last(const Instruction& one) const {
    std::int64_t votes = 0;
    for (const Ref input : one.inputs) {
      const Instruction& from = program_.code[input.instruction];
      const std::int64_t elements = from.specs[input.output].shape.elements();
      const bool stored = from.op->kind != OpKind::constant && from.op->kind != OpKind::index &&
                          from.op->kind != OpKind::view;
      if (forms_[input.instruction].made_last)
        votes += elements;
      else if (stored)
        votes -= elements;
    }
    return votes > 0;
  }

  Program& program_;
  std::vector<Forms> forms_;
  std::vector<Instruction> code_;
};

}  // namespace

void channels_last(Program& program) {
  // What stays as it was is read and written in another order at each edge: too much for a few.
  double gained = 0;
  std::size_t convolutions = 0, turned = 0;
  bool prepared = false;  // kernels, for channels last
  for (const Instruction& one : program.code) {
    if (one.op->name != "conv") continue;
    ++convolutions;
    const double work = gains(program, one);
    gained += work;
    turned += work > 0 ? 1 : 0;
    prepared |= has_kernel_blocks(one.attributes);
  }
  constexpr double least_work = 1 << 24;
  if (!prepared && (gained < least_work || turned * 4 < convolutions * 3)) return;
  ChannelsLast{program}.run();
}

}  // namespace stoker::expr
