// The domain ai.onnx.ml: support vector machines. https://onnx.ai/onnx/operators/onnx_aionnxml_SVMClassifier.html
#include <array>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/tabular/classes.hpp"
#include "stoker/api/onnx/tabular/post_transform.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/transforms/control_flow.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::ml::vectors {
namespace {

using Reals = std::vector<float>;

/// Tables that a node prepares.
enum Part : std::size_t { support_vectors, pair_weights, intercepts, slopes, offsets };

const Reals& list(const Call& call, const char* name) {
  const Reals* const found = call.node().reals(name);
  if (found == nullptr || found->empty())
    call.refuse(ErrorCode::invalid_argument, std::string{"it has no "} + name);
  return *found;
}

void check_count(const Call& call, const char* name, std::size_t count, std::int64_t expected) {
  if (static_cast<std::int64_t>(count) != expected)
    call.refuse(ErrorCode::invalid_argument, "expected " + std::to_string(expected) +
                                                 " numbers in " + name + ", came " +
                                                 std::to_string(count));
}

Tensor table(const Call& call, std::size_t part, const Reals& numbers, const Shape& shape) {
  return call.walker().prepared(part, [&] {
    return Known::reals(std::vector<double>{numbers.begin(), numbers.end()}, shape).tensor();
  });
}

/// [rows, features] in f32.
Tensor rows_of(const Call& call) {
  if (call.rank() != 1 && call.rank() != 2)
    call.refuse(ErrorCode::shape_mismatch,
                "expected [batch, features], came " + call.input(0).to_string());
  return as_type(call.rank() == 1 ? new_axis(call.x(), 0) : call.x(), DType::f32);
}

/// How near each row is to each support vector, [rows, vectors].
Tensor kernel(const Call& call, const Tensor& x, std::int64_t vectors) {
  const std::int64_t features = x.shape()[1];
  const Reals& all = list(call, "support_vectors");
  check_count(call, "support_vectors", all.size(), vectors * features);
  const Tensor by = table(call, Part::support_vectors, all, Shape{vectors, features});
  const std::string type = call.node().text("kernel_type", "LINEAR");
  if (type == "LINEAR") return matmul(x, transpose(by));
  const Reals& given = list(call, "kernel_params");
  check_count(call, "kernel_params", given.size(), 3);
  const auto [gamma, coef0, degree] = std::array{given[0], given[1], given[2]};
  if (type == "RBF") {
    const Tensor apart = new_axis(x, 1) - by;
    return exp(-gamma * sum(apart * apart, Reduce{.axes = Axes{2}}));
  }
  const Tensor product = gamma * matmul(x, transpose(by)) + coef0;
  if (type == "SIGMOID") return tanh(product);
  if (type != "POLY")
    call.refuse(ErrorCode::invalid_parameter, "there is no kernel_type '" + type + "'");
  return pow(product, degree);
}

/// One linear function of the features for each class; the first number of rho is added to all.
Tensor linear(const Call& call, const Tensor& x, std::int64_t outputs) {
  const Reals& coefficients = list(call, "coefficients");
  check_count(call, "coefficients", coefficients.size(), outputs * x.shape()[1]);
  const Tensor by = table(call, Part::pair_weights, coefficients, Shape{outputs, x.shape()[1]});
  return matmul(x, transpose(by)) + list(call, "rho")[0];
}

Values regress(Call& call) {
  const std::int64_t vectors = call.node().integer("n_supports", 0);
  if (vectors < 0) call.refuse(ErrorCode::invalid_parameter, "expected n_supports from 0 on");
  check_host_count(call, vectors);
  const Tensor x = rows_of(call);
  Tensor y;
  if (vectors == 0) {
    y = linear(call, x, 1);
  } else {
    const Reals& coefficients = list(call, "coefficients");
    check_count(call, "coefficients", coefficients.size(), vectors);
    y = matmul(kernel(call, x, vectors),
               table(call, Part::pair_weights, coefficients, Shape{vectors, 1})) +
        list(call, "rho")[0];
  }
  if (call.node().flag("one_class", false))
    return {Value{select(greater(y, 0), ones_like(y), -1.0F * ones_like(y))}};
  return {Value{transformed(y, post_transform_of(call))}};
}

// Classifiers -------------------------------------------------------------------------------------

/// Of two classes each, in the order of the first and then the second.
struct Pair {
  std::int64_t first, second;
};
std::vector<Pair> pairs_of(std::int64_t classes) {
  std::vector<Pair> all;
  for (std::int64_t i = 0; i < classes; ++i)
    for (std::int64_t j = i + 1; j < classes; ++j) all.push_back({i, j});
  return all;
}

/// A number for each pair of classes: above 0 it speaks for the first. [rows, pairs]
Tensor decisions(const Call& call, const Tensor& x, const Axes& counts,
                 const std::vector<Pair>& pairs) {
  const auto classes = static_cast<std::int64_t>(counts.size());
  const auto count = static_cast<std::int64_t>(pairs.size());
  std::vector<std::int64_t> starts{0};
  for (const std::int64_t one : counts) {
    if (one < 0) call.refuse(ErrorCode::invalid_argument, "a class has fewer than 0 vectors");
    check_host_count(call, one);
    starts.push_back(starts.back() + one);
    check_host_count(call, starts.back());
  }
  const std::int64_t vectors = starts.back();
  check_host_count(call, vectors * count);
  const Reals& coefficients = list(call, "coefficients");
  check_count(call, "coefficients", coefficients.size(), (classes - 1) * vectors);
  const Reals& rho = list(call, "rho");
  check_count(call, "rho", rho.size(), count);
  // A class has no row of coefficients against itself, so that those against later ones stand one row earlier.
  Reals weights(static_cast<std::size_t>(vectors * count));
  for (std::int64_t pair = 0; pair < count; ++pair) {
    const auto [i, j] = pairs[static_cast<std::size_t>(pair)];
    const auto put = [&](std::int64_t of, std::int64_t row) {
      for (std::int64_t v = starts[static_cast<std::size_t>(of)];
           v < starts[static_cast<std::size_t>(of) + 1]; ++v)
        weights[static_cast<std::size_t>(v * count + pair)] =
            coefficients[static_cast<std::size_t>(row * vectors + v)];
    };
    put(i, j - 1);
    put(j, i);
  }
  return matmul(kernel(call, x, vectors),
                table(call, Part::pair_weights, weights, Shape{vectors, count})) +
         table(call, Part::intercepts, rho, Shape{count});
}

/// Where of_each_two() finds its numbers: nothing, a pair's first number, or its second.
Tensor places_of(const std::vector<Pair>& pairs, std::int64_t classes) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(classes * classes));
  std::int64_t place = 1;
  const auto count = static_cast<std::int64_t>(pairs.size());
  for (const auto& [i, j] : pairs) {
    places[static_cast<std::size_t>(i * classes + j)] = place;
    places[static_cast<std::size_t>(j * classes + i)] = count + place++;
  }
  return Known::integers(places).tensor();
}

/// `first` and `second`: a number for each pair, [rows, pairs]. They become [rows, classes, classes]: at i, j
/// what is in `first` if the pair is (i, j), in `second` if it is (j, i); 0 on the diagonal.
Tensor of_each_two(const Tensor& first, const Tensor& second, const Tensor& places,
                   std::int64_t classes) {
  const std::int64_t rows = first.shape()[0];
  const Tensor all = concatenate({zeros(Shape{rows, 1}, first.dtype()), first, second}, 1);
  return reshape(take(all, places, 1), Shape{rows, classes, classes});
}

/// The class that wins most of its pairs, the first of several.
Tensor winners(const Tensor& decisions, const Tensor& places, std::int64_t classes) {
  const Tensor first = as_type(greater(decisions, 0), DType::f32);
  const Tensor votes = sum(of_each_two(first, 1 - first, places, classes), Reduce{.axes = Axes{2}});
  return argmax(votes, Arg{.axis = 1});
}

/// From the probability of the first class of each pair those of all classes: Wu, Lin, Weng, "Probability estimates for
/// multi-class classification by pairwise coupling", 2004, algorithm 2, with LIBSVM's end: rounds until no class is
/// further off than 0.005 / classes, 100 at most.
Tensor coupled(const Tensor& of_pairs, const Tensor& places, std::int64_t classes) {
  const std::int64_t rows = of_pairs.shape()[0];
  // r[i][j]: i's probability where it is i or j; 0 on the diagonal.
  const Tensor r = of_each_two(of_pairs, 1 - of_pairs, places, classes);
  const Tensor turned = transpose(r, Axes{0, 2, 1});
  const Tensor squares = sum(turned * turned, Reduce{.axes = Axes{2}, .keepdims = true});
  const Tensor q = squares * as_type(eye(classes), DType::f32) - r * turned;
  const auto of_state = [&](const Tensor& p) {
    return squeeze(matmul(q, new_axis(p, 2)), Axes{2});
  };
  const Reduce each_row{.axes = Axes{1}, .keepdims = true};
  const auto is_off = [&](const Tensor& p) {
    const Tensor qp = of_state(p);
    const Tensor error = reduce_max(abs(qp - sum(p * qp, each_row)), each_row);
    return greater_equal(error, 0.005 / static_cast<double>(classes));
  };
  const auto round = [&](const Tensor& before) {
    Tensor p = before, qp = of_state(p);
    Tensor pqp = sum(p * qp, each_row);
    for (std::int64_t t = 0; t < classes; ++t) {
      const Tensor of_t = squeeze(slice_along_axis(q, t, 1, 1), Axes{1});
      const Tensor diagonal = slice_along_axis(of_t, t, 1, 1);
      const Tensor qp_t = slice_along_axis(qp, t, 1, 1);
      const Tensor step = (pqp - qp_t) / diagonal;
      const Tensor whole = 1 + step;
      pqp = (pqp + step * (step * diagonal + 2 * qp_t)) / whole / whole;
      qp = (qp + step * of_t) / whole;
      p = (p + step * as_type(equal(iota_along(Shape{1, classes}, 1), t), DType::f32)) / whole;
    }
    return select(is_off(before), p, before);
  };
  return while_loop(
      full(Shape{rows, classes}, 1.0 / static_cast<double>(classes), DType::f32),
      [&](const Tensor& p) { return any(is_off(p)); }, round, WhileOptions{.max_iterations = 100});
}

Values classify(Call& call) {
  const Classes classes{call, "classlabels_ints"};
  const std::int64_t count = classes.count();
  const PostTransform how = post_transform_of(call);
  const Tensor x = rows_of(call);
  const Axes vectors = call.node().integers("vectors_per_class", {});
  if (vectors.empty()) {
    const Tensor scores = linear(call, x, count);
    return {classes.labels(argmax(scores, Arg{.axis = 1})), Value{transformed(scores, how)}};
  }
  check_count(call, "vectors_per_class", vectors.size(), count);
  if (count < 2) call.refuse(ErrorCode::invalid_argument, "expected two classes or more");
  check_host_count(call, count * count);
  const std::vector<Pair> pairs = pairs_of(count);
  const auto of_pairs = static_cast<std::int64_t>(pairs.size());
  const Tensor made = decisions(call, x, vectors, pairs);
  const Tensor places = places_of(pairs, count);
  const Value labels = classes.labels(winners(made, places, count));
  const Reals* const a = call.node().reals("prob_a");
  const Reals* const b = call.node().reals("prob_b");
  if ((a && !a->empty()) || (b && !b->empty())) {
    const Reals& slopes = list(call, "prob_a");
    const Reals& offsets = list(call, "prob_b");
    check_count(call, "prob_a", slopes.size(), of_pairs);
    check_count(call, "prob_b", offsets.size(), of_pairs);
    const Tensor first = sigmoid(-(made * table(call, Part::slopes, slopes, Shape{of_pairs}) +
                                   table(call, Part::offsets, offsets, Shape{of_pairs})));
    return {labels, Value{transformed(coupled(clip(first, 1e-7, 1 - 1e-7), places, count), how)}};
  }
  // ONNX does not say what the scores are without probabilities; these are ONNX Runtime's, but for PROBIT of
  // two classes, of which it writes one.
  if (count > 2) return {labels, Value{transformed(made, how)}};
  if (how == PostTransform::none) return {labels, Value{concatenate({-made, made}, 1)}};
  if (how == PostTransform::logistic)
    return {labels, Value{concatenate({sigmoid(-made), sigmoid(made)}, 1)}};
  const Tensor both = concatenate({1 - made, made}, 1);
  return {labels, Value{how == PostTransform::probit ? transformed(both, how) : both}};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "SVMRegressor",
             .domain = "ai.onnx.ml",
             .types = {.operands = {number_types}, .results = {ElementType::f32}},
             .attributes = {"coefficients", "kernel_params", "kernel_type", "n_supports",
                            "one_class", "post_transform", "rho", "support_vectors"},
             .lower = &regress});
  table.add(
      {.name = "SVMClassifier",
       .domain = "ai.onnx.ml",
       .most_outputs = 2,
       .types = {.operands = {number_types}, .results = {ElementType::undefined, ElementType::f32}},
       .attributes = {"classlabels_ints", "classlabels_strings", "coefficients", "kernel_params",
                      "kernel_type", "post_transform", "prob_a", "prob_b", "rho", "support_vectors",
                      "vectors_per_class"},
       .lower = &classify});
}

}  // namespace stoker::onnx::operators::ml::vectors
