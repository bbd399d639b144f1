#include "stoker/api/train/optim/updates.hpp"

#include <cmath>
#include <numeric>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/math/reductions.hpp"

namespace stoker::nn::updates {
namespace {

void check_not_negative(const char* op, const char* name, double value) {
  if (value >= 0) return;
  throw Error{op,
              ErrorCode::invalid_parameter,
              "expected '" + std::string{name} + "' of at least 0, got " + std::to_string(value),
              {{"parameter", name}, {"got", std::to_string(value)}}};
}

Tensor widened(const Tensor& x) { return as_type(x, update_dtype(x.dtype())); }

/// For each gradient by itself.
Update each(std::function<Tensor(const Tensor& gradient)> change) {
  return stateless([change = std::move(change)](const Parameters& gradients, const Parameters&) {
    return for_each_gradient(
        gradients, [&](const std::string&, const Tensor& gradient) { return change(gradient); });
  });
}

/// For each gradient with its parameter, both widened.
Update each_with_parameter(
    std::function<Tensor(const Tensor& gradient, const Tensor& parameter)> change) {
  return stateless(
      [change = std::move(change)](const Parameters& gradients, const Parameters& parameters) {
        return for_each_gradient(gradients, [&](const std::string& name, const Tensor& gradient) {
          return change(widened(gradient), widened(named_tensor(parameters, name, "parameter")));
        });
      });
}

/// All of them times one scalar.
Parameters scaled(const Parameters& gradients, const Tensor& factor) {
  return for_each_gradient(gradients, [&](const std::string&, const Tensor& gradient) {
    const Tensor wide = widened(gradient);
    return wide * as_type(factor, wide.dtype());
  });
}

/// A sum of scalars as a balanced tree: f32 loses less.
Tensor total(std::vector<Tensor> terms) {
  while (terms.size() > 1) {
    std::vector<Tensor> halves;
    for (std::size_t i = 0; i + 1 < terms.size(); i += 2) halves.push_back(terms[i] + terms[i + 1]);
    if (terms.size() % 2 == 1) halves.push_back(terms.back());
    terms = std::move(halves);
  }
  return terms.front();
}

Tensor norm(const Tensor& x) { return sqrt(sum(x * x)); }

}  // namespace

Update scale(double factor) {
  return each([factor](const Tensor& gradient) { return widened(gradient) * factor; });
}

Update scale_by_state(double factor) {
  return stateful(
      [factor](const Parameters& parameters) {
        bool doubles = false;
        for (const auto& [name, parameter] : parameters) doubles |= parameter.dtype() == DType::f64;
        return Slots{{"scale", full({}, factor, doubles ? DType::f64 : DType::f32)}};
      },
      [](const Parameters& gradients, const Slots& slots, const Parameters&) {
        return Updated{scaled(gradients, named_tensor(slots, "scale", "slot")), {}};
      });
}

Update scale_by_schedule(Schedule schedule) {
  if (!schedule)
    throw Error{"scale_by_schedule", ErrorCode::invalid_argument, "expected a schedule, got none"};
  return stateful(
      [](const Parameters&) {
        return Slots{{"schedule.step", zeros({}, DType::s32)}};
      },
      [schedule = std::move(schedule)](const Parameters& gradients, const Slots& slots,
                                       const Parameters&) {
        const Tensor& step = named_tensor(slots, "schedule.step", "slot");
        return Updated{scaled(gradients, schedule(step)), {{"schedule.step", step + 1}}};
      });
}

Update scale_by_learning_rate(double rate) {
  check_not_negative("scale_by_learning_rate", "learning_rate", rate);
  return stateful(
      [](const Parameters&) {
        return Slots{{learning_rate_scale, ones({})}};
      },
      [rate](const Parameters& gradients, const Slots& slots, const Parameters&) {
        const Tensor& by = named_tensor(slots, learning_rate_scale, "slot");
        // The number goes to the elements: a product of scalars would be one more kernel.
        Parameters updates = scaled(gradients, by);
        for (auto& [name, update] : updates) update = update * -rate;
        return Updated{std::move(updates), {}};
      });
}

Update scale_by_learning_rate(Schedule schedule) {
  if (!schedule)
    throw Error{"scale_by_learning_rate", ErrorCode::invalid_argument,
                "expected a schedule, got none"};
  return stateful(
      [](const Parameters&) {
        return Slots{{learning_rate_scale, ones({})}, {learning_rate_step, zeros({}, DType::s32)}};
      },
      [schedule = std::move(schedule)](const Parameters& gradients, const Slots& slots,
                                       const Parameters&) {
        const Tensor& step = named_tensor(slots, learning_rate_step, "slot");
        const Tensor& by = named_tensor(slots, learning_rate_scale, "slot");
        return Updated{scaled(gradients, -schedule(step) * by), {{learning_rate_step, step + 1}}};
      });
}

Update trace(const Trace& options) {
  check_not_negative("trace", "decay", options.decay);
  return stateful(
      [](const Parameters& parameters) {
        return SlotGroup{"trace"}.fill("v", parameters, 0).slots();
      },
      [options](const Parameters& gradients, const Slots& slots, const Parameters&) {
        SlotGroup group{"trace", slots};
        Parameters updates =
            for_each_gradient(gradients, [&](const std::string& name, const Tensor& gradient) {
              const Tensor& last = group.get("v", name, gradient);
              const Tensor g = as_type(gradient, last.dtype());
              const Tensor v = group.put("v", name, last * options.decay + g);
              return options.nesterov ? v * options.decay + g : v;
            });
        return Updated{std::move(updates), group.slots()};
      });
}

Update clip(double delta) {
  check_not_negative("clip", "delta", delta);
  return each([delta](const Tensor& g) { return stoker::clip(g, -delta, delta); });
}

Update clip_by_global_norm(double max_norm, double eps) {
  check_not_negative("clip_by_global_norm", "max_norm", max_norm);
  check_not_negative("clip_by_global_norm", "eps", eps);
  return stateless([=](const Parameters& gradients, const Parameters&) {
    if (gradients.empty()) return gradients;
    std::vector<Tensor> squares;
    for (const auto& [name, gradient] : gradients) {
      const Tensor g = widened(gradient);
      squares.push_back(sum(g * g));
    }
    const Tensor all = sqrt(total(std::move(squares)));
    return scaled(gradients, select(all < max_norm, 1.0, max_norm / (all + eps)));
  });
}

Update centralize() {
  return each([](const Tensor& gradient) {
    if (gradient.rank() < 2) return gradient;
    Axes axes(gradient.rank() - 1);
    std::iota(axes.begin(), axes.end(), 0);
    const Tensor g = widened(gradient);
    return g - mean(g, {axes, true});
  });
}

Update add_decayed_weights(double decay) {
  check_not_negative("add_decayed_weights", "decay", decay);
  return each_with_parameter([decay](const Tensor& g, const Tensor& p) { return g + decay * p; });
}

Update scale_by_trust_ratio(const TrustRatio& options) {
  check_not_negative("scale_by_trust_ratio", "min_norm", options.min_norm);
  return each_with_parameter([options](const Tensor& g, const Tensor& p) {
    const Tensor of_g = max(norm(g), options.min_norm);
    const Tensor of_p = max(norm(p), options.min_norm);
    const Tensor ratio = options.trust_coefficient * of_p / (of_g + options.eps);
    return g * select(logical_or(of_g == 0, of_p == 0), 1.0, ratio);
  });
}

Update add_noise(const Noise& options) {
  check_not_negative("add_noise", "eta", options.eta);
  return stateful(
      [seed = options.seed](const Parameters&) {
        return Slots{{"noise.step", zeros({}, DType::s32)}, {"noise.key", random::key(seed)}};
      },
      [options](const Parameters& gradients, const Slots& slots, const Parameters&) {
        SlotGroup group{"noise", slots};
        const Tensor t = as_type(group.count(), DType::f32);
        const Tensor deviation = options.eta * pow(t, -options.gamma);
        Tensor key = group.get("key");
        Parameters updates =
            for_each_gradient(gradients, [&](const std::string&, const Tensor& gradient) {
              const Tensor g = widened(gradient);
              const auto [drawn, next] = random::normal(key, g.shape(), 0, 1, g.dtype());
              key = next;
              return g + deviation * drawn;
            });
        return Updated{std::move(updates), group.put("key", key).slots()};
      });
}

Update accumulate_gradients(std::int64_t steps, Update inner) {
  if (steps < 1)
    throw Error{"accumulate_gradients",
                ErrorCode::invalid_parameter,
                "expected at least 1 step, got " + std::to_string(steps),
                {{"steps", std::to_string(steps)}}};
  if (steps == 1) return inner;
  const auto init = [inner](const Parameters& parameters) {
    Slots slots = inner.init(parameters);
    slots.merge(Slots{SlotGroup{"accumulate"}
                          .fill("sum", parameters, 0)
                          .put("step", zeros({}, DType::s32))
                          .slots()});
    return slots;
  };
  const auto apply = [inner, steps](const Parameters& gradients, const Slots& slots,
                                    const Parameters& parameters) {
    const SlotGroup group{"accumulate", slots};
    const Tensor step = group.get("step") + 1;
    const Tensor due = step >= steps;
    Slots sums;
    const Parameters means =
        for_each_gradient(gradients, [&](const std::string& name, const Tensor& gradient) {
          const Tensor& last = group.get("sum", name, gradient);
          const Tensor now = last + as_type(gradient, last.dtype());
          sums.emplace("accumulate.sum/" + name, select(due, 0, now));
          return now / static_cast<double>(steps);
        });
    Updated made = inner.apply(means, slots, parameters);
    for (auto& [name, update] : made.updates) update = select(due, update, 0);
    for (auto& [name, slot] : made.slots) slot = select(due, slot, slots.at(name));
    for (auto& [name, now] : sums) made.slots[name] = now;
    made.slots["accumulate.step"] = select(due, 0, step);
    return made;
  };
  return stateful(init, apply);
}

}  // namespace stoker::nn::updates
