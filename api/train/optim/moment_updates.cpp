// The updates of updates.hpp that keep moments.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/slicing.hpp"
#include "stoker/api/train/optim/updates.hpp"

namespace stoker::nn::updates {
namespace {

void check_range(const char* op, const char* name, double value, bool fits, const char* expected) {
  if (fits) return;
  throw Error{op,
              ErrorCode::invalid_parameter,
              "expected '" + std::string{name} + "' " + expected + ", got " + std::to_string(value),
              {{"parameter", name}, {"got", std::to_string(value)}}};
}

void check(const char* op, const Moments& options) {
  const auto decay = [op](const char* name, double b) {
    check_range(op, name, b, b >= 0 && b < 1, "from 0 up to 1, without 1");
  };
  decay("b1", options.b1);
  decay("b2", options.b2);
  check_range(op, "eps", options.eps, options.eps >= 0, "of at least 0");
  check_range(op, "eps_root", options.eps_root, options.eps_root >= 0, "of at least 0");
}

void check(const char* op, const Rms& options) {
  check_range(op, "decay", options.decay, options.decay >= 0 && options.decay <= 1, "from 0 to 1");
  check_range(op, "eps", options.eps, options.eps >= 0, "of at least 0");
}

/// The next moment of x.
Tensor moment(const Tensor& last, const Tensor& x, double decay) {
  return decay * last + (1 - decay) * x;
}

/// [2]: 1 / (1 - b^t) for b1 and b2, in one kernel and of t's dtype. Taken from b^t itself, f32 would
/// be wrong in the fifth digit for b2 = 0.999 and t = 1.
Tensor corrections(const Moments& options, const Tensor& t) {
  // Of 0 the logarithm is infinite; with this one b^t is as little beside 1.
  const auto rate = [&](double b) { return full({}, std::log(std::max(b, 1e-40)), t.dtype()); };
  return -1.0 / expm1(t * select(iota({2}) == 0, rate(options.b1), rate(options.b2)));
}

/// What the updates with two moments differ in.
struct Kind {
  const char* name;
  double initial = 0;
  /// What the next m is made of is always g; this gives the next v.
  std::function<Tensor(const Tensor& v, const Tensor& m, const Tensor& g)> next_v;
  /// The update, of corrected moments and what `shared` gives.
  std::function<Tensor(const Tensor& m, const Tensor& v, const Tensor& shared)> change;
  /// What is the same for all parameters, if there is such a thing; `t` is a scalar of their dtype.
  std::function<Tensor(const Tensor& t)> shared = {};
};

/// What is the same for all parameters of a dtype.
struct OfAll {
  Tensor m;  ///< the corrections
  Tensor v;
  Tensor shared;

  OfAll(const Kind& kind, const Moments& options, const Tensor& step, DType dtype) {
    const Tensor t = as_type(step, dtype);
    const Tensor both = corrections(options, t);
    m = both[0];
    v = both[1];
    if (kind.shared) shared = kind.shared(t);
  }
};

Update of_two_moments(Kind kind, const Moments& options) {
  check(kind.name, options);
  const auto init = [kind](const Parameters& parameters) {
    return SlotGroup{kind.name}
        .fill("m", parameters, kind.initial)
        .fill("v", parameters, kind.initial)
        .put("step", zeros({}, DType::s32))
        .slots();
  };
  return stateful(init, [kind, options](const Parameters& gradients, const Slots& slots,
                                        const Parameters&) {
    SlotGroup group{kind.name, slots};
    const Tensor step = group.count();
    std::map<DType, OfAll> all;  // as exact as the moments that it meets
    Parameters updates = for_each_gradient(gradients, [&](const std::string& name,
                                                          const Tensor& gradient) {
      const Tensor& last = group.get("m", name, gradient);
      const auto found = all.find(last.dtype());
      const OfAll& of =
          found != all.end()
              ? found->second
              : all.emplace(last.dtype(), OfAll{kind, options, step, last.dtype()}).first->second;
      const Tensor g = as_type(gradient, last.dtype());
      const Tensor m = group.put("m", name, moment(last, g, options.b1));
      const Tensor v = group.put("v", name, kind.next_v(group.get("v", name, gradient), m, g));
      return kind.change(m * of.m, v * of.v, of.shared);
    });
    return Updated{std::move(updates), group.slots()};
  });
}

/// m / (sqrt(v + eps_root) + eps).
auto ratio(const Moments& options) {
  return [options](const Tensor& m, const Tensor& v, const Tensor&) {
    return m / (sqrt(v + options.eps_root) + options.eps);
  };
}

/// coth(y) - 1/y for y > 0: by its series where the two nearly cancel, whose next term is below
/// 1e-16 of it there. Abramowitz and Stegun, 4.5.67.
constexpr double series_limit = 0.5;
constexpr std::array<double, 10> series{1.0 / 3,
                                        -1.0 / 45,
                                        2.0 / 945,
                                        -1.0 / 4725,
                                        2.0 / 93555,
                                        -1382.0 / 638512875,
                                        4.0 / 18243225,
                                        -3617.0 / 162820783125,
                                        87734.0 / 38979295480125,
                                        -349222.0 / 1531329465290625};

double langevin(double y) {
  if (y >= series_limit) return 1 / std::tanh(y) - 1 / y;
  double sum = 0;
  for (std::size_t i = series.size(); i-- > 0;) sum = sum * y * y + series[i];
  return y * sum;
}
Tensor langevin(const Tensor& y) {
  const Tensor s = y * y;
  Tensor sum = full({}, series.back(), y.dtype());
  for (std::size_t i = series.size() - 1; i-- > 0;) sum = sum * s + series[i];
  return select(y < series_limit, y * sum, 1 / tanh(y) - 1 / y);
}

/// RAdam's length of the average at step t: 2/(1 - b) - 1 - 2t·b^t/(1 - b^t). For b near 1 both
/// parts are thousands and the difference is near t. With h = -log(b)/2 they are coth(h) and
/// t·(coth(t·h) - 1), which share 1/h; without it nothing cancels.
Tensor average_length(double b, const Tensor& t) {
  const double h = -std::log(b) / 2;
  return t + langevin(h) - t * langevin(t * h);
}

}  // namespace

Update scale_by_adam(const Moments& options) {
  const auto next_v = [b2 = options.b2](const Tensor& v, const Tensor&, const Tensor& g) {
    return moment(v, g * g, b2);
  };
  return of_two_moments({.name = "adam", .next_v = next_v, .change = ratio(options)}, options);
}

Update scale_by_belief(const Moments& options) {
  const auto next_v = [b2 = options.b2](const Tensor& v, const Tensor& m, const Tensor& g) {
    const Tensor surprise = g - m;
    return moment(v, surprise * surprise, b2);
  };
  return of_two_moments({.name = "belief", .next_v = next_v, .change = ratio(options)}, options);
}

Update scale_by_radam(const Moments& options, double threshold) {
  check_range("radam", "b2", options.b2, options.b2 > 0, "above 0");
  // Below 4 there is no variance to rectify by.
  check_range("radam", "threshold", threshold, threshold >= 4, "of at least 4");
  const auto next_v = [b2 = options.b2](const Tensor& v, const Tensor&, const Tensor& g) {
    return moment(v, g * g, b2);
  };
  // The rectification, -1 while there is none.
  const auto rectification = [b2 = options.b2, threshold](const Tensor& t) {
    const double longest = 2 / (1 - b2) - 1;
    const Tensor length = average_length(b2, t);
    const double last = (longest - 4) * (longest - 2) / longest;
    const Tensor r = sqrt((length - 4) * (length - 2) / (length * last));
    return select(length >= threshold, r, -1.0);
  };
  const auto change = [adam = ratio(options)](const Tensor& m, const Tensor& v, const Tensor& r) {
    return select(r >= 0, adam(m, v, r) * r, m);
  };
  return of_two_moments(
      {.name = "radam", .next_v = next_v, .change = change, .shared = rectification}, options);
}

Update scale_by_yogi(const Moments& options, double initial) {
  check_range("yogi", "initial_accumulator_value", initial, initial >= 0, "of at least 0");
  const auto next_v = [b2 = options.b2](const Tensor& v, const Tensor&, const Tensor& g) {
    const Tensor square = g * g;
    return v - (1 - b2) * sign(v - square) * square;
  };
  return of_two_moments(
      {.name = "yogi", .initial = initial, .next_v = next_v, .change = ratio(options)}, options);
}

Update scale_by_rss(double initial, double eps) {
  check_range("rss", "initial_accumulator_value", initial, initial >= 0, "of at least 0");
  check_range("rss", "eps", eps, eps >= 0, "of at least 0");
  return stateful(
      [initial](const Parameters& parameters) {
        return SlotGroup{"rss"}.fill("sum", parameters, initial).slots();
      },
      [eps](const Parameters& gradients, const Slots& slots, const Parameters&) {
        SlotGroup group{"rss", slots};
        Parameters updates =
            for_each_gradient(gradients, [&](const std::string& name, const Tensor& gradient) {
              const Tensor& last = group.get("sum", name, gradient);
              const Tensor g = as_type(gradient, last.dtype());
              const Tensor sum = group.put("sum", name, last + g * g);
              return select(sum > 0, g * rsqrt(sum + eps), 0.0);
            });
        return Updated{std::move(updates), group.slots()};
      });
}

Update scale_by_rms(const Rms& options) {
  check("rms", options);
  return stateful(
      [options](const Parameters& parameters) {
        return SlotGroup{"rms"}.fill("v", parameters, options.initial).slots();
      },
      [options](const Parameters& gradients, const Slots& slots, const Parameters&) {
        SlotGroup group{"rms", slots};
        Parameters updates =
            for_each_gradient(gradients, [&](const std::string& name, const Tensor& gradient) {
              const Tensor& last = group.get("v", name, gradient);
              const Tensor g = as_type(gradient, last.dtype());
              const Tensor v = group.put("v", name, moment(last, g * g, options.decay));
              return g * rsqrt(v + options.eps);
            });
        return Updated{std::move(updates), group.slots()};
      });
}

Update scale_by_stddev(const Rms& options) {
  check("stddev", options);
  return stateful(
      [options](const Parameters& parameters) {
        return SlotGroup{"stddev"}
            .fill("m", parameters, 0)
            .fill("v", parameters, options.initial)
            .slots();
      },
      [options](const Parameters& gradients, const Slots& slots, const Parameters&) {
        SlotGroup group{"stddev", slots};
        Parameters updates =
            for_each_gradient(gradients, [&](const std::string& name, const Tensor& gradient) {
              const Tensor& last = group.get("v", name, gradient);
              const Tensor g = as_type(gradient, last.dtype());
              const Tensor m =
                  group.put("m", name, moment(group.get("m", name, gradient), g, options.decay));
              const Tensor v = group.put("v", name, moment(last, g * g, options.decay));
              // Rounding must not make the variance negative.
              return g * rsqrt(max(v - m * m, 0.0) + options.eps);
            });
        return Updated{std::move(updates), group.slots()};
      });
}

}  // namespace stoker::nn::updates
