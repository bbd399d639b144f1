// slice(b, {…}): a part of a buffer by position, one entry for each axis from the first on.
//
//     slice(b, {0})              the first row
//     slice(b, {0, -1})          the last element of the first row
//     slice(b, {{}, {1, 4}})     columns 1, 2 and 3
//     slice(b, {{nil, nil, 2}})  every second row
//
// As x[…] of tensors: positions count from 0, negative ones from the end, ranges go without their end, a
// position takes its axis away, and what is out of range is refused.
//
// Where a part begins is data, so that a loop over parts is compiled once. A part that begins at the front of
// each axis without being told to is a view, which costs nothing.

#include <algorithm>
#include <array>

#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/lua/value_text.hpp"
#include "stoker/pipeline/script/run/script.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::script {
namespace {

/// What is taken of one axis.
struct Span {
  std::int64_t start = 0;
  std::int64_t length = 0;  ///< of the elements that it spans
  std::int64_t step = 1;
  bool keeps_axis = true;
  bool is_placed = false;  ///< the script says where it begins

  [[nodiscard]] std::int64_t count() const noexcept {
    return length == 0 ? 0 : (length - 1) / step + 1;
  }
};

[[noreturn]] void refuse(lua_State* L, const TensorSpec& spec, std::size_t axis, int entry) {
  const std::string asked = value_text(L, entry);
  raise(L, Error{"slice",
                 ErrorCode::invalid_parameter,
                 "axis " + std::to_string(axis) + " of " + spec.to_string() + " has no " +
                     (lua_istable(L, entry) ? "range " : "position ") + asked,
                 {{"input", spec.to_string()}, {"axis", std::to_string(axis)}, {"asked", asked}}});
}

[[noreturn]] void refuse_entry(lua_State* L, std::size_t axis, int entry) {
  raise(L, Error{"slice",
                 ErrorCode::invalid_parameter,
                 "what is taken of an axis is a position or a range {first, end, step}",
                 {{"axis", std::to_string(axis)}, {"got", value_text(L, entry)}}});
}

/// The integers {first, end, step} of the table at `entry`, each of which may be left out.
std::array<std::optional<std::int64_t>, 3> check_range(lua_State* L, std::size_t axis, int entry) {
  std::array<std::optional<std::int64_t>, 3> range;
  lua_pushnil(L);
  while (lua_next(L, entry) != 0) {
    spend(L, 1);
    const bool known = lua_isinteger(L, -2) != 0 && lua_isinteger(L, -1) != 0;
    const lua_Integer place = known ? lua_tointeger(L, -2) : 0;
    if (place < 1 || place > 3) refuse_entry(L, axis, entry);
    range[static_cast<std::size_t>(place - 1)] = lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  return range;
}

Span check_span(lua_State* L, const TensorSpec& spec, std::size_t axis, int entry) {
  const std::int64_t extent = spec.shape[axis];
  const auto from_start = [&](std::int64_t place) { return place < 0 ? place + extent : place; };
  if (lua_isinteger(L, entry) != 0) {
    const std::int64_t position = from_start(lua_tointeger(L, entry));
    if (position < 0 || position >= extent) refuse(L, spec, axis, entry);
    return {position, 1, 1, false, true};
  }
  if (!lua_istable(L, entry)) refuse_entry(L, axis, entry);
  const auto [first, end, step] = check_range(L, axis, entry);
  const std::int64_t start = from_start(first.value_or(0));
  const std::int64_t stop = from_start(end.value_or(extent));
  if (start < 0 || stop > extent || start > stop || step.value_or(1) < 1)
    refuse(L, spec, axis, entry);
  // One that leads beyond the end takes the first alone, however long it is.
  const std::int64_t length = stop - start;
  return {start, length, std::min(step.value_or(1), std::max<std::int64_t>(length, 1)), true,
          first.has_value()};
}

/// The spans of all axes, of which those that are not named stay whole.
std::vector<Span> check_spans(lua_State* L, const TensorSpec& spec, int table) {
  const std::size_t named = lua_rawlen(L, table);
  lua_pushnil(L);
  while (lua_next(L, table) != 0) {
    spend(L, 1);
    const bool listed = lua_isinteger(L, -2) != 0 && lua_tointeger(L, -2) >= 1 &&
                        static_cast<std::size_t>(lua_tointeger(L, -2)) <= named;
    if (!listed)
      raise(
          L,
          Error{
              "slice",
              ErrorCode::invalid_parameter,
              "the entries are a list, one for each axis from the first on; {} takes an axis whole",
              {{"got", value_text(L, lua_gettop(L) - 1)}}});
    lua_pop(L, 1);
  }
  if (named > spec.shape.rank())
    raise(L, Error{"slice",
                   ErrorCode::invalid_parameter,
                   std::to_string(named) + " entries for " + std::to_string(spec.shape.rank()) +
                       " axes of " + spec.to_string(),
                   {{"input", spec.to_string()}, {"got", std::to_string(named)}}});
  std::vector<Span> spans;
  for (std::size_t axis = 0; axis < spec.shape.rank(); ++axis) {
    if (axis >= named) {
      spans.push_back({0, spec.shape[axis]});
      continue;
    }
    lua_rawgeti(L, table, static_cast<lua_Integer>(axis) + 1);
    spans.push_back(check_span(L, spec, axis, lua_gettop(L)));
    lua_pop(L, 1);
  }
  return spans;
}

/// `starting` makes a value of where the spans begin.
template <class Starting>
expr::Value part_of(const expr::Value& x, std::span<const Span> spans, const Starting& starting) {
  static constinit expr::NamedOp dynamic_slice{"dynamic_slice"};
  std::vector<std::int64_t> starts, lengths, steps, kept;
  bool is_placed = false, is_empty = false;
  for (const Span& span : spans) {
    starts.push_back(span.start);
    lengths.push_back(span.length);
    steps.push_back(span.step);
    if (span.keeps_axis) kept.push_back(span.count());
    is_placed |= span.is_placed;
    is_empty |= span.length == 0;
  }
  const expr::Value box = is_placed && !is_empty
                              ? expr::apply_one(dynamic_slice, {x, starting(starts)},
                                                {{"lengths", lengths}, {"strides", steps}})
                              : expr::slice(x, starts, lengths, steps);
  return expr::reshape(box, Shape::make(kept, "slice"));
}

}  // namespace

int slice(lua_State* L, Script& script) {
  const expr::Value x = check_buffer(L, 1, "slice");
  luaL_checktype(L, 2, LUA_TTABLE);
  if (lua_gettop(L) > 2)
    raise(L, Error{"slice",
                   ErrorCode::arity_mismatch,
                   "expected a buffer and one table with an entry for each axis",
                   {}});
  const std::vector<Span> spans = check_spans(L, x.spec(), 2);
  const auto starting = [&](const std::vector<std::int64_t>& starts) {
    const TensorSpec spec{DType::s64, Shape{static_cast<std::int64_t>(starts.size())}};
    return script.evaluator().number(spec, std::as_bytes(std::span{starts})).value();
  };
  const auto made = script.evaluator().call(
      "slice", current_line(L), {&x, 1}, [&] { return std::vector{part_of(x, spans, starting)}; });
  const expr::Value part = value_or_raise(L, made)[0];
  spend(L, 400);  // about as long as that many instructions
  push_buffer(L, part);
  return 1;
}

}  // namespace stoker::script
