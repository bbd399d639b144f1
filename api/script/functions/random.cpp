// Random numbers from keys: a key is u32[2]. Functions that draw give the numbers and the key to draw with next.
#include "stoker/api/tensor/math/random.hpp"

#include "stoker/api/script/functions/function_table.hpp"
#include "stoker/api/tensor/math/random_vectors.hpp"

namespace stoker::script {
namespace {

using Call = FunctionCall;

void define_keys(FunctionTable& table) {
  table.add("random_key", {0, 0}, {integer_option("seed", {}, "the number that it is made of", 0)},
            "a key of random numbers, u32[2]", [](const Call& c) {
              return random::key(static_cast<std::uint64_t>(c.integer("seed")));
            });
  table.add("random_split", {1, 1}, {integer_option("parts", 2, "number of keys", 1)},
            "independent keys [parts, 2], made of one",
            [](const Call& c) { return random::split(c.x(), c.integer("parts")); });
  ParamSpec data = integer_option("data", {}, "the number of the new key", 0);
  data.max = 4294967295.0;
  table.add("random_fold_in", {1, 1}, {std::move(data)},
            "the key of that number, made of another key", [](const Call& c) {
              return random::fold_in(c.x(), static_cast<std::uint32_t>(c.integer("data")));
            });
}

void define_draws(FunctionTable& table) {
  table.add("random_uniform", {1, 1},
            {shape_option(), real_option("low", 0, "smallest number"),
             real_option("high", 1, "all numbers are less than this"), dtype_option(DType::f32)},
            "uniform numbers from low to below high, and the next key", [](const Call& c) {
              return random::uniform(c.x(), c.shape(), c.real("low"), c.real("high"), c.dtype());
            });
  table.add(
      "random_normal", {1, 1},
      {shape_option(), real_option("mean", 0, "mean of the numbers"),
       real_option("deviation", 1, "standard deviation of the numbers"), dtype_option(DType::f32)},
      "normal numbers, and the next key", [](const Call& c) {
        return random::normal(c.x(), c.shape(), c.real("mean"), c.real("deviation"), c.dtype());
      });
  table.add("random_randint", {1, 1},
            {integer_option("low", {}, "smallest number"),
             integer_option("high", {}, "all numbers are less than this"), shape_option(),
             dtype_option(DType::s32)},
            "integers from low to below high, and the next key", [](const Call& c) {
              return random::randint(c.x(), c.integer("low"), c.integer("high"), c.shape(),
                                     c.dtype());
            });
  table.add("random_gumbel", {1, 1}, {shape_option(), dtype_option(DType::f32)},
            "-log(-log(u)) of uniform numbers u, and the next key",
            [](const Call& c) { return random::gumbel(c.x(), c.shape(), c.dtype()); });
}

void define_orders(FunctionTable& table) {
  table.add("random_shuffle", {2, 2},
            {axis_option(0, "the axis along which slices change places"),
             flag_option("independent", false, "each line along the axis in an order of its own")},
            "the second input in random order, and the next key; the first input is the key",
            [](const Call& c) {
              return random::shuffle(c.x(0), c.x(1), c.integer("axis"), c.flag("independent"));
            });
  table.add("random_choice", {2, 3},
            {integer_option("samples", 1, "number of slices", 1),
             axis_option(0, "the axis of the slices"),
             flag_option("replace", true, "a slice may be drawn several times")},
            "slices of the second input drawn at random, and the next key; the first input is the "
            "key, the third gives relative weights",
            [](const Call& c) {
              return random::choice(c.x(0), c.x(1),
                                    {c.integer("samples"), c.integer("axis"), c.flag("replace"),
                                     c.count() == 3 ? c.x(2) : Tensor{}});
            });
  table.add(
      "random_multivariate_normal", {3, 3},
      {integers_option("shape", "how many vectors; empty: as many as means and covariances", 0),
       choice_option("root", "cholesky", {"cholesky", "eigh", "svd"},
                     "how the root of the covariance is computed; eigh and svd take singular "
                     "ones, too"),
       dtype_option(DType::f32)},
      "normal vectors around means [.., n] with covariances [.., n, n], and the next key; "
      "the inputs are key, means and covariances",
      [](const Call& c) {
        const std::string& root = c.text("root");
        return random::multivariate_normal(
            c.x(0), c.x(1), c.x(2),
            {c.integers("shape").empty() ? std::nullopt : std::optional{c.shape()},
             root == "eigh"  ? random::Root::eigh
             : root == "svd" ? random::Root::svd
                             : random::Root::cholesky,
             c.dtype()});
      });
}

}  // namespace

void define_random(FunctionTable& table) {
  define_keys(table);
  define_draws(table);
  define_orders(table);
}

}  // namespace stoker::script
