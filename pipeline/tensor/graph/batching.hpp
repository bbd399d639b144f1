// Batching: a function of single elements as a function of many, by rewriting its graph. Every operation
// becomes one that computes all elements at once, by the rule beside its definition (Op::batch); one
// without a rule is called for each element.
//
// What this makes are values like any other: they can be differentiated and batched again. The idea is
// that of Frostig, Johnson, Leary, "Compiling machine learning programs via high-level tracing", 2018.
//
// Threads: any.
#pragma once

#include <initializer_list>

#include "stoker/pipeline/tensor/graph/function.hpp"
#include "stoker/pipeline/tensor/graph/op.hpp"

namespace stoker::expr {

/// The function's results for each of `size` elements, along a leading axis. Where `mapped` is not 0 an
/// argument has its elements along its leading axis; else it is the same for all. `begin` is a serial
/// number from before the function was traced; what it stands on beside its parameters is the same for
/// all, too. Precondition: the arguments of one element have the parameters' specs.
[[nodiscard]] std::vector<Value> batched(const Function& function, std::span<const Value> arguments,
                                         std::span<const std::uint8_t> mapped, std::int64_t size,
                                         std::uint64_t begin = 0);
/// The function of all elements: where `mapped` is not 0 its parameters have a leading axis, and all of
/// its results do.
[[nodiscard]] Function batched(const Function& function, std::span<const std::uint8_t> mapped,
                               std::int64_t size);

// For rules -----------------------------------------------------------------------------------------
/// The shape with an axis in front.
[[nodiscard]] Shape with_leading(std::int64_t extent, const Shape& shape);
/// The spec of input `i` for one element.
[[nodiscard]] TensorSpec element_spec(const Batch& b, std::size_t i = 0);
/// Input `i` with a leading axis in any case: repeated if it is the same for all.
[[nodiscard]] Value spread(const Batch& b, std::size_t i = 0);
/// All inputs so.
[[nodiscard]] Values spread_all(const Batch& b);
/// Axes of one element as axes of all: one higher. Negative ones count from the end of `rank`.
[[nodiscard]] std::int64_t shifted(std::int64_t axis, std::size_t rank);
[[nodiscard]] std::vector<std::int64_t> shifted(std::span<const std::int64_t> axes,
                                                std::size_t rank);
/// A list that has an entry for each axis, with one for the leading axis.
[[nodiscard]] std::vector<std::int64_t> prefixed(std::int64_t first,
                                                 std::span<const std::int64_t> list);
/// The attributes with others in the place of some.
[[nodiscard]] Attributes with(const Attributes& attributes,
                              std::initializer_list<Params::Entry> entries);
/// The axis at `from` moved to the front.
[[nodiscard]] Value moved_to_front(const Value& x, std::size_t from);

/// One number for each element [size], with as many axes as `like`, whose leading axis is theirs.
[[nodiscard]] Value behind_leading(const Value& numbers, const Value& like);

// Rules that many have ------------------------------------------------------------------------------
/// Of functions of single elements: shapes are aligned behind the leading axis.
[[nodiscard]] Values batch_elements(const Batch& b);
/// Of what treats leading axes alike anyway.
[[nodiscard]] Values batch_leading(const Batch& b);
/// Of what works along the attribute "axis".
[[nodiscard]] Values batch_axis(const Batch& b);
/// One call for each element.
[[nodiscard]] Values batch_one_by_one(const Batch& b);

}  // namespace stoker::expr
