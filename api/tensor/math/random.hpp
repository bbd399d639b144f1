// Random numbers from keys: a key is u32[2], and the same key gives the same numbers on every device.
//
//     Tensor key = random::key(42);
//     auto [noise, next] = random::normal(key, {3, 4});
//
// Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC11), with the layout of Nx, so both give the same numbers. Each draw returns the next key;
// drawing twice with one key gives the same numbers.
//
// Threads: any. Errors are thrown: invalid_parameter, shape_mismatch.
#pragma once

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::random {

[[nodiscard]] Tensor key(std::uint64_t seed);
/// [parts, 2]: independent keys.
[[nodiscard]] Tensor split(const Tensor& key, std::int64_t parts = 2);
/// Derives the key number `data` from a key.
[[nodiscard]] Tensor fold_in(const Tensor& key, std::uint32_t data);

struct Drawn {
  Tensor values;
  Tensor next;  ///< the key to draw with next
};

/// In [low, high).
[[nodiscard]] Drawn uniform(const Tensor& key, const Shape& shape = {}, double low = 0,
                            double high = 1, DType dtype = DType::f32);
/// Normal numbers. For complex dtypes both parts are normal, and the whole number has that
/// deviation.
[[nodiscard]] Drawn normal(const Tensor& key, const Shape& shape = {}, double mean = 0,
                           double deviation = 1, DType dtype = DType::f32);
/// Integers in [low, high). Throws invalid_parameter unless the integer dtype can hold them.
[[nodiscard]] Drawn randint(const Tensor& key, std::int64_t low, std::int64_t high,
                            const Shape& shape = {}, DType dtype = DType::s32);
/// -log(-log(u)).
[[nodiscard]] Drawn gumbel(const Tensor& key, const Shape& shape = {}, DType dtype = DType::f32);
/// Permutes the slices along an axis; `independent` permutes each line along the axis separately.
[[nodiscard]] Drawn shuffle(const Tensor& key, const Tensor& x, std::int64_t axis = 0,
                            bool independent = false);
/// How to draw `samples` slices along an axis, with or without replacement. `weights` are relative
/// probabilities; they need not add up to 1.
struct Choice {
  std::int64_t samples = 1;
  std::int64_t axis = 0;
  bool replace = true;
  Tensor weights = {};
};
[[nodiscard]] Drawn choice(const Tensor& key, const Tensor& x, const Choice& how = {});

// With a key from split() that is used for nothing else: returns only the values ------------------
[[nodiscard]] Tensor uniform_split(const Tensor& key, const Shape& shape = {}, double low = 0,
                                   double high = 1, DType dtype = DType::f32);
[[nodiscard]] Tensor normal_split(const Tensor& key, const Shape& shape = {}, double mean = 0,
                                  double deviation = 1, DType dtype = DType::f32);
[[nodiscard]] Tensor randint_split(const Tensor& key, std::int64_t low, std::int64_t high,
                                   const Shape& shape = {}, DType dtype = DType::s32);
[[nodiscard]] Tensor gumbel_split(const Tensor& key, const Shape& shape = {},
                                  DType dtype = DType::f32);

}  // namespace stoker::random
