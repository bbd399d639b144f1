// argmax and argmin as types (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

/// Which of equal elements: the first or the last.
enum class TieBreak : std::uint8_t { low, high };

template <KindName Name> struct ArgReduceOf {
  static constexpr KernelName kind{Name.text};
  std::int64_t axis = 0;
  TieBreak tie_break = TieBreak::low;
  bool keepdims = false;
};
template <KindName Name, class V> void visit_options(ArgReduceOf<Name>& o, V&& visit) {
  visit("axis", o.axis, anything, "the axis to search along; a negative one counts from the end");
  visit("tie_break", o.tie_break,
        one_of<TieBreak>({{"low", TieBreak::low}, {"high", TieBreak::high}}),
        "which of equal elements: the first or the last");
  visit("keepdims", o.keepdims, anything, "keeps the axis, with extent 1");
}
using Argmax = ArgReduceOf<"argmax">;
using Argmin = ArgReduceOf<"argmin">;

using ArgReduceKernels = KernelTypes<Argmax, Argmin>;

}  // namespace stoker::kernels
