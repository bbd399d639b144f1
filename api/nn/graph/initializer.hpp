// Initial values of variables.
//
//     y = dense(x, 16, {.kernel_initializer = initializers::he_normal});
//     y = dense(x, 16, {.kernel_initializer = initializers::Normal{.scale = 0.02}});
//     Initializer normal = initializer("normal(scale=0.02)");
//
// Each except `full` has a function that names it; those with options also have a struct.
//
// LeCun et al., "Efficient BackProp", 1998; Glorot and Bengio, AISTATS 2010; He et al.,
// arXiv:1502.01852. The same key gives the same numbers on every device, except for rounding in
// orthogonal.
//
// Pure functions; any thread. Errors are thrown: not_found for an unknown name, invalid_parameter for
// options out of range, shape_mismatch for shapes that an initializer cannot fill.
#pragma once

#include <functional>

#include "stoker/api/nn/graph/choice.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

/// Fan-in and fan-out: how many inputs one output depends on, and how many outputs one input
/// affects.
struct Fans {
  double in = 1;
  double out = 1;
};
/// The fans of a kernel {in, out} or {space…, in, out}; each spatial position counts. For a vector
/// both are its length.
[[nodiscard]] Fans fans(const Shape& kernel);

/// Takes a key u32[2], a shape and a float dtype. "zeros" and "ones" need no key and support any
/// dtype.
using Initializer = std::function<Tensor(const Tensor& key, const Shape&, DType)>;

/// The type by which a layer's options name an initializer.
using InitializerName = Choice<struct InitializerFamily>;
[[nodiscard]] Initializer initializer(const InitializerName& wanted);
/// All initializers, in the order of the table.
[[nodiscard]] std::vector<NamedKind> initializer_kinds();

namespace initializers {
[[nodiscard]] inline InitializerName zeros() { return "zeros"; }
[[nodiscard]] inline InitializerName ones() { return "ones"; }
[[nodiscard]] inline InitializerName identity() { return "identity"; }
[[nodiscard]] inline InitializerName uniform() { return "uniform"; }
[[nodiscard]] inline InitializerName normal() { return "normal"; }
[[nodiscard]] inline InitializerName lecun_uniform() { return "lecun_uniform"; }
[[nodiscard]] inline InitializerName lecun_normal() { return "lecun_normal"; }
[[nodiscard]] inline InitializerName glorot_uniform() { return "glorot_uniform"; }
[[nodiscard]] inline InitializerName glorot_normal() { return "glorot_normal"; }
[[nodiscard]] inline InitializerName he_uniform() { return "he_uniform"; }
[[nodiscard]] inline InitializerName he_normal() { return "he_normal"; }
[[nodiscard]] inline InitializerName variance_scaling() { return "variance_scaling"; }
[[nodiscard]] inline InitializerName orthogonal() { return "orthogonal"; }

struct Full {
  using Family = InitializerName;
  static constexpr const char* kind = "full";
  Required<double> value = {};
};
template <class V> void visit_options(Full& o, V&& visit) {
  visit("value", o.value, anything, "value of every element");
}

template <class O, class V> void visit_scale(O& o, V&& visit, const char* text) {
  visit("scale", o.scale, at_least(0), text);
}

/// Uniform in [-scale, scale).
struct Uniform {
  using Family = InitializerName;
  static constexpr const char* kind = "uniform";
  double scale = 0.01;
};
template <class V> void visit_options(Uniform& o, V&& visit) {
  visit_scale(o, visit, "numbers are at least -scale and at most scale");
}

struct Normal {
  using Family = InitializerName;
  static constexpr const char* kind = "normal";
  double mean = 0;
  double scale = 0.01;
};
template <class V> void visit_options(Normal& o, V&& visit) {
  visit("mean", o.mean, anything, "mean of the numbers");
  visit_scale(o, visit, "standard deviation of the numbers");
}

/// variance_scaling with mode fan_in (LeCun, He) or fan_avg (Glorot), with uniform or truncated
/// normal numbers.
template <KindName Kind, int Scale> struct ScalingOf {
  using Family = InitializerName;
  static constexpr const char* kind = Kind.text;
  double scale = Scale;
};
using LecunUniform = ScalingOf<"lecun_uniform", 1>;
using LecunNormal = ScalingOf<"lecun_normal", 1>;
using GlorotUniform = ScalingOf<"glorot_uniform", 1>;
using GlorotNormal = ScalingOf<"glorot_normal", 1>;
using HeUniform = ScalingOf<"he_uniform", 2>;
using HeNormal = ScalingOf<"he_normal", 2>;
template <KindName Kind, int Scale, class V>
void visit_options(ScalingOf<Kind, Scale>& o, V&& visit) {
  visit_scale(o, visit, "the variance times the fan");
}

/// Which fan counts; `average` is (in + out)/2.
enum class Fan : std::uint8_t { in, out, average };
/// truncated_normal is cut off at two standard deviations and rescaled to keep the variance.
enum class Distribution : std::uint8_t { normal, truncated_normal, uniform };

/// Random numbers with variance scale/fan.
struct VarianceScaling {
  using Family = InitializerName;
  static constexpr const char* kind = "variance_scaling";
  double scale = 0.01;
  Fan mode = Fan::in;
  Distribution distribution = Distribution::normal;
};
template <class V> void visit_options(VarianceScaling& o, V&& visit) {
  visit_scale(o, visit, "the variance times the fan");
  visit("mode", o.mode,
        one_of<Fan>({{"fan_in", Fan::in}, {"fan_out", Fan::out}, {"fan_avg", Fan::average}}),
        "which fan: the number of inputs, of outputs, or the mean of both");
  visit("distribution", o.distribution,
        one_of<Distribution>({{"normal", Distribution::normal},
                              {"truncated_normal", Distribution::truncated_normal},
                              {"uniform", Distribution::uniform}}),
        "distribution of the numbers");
}

/// Orthonormal rows or columns (Saxe et al., arXiv:1312.6120). With more than two axes, all but the
/// last are flattened into one.
struct Orthogonal {
  using Family = InitializerName;
  static constexpr const char* kind = "orthogonal";
  Distribution distribution = Distribution::normal;
};
template <class V> void visit_options(Orthogonal& o, V&& visit) {
  visit(
      "distribution", o.distribution,
      one_of<Distribution>({{"normal", Distribution::normal}, {"uniform", Distribution::uniform}}),
      "distribution of the numbers");
}

}  // namespace initializers

}  // namespace stoker::nn
