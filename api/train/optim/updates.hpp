// The updates from which optimizers are composed; see update.hpp.
//
//     Update update = compose(updates::trace({.decay = 0.95}), updates::add_decayed_weights(0.1),
//                             updates::scale_by_learning_rate(1e-4));
//
// Below, g is the gradient, p the parameter, t the step from 1, m and v moments with bias
// correction where written m^ = m/(1 - b1^t), v^ = v/(1 - b2^t). Values common to all parameters
// are computed once, as scalars; the rest is a few elementwise operations for each parameter, which
// fuse.
//
// Where Polaris deviates from the paper it cites, these functions follow the paper: scale_by_belief
// uses the gradient's distance from its mean (Polaris g^2, which is Adam), scale_by_radam uses b2
// for the length of the average (Polaris b1).
//
// Sources: Adam (Kingma and Ba, arXiv:1412.6980), AdaGrad (Duchi et al., JMLR 12), RMSProp (Hinton,
// lecture 6), AdaBelief (Zhuang et al., arXiv:2010.07468), RAdam (Liu et al., arXiv:1908.03265),
// Yogi (Zaheer et al., NeurIPS 2018), LAMB (You et al., arXiv:1904.00962), gradient noise
// (Neelakantan et al., arXiv:1511.06807), centralization (Yong et al., arXiv:2004.01461).
//
// Pure functions; any thread. Errors are thrown: invalid_parameter for a number out of range, at
// the call that makes the update.
#pragma once

#include <cstdint>

#include "stoker/api/train/optim/schedule.hpp"
#include "stoker/api/train/optim/update.hpp"

namespace stoker::nn::updates {

/// The slot through which callers change the learning rate.
inline constexpr const char* learning_rate_scale = "learning_rate_scale";
/// The slot with a schedule's step counter.
inline constexpr const char* learning_rate_step = "learning_rate.step";

// By a number -------------------------------------------------------------------------------------

/// factor·g.
[[nodiscard]] Update scale(double factor);
/// The same, with the factor in the slot "scale", which callers may change.
[[nodiscard]] Update scale_by_state(double factor);
/// schedule(t - 1)·g; the step counter is the slot "schedule.step".
[[nodiscard]] Update scale_by_schedule(Schedule schedule);
/// -rate·s·g, where s is the slot "learning_rate_scale", initially 1, which callers may change
/// between steps without a new trace. A schedule's step counter is the slot "learning_rate.step".
[[nodiscard]] Update scale_by_learning_rate(double rate);
[[nodiscard]] Update scale_by_learning_rate(Schedule schedule);

// By moments --------------------------------------------------------------------------------------

struct Moments {
  double b1 = 0.9;    ///< of g, in [0, 1)
  double b2 = 0.999;  ///< of g^2, in [0, 1)
  double eps = 1e-8;
  double eps_root = 0;
};
/// m^ / (sqrt(v^ + eps_root) + eps). Slots "adam.m", "adam.v", "adam.step".
[[nodiscard]] Update scale_by_adam(const Moments& options = {.eps_root = 1e-15});
/// The same with v the moment of (g - m)^2. Slots "belief.…".
[[nodiscard]] Update scale_by_belief(const Moments& options = {.eps = 0, .eps_root = 1e-16});
/// Adam's result times the rectification r(t); only m^ while the length of the average is below the
/// threshold, which must be at least 4. Slots "radam.…".
[[nodiscard]] Update scale_by_radam(const Moments& options = {}, double threshold = 5);
/// As Adam, but the next v is v - (1 - b2)·sign(v - g^2)·g^2; both moments start at `initial`.
/// Slots "yogi.…".
[[nodiscard]] Update scale_by_yogi(const Moments& options = {}, double initial = 0);

/// g / sqrt(sum + eps), where sum is `initial` plus all g^2 so far. Slots "rss.sum".
[[nodiscard]] Update scale_by_rss(double initial = 0.1, double eps = 1e-7);
struct Rms {
  double decay = 0.9;  ///< in [0, 1]
  double eps = 1e-8;
  double initial = 0;  ///< the moment of g^2 before the first step
};
/// g / sqrt(v + eps), v = decay·v + (1 - decay)·g^2. Slots "rms.v".
[[nodiscard]] Update scale_by_rms(const Rms& options = {});
/// g / sqrt(v - m^2 + eps), m being the same moment of g. Slots "stddev.m", "stddev.v".
[[nodiscard]] Update scale_by_stddev(const Rms& options = {});

/// The trace v = decay·v + g; nesterov: decay·v + g of the new v. Slots "trace.v".
struct Trace {
  double decay = 0.9;
  bool nesterov = false;
};
[[nodiscard]] Update trace(const Trace& options = {});

// By properties of parameters and gradients -------------------------------------------------------

/// Clamps each element to [-delta, delta].
[[nodiscard]] Update clip(double delta = 2);
/// Multiplies all gradients by max_norm / (norm + eps) if their global norm is at least max_norm.
[[nodiscard]] Update clip_by_global_norm(double max_norm = 1, double eps = 0);
/// For rank 2 and more: g minus its mean over all axes but the last; for a kernel these axes are
/// the inputs of one unit.
[[nodiscard]] Update centralize();
/// g + decay·p.
[[nodiscard]] Update add_decayed_weights(double decay = 0);
struct TrustRatio {
  double min_norm = 0;  ///< lower bound of norms
  double trust_coefficient = 1;
  double eps = 0;
};
/// g·coefficient·|p| / (|g| + eps), separately for each parameter; g where a norm is 0.
[[nodiscard]] Update scale_by_trust_ratio(const TrustRatio& options = {});

// Other -------------------------------------------------------------------------------------------

struct Noise {
  double eta = 0.01;
  double gamma = 0.55;
  std::uint64_t seed = 0;
};
/// g plus normal noise with standard deviation eta / t^gamma, as in Polaris (in the paper that is
/// the variance). Slots "noise.step", "noise.key": equal seeds give equal numbers.
[[nodiscard]] Update add_noise(const Noise& options = {});

/// Applies `inner` at every steps-th step, to the mean of the gradients since the last time. Other
/// steps give 0 and keep inner's slots. Slots "accumulate.sum", "accumulate.step" and those of
/// inner. (Inner is computed at every step and its result dropped: this fuses, while a branch would
/// make the host wait for the counter.)
[[nodiscard]] Update accumulate_gradients(std::int64_t steps, Update inner);

}  // namespace stoker::nn::updates
