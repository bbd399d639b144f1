// Transformations of programs that keep their results. Each is one file.
//
// Threads: any, a program on one at a time.
#pragma once

#include "stoker/pipeline/tensor/program/program.hpp"

namespace stoker::expr {

/// Takes out custom_gradient, which has done its work when there is a program.
void inline_custom_gradients(Program& program);

/// Removes what changes nothing: x + 0, x · 1, casts and shapes that are there already, a transposition
/// of a transposition. Nothing that could change a NaN, an infinity or the sign of a zero.
void simplify(Program& program);

/// Computes what depends on constants of one number alone.
void fold_constants(Program& program);

/// Computes equal things once.
void share_equals(Program& program);

/// Lets chains of convolutions, and what stands between them, run with channels last: where most convolutions of the
/// program are of f32 images and wide enough, the CPU's library reads and writes them as they lie. Transpositions stay
/// at the edges only.
void channels_last(Program& program);

/// Gives large transpositions memory of their own, by a kernel that goes tile by tile: reading through
/// them costs more than that, because neighbours are far apart.
void copy_transposes(Program& program);

/// All of them in their order; channels_last() where that is what the device's convolutions like.
void optimize(Program& program, bool with_channels_last = false);

}  // namespace stoker::expr
