// Conversions between element types.
#include <charconv>
#include <cmath>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/onnx/core/narrow_floats.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"

namespace stoker::onnx::operators::casting {
namespace {

/// The numbers that a narrow integer holds, which its carrier does not wrap to.
Tensor wrapped(const Tensor& x, ElementType type) {
  if (!is_packed(type)) return x;
  const auto bits = static_cast<std::int64_t>(8 - bits_of(type));
  return right_shift(left_shift(x, full_like(x, bits)), full_like(x, bits));
}

Texts texts_of(Call& call) {
  const Known known = call.known(0);
  Texts texts{.shape = known.shape(), .strings = {}};
  if (known.type() == ElementType::boolean) {
    for (const std::int64_t one : known.to_integers()) texts.strings.push_back(one ? "1" : "0");
  } else if (known.holds_integers()) {
    for (const std::int64_t one : known.to_integers())
      texts.strings.push_back(known.type() == ElementType::u64
                                  ? std::to_string(static_cast<std::uint64_t>(one))
                                  : std::to_string(one));
  } else {
    for (const double one : known.to_reals()) {
      std::array<char, 64> digits{};
      // The fewest digits that give the number again, as NumPy writes it.
      const auto end =
          known.type() == ElementType::f64
              ? std::to_chars(digits.begin(), digits.end(), one).ptr
              : std::to_chars(digits.begin(), digits.end(), static_cast<float>(one)).ptr;
      std::string text{digits.data(), end};
      if (std::isnan(one)) text = "NaN";
      if (std::isinf(one)) text = one < 0 ? "-INF" : "INF";
      texts.strings.push_back(std::move(text));
    }
  }
  return texts;
}

Value from_texts(Call& call, ElementType to) {
  const Texts& texts = call.input(0).texts();
  const DType dtype = carrier_of(to).value();
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
  for (const std::string& one : texts.strings) {
    const char* const end = one.data() + one.size();
    const char* const begin = one.data() + (one.starts_with('+') ? 1 : 0);
    double real = 0;
    std::int64_t integer = 0;
    auto as_integer = std::from_chars(begin, end, integer);
    if (to == ElementType::u64 && as_integer.ec == std::errc::result_out_of_range) {
      std::uint64_t large = 0;
      as_integer = std::from_chars(begin, end, large);
      integer = static_cast<std::int64_t>(large);
    }
    const auto as_real = std::from_chars(begin, end, real);
    if (as_real.ec != std::errc{} || as_real.ptr != end)
      call.refuse(ErrorCode::invalid_argument, "'" + one + "' is not a number");
    const bool whole = as_integer.ec == std::errc{} && as_integer.ptr == end;
    if (!whole && !is_float(dtype) && !(std::abs(real) < 9.2e18))
      call.refuse(ErrorCode::invalid_argument, "'" + one + "' is not an integer of 64 bits");
    integers.push_back(whole ? integer : is_float(dtype) ? 0 : static_cast<std::int64_t>(real));
    reals.push_back(real);
  }
  if (is_float(dtype)) return Known::reals(reals, texts.shape, to);
  return Known::integers(integers, texts.shape, to);
}

Values cast_to(Call& call, ElementType to) {
  if (to == ElementType::string) {
    if (call.input(0).is_texts()) return {call.input(0)};
    if (is_narrow_float(call.type()))
      call.refuse(ErrorCode::unsupported, "from " + std::string{to_string(call.type())});
    return {Value{texts_of(call)}};
  }
  if (call.input(0).is_texts()) return {from_texts(call, to)};
  const ElementType from = call.type();
  if (from == to) return {call.input(0)};
  const DType dtype = carrier_of(to).value();
  Tensor y = is_narrow_float(from) ? widened(call.x(), from) : call.x();
  if (is_narrow_float(to)) {
    const std::string rounding = call.node().text("round_mode", "up");
    const Narrowing how{call.node().flag("saturate", true), rounding,
                        call.version() < 25 ? 0x7F : 0x7E};
    return {Value{narrowed(y, to, how), to}};
  }
  if (to == ElementType::boolean) return {Call::condition(not_equal(y, 0))};
  // Through s32, so that floats do not saturate at the carrier's ends before the bits are cut.
  if (is_packed(to)) y = as_type(y, DType::s32);
  return {Value{wrapped(as_type(y, dtype), to), to}};
}

std::optional<Values> cast_on_host(Call& call, ElementType to) {
  const Known x = call.input(0).known();
  if (!has_host_arithmetic(x.type()) || !has_host_arithmetic(to)) return {};
  if (x.holds_integers()) {
    std::vector<std::int64_t> all = x.to_integers();
    if (to == ElementType::boolean)
      for (std::int64_t& one : all) one = one != 0;
    if (to != ElementType::f32 && to != ElementType::f64)
      return Values{Known::integers(all, x.shape(), to)};
    return Values{Known::reals(x.to_reals(), x.shape(), to)};
  }
  if (to == ElementType::f32 || to == ElementType::f64)
    return Values{Known::reals(x.to_reals(), x.shape(), to)};
  std::vector<std::int64_t> all;
  for (const double one : x.to_reals()) {
    if (!(std::abs(one) < 2147483648.0)) return {};  // the device's rule saturates
    all.push_back(to == ElementType::boolean ? one != 0 : static_cast<std::int64_t>(one));
  }
  return Values{Known::integers(all, x.shape(), to)};
}

ElementType target(const Call& call) {
  const ElementType to = call.node().element_type("to", ElementType::undefined);
  if (to == ElementType::undefined) call.refuse(ErrorCode::invalid_argument, "'to' is not a type");
  return to;
}

std::string refuse_cast(const Node& node, int) {
  const Attribute* const to = node.find("to");
  if (to == nullptr) return "it does not say the type";
  if (std::holds_alternative<std::string>(to->value)) return "its type is a text";
  return "";
}

Values bit_cast(Call& call) {
  const ElementType to = call.node().element_type("to", ElementType::undefined);
  const auto dtype = carrier_of(to);
  if (!dtype || bits_of(to) != bits_of(call.type()) || is_packed(to))
    call.refuse(ErrorCode::unsupported, "from " + std::string{to_string(call.type())} + " to " +
                                            std::string{to_string(to)});
  return {Value{bitcast(call.x(), *dtype), to}};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "Cast",
             .since = {1, 6, 9, 13, 19, 21, 23, 24, 25},
             .types = {.operands = {any_type}, .results = {NamedBy{"to"}}},
             .attributes = {"to", "saturate", "round_mode"},
             .refuse = &refuse_cast,
             .host = [](Call& call) { return cast_on_host(call, target(call)); },
             .lower = [](Call& call) { return cast_to(call, target(call)); }});
  table.add({.name = "CastLike",
             .since = {15, 19, 21, 23, 24, 25},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = {.operands = {any_type}, .results = {like(1)}},
             .attributes = {"saturate", "round_mode"},
             .lower = [](Call& call) { return cast_to(call, call.type(1)); }});
  table.add({.name = "BitCast",
             .since = {26},
             .types = {.operands = {any_type}, .results = {NamedBy{"to"}}},
             .attributes = {"to"},
             .lower = &bit_cast});
}

}  // namespace stoker::onnx::operators::casting
