// Products of matrices, Einstein sums, determinants.
#include <algorithm>
#include <map>
#include <sstream>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/core/stored_weights.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/linear_algebra.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::products {
namespace {

/// alpha·A'·B' + beta·C.
Values gemm(Call& call) {
  const Node& node = call.node();
  if (call.rank(0) != 2 || call.rank(1) != 2)
    call.refuse(ErrorCode::shape_mismatch, "expected matrices, got " + call.input(0).to_string() +
                                               " and " + call.input(1).to_string());
  const Tensor a = node.flag("transA", false) ? transpose(call.x(0)) : call.x(0);
  const Tensor weights = stored_weights(call, 1, 0);
  const Tensor b = node.flag("transB", false) ? transpose(weights) : weights;
  Tensor y = matmul(a, b);
  const double alpha = node.real("alpha", 1);
  const double beta = node.real("beta", 1);
  if (alpha != 1) y = y * alpha;
  if (call.has(2) && beta != 0) y = y + (beta == 1 ? call.x(2) : call.x(2) * beta);
  return {call.like(y)};
}

// Einsum ------------------------------------------------------------------------------------------

/// One operand and the labels of its axes. An ellipsis has the labels '0', '1', … from its last axis on.
struct Term {
  Tensor x;
  std::string labels;
};

std::string with_ellipsis(const std::string& labels, std::size_t axes) {
  const std::size_t at = labels.find("...");
  if (at == std::string::npos) return labels;
  std::string dots;
  for (std::size_t i = axes; i-- > 0;) dots += static_cast<char>('0' + i);
  return labels.substr(0, at) + dots + labels.substr(at + 3);
}

/// A label that stands twice means the diagonal.
Term without_repeats(Term term) {
  for (std::size_t i = 0; i < term.labels.size(); ++i) {
    const std::size_t j = term.labels.find(term.labels[i], i + 1);
    if (j == std::string::npos) continue;
    const Shape& shape = term.x.shape();
    const Tensor on = equal(iota_along(shape, static_cast<std::int64_t>(i)),
                            iota_along(shape, static_cast<std::int64_t>(j)));
    term.x =
        sum(select(on, term.x, zeros_like(term.x)), {.axes = Axes{static_cast<std::int64_t>(j)}});
    term.labels.erase(j, 1);
    --i;
  }
  return term;
}

/// The term with these labels in this order; labels that it lacks get extent 1.
Tensor aligned(const Term& term, const std::string& labels) {
  Axes order;
  Axes extents;
  for (const char label : labels) {
    const std::size_t at = term.labels.find(label);
    if (at != std::string::npos) order.push_back(static_cast<std::int64_t>(at));
    extents.push_back(at == std::string::npos ? 1 : term.x.shape()[at]);
  }
  return reshape(transpose(term.x, order), extents);
}

/// The product of two terms, summed over labels that nobody else has.
Term contracted(const Term& a, const Term& b, const std::string& kept) {
  std::string batch;
  std::string sums;
  std::string rows;
  std::string columns;
  for (const char label : a.labels) {
    const bool shared = b.labels.find(label) != std::string::npos;
    const bool stays = kept.find(label) != std::string::npos;
    (shared ? (stays ? batch : sums) : rows) += label;
  }
  for (const char label : b.labels)
    if (a.labels.find(label) == std::string::npos) columns += label;
  const auto same_extent = [&](char label) {
    return a.x.shape()[a.labels.find(label)] == b.x.shape()[b.labels.find(label)];
  };
  const bool is_product = std::ranges::all_of(batch + sums, same_extent);
  if (!is_product) {  // an extent of 1 broadcasts
    const std::string all = batch + rows + columns + sums;
    Axes over;
    for (std::size_t i = all.size() - sums.size(); i < all.size(); ++i)
      over.push_back(static_cast<std::int64_t>(i));
    const Tensor y = aligned(a, all) * aligned(b, all);
    return {over.empty() ? y : sum(y, {.axes = over}), batch + rows + columns};
  }
  const auto axes = [](const Term& term, const std::string& labels) {
    Axes found;
    for (const char label : labels)
      found.push_back(static_cast<std::int64_t>(term.labels.find(label)));
    return found;
  };
  return {dot(a.x, {.contract = axes(a, sums), .batch = axes(a, batch)}, b.x,
              {.contract = axes(b, sums), .batch = axes(b, batch)}),
          batch + rows + columns};
}

/// Each label of the output once, and of some operand.
void check_output(const Call& call, const std::string& output, const std::vector<Term>& terms) {
  for (std::size_t i = 0; i < output.size(); ++i) {
    const bool known = std::ranges::any_of(
        terms, [&](const Term& term) { return term.labels.find(output[i]) != std::string::npos; });
    if (!known || output.find(output[i], i + 1) != std::string::npos)
      call.refuse(ErrorCode::invalid_parameter, "the output has the label '" +
                                                    std::string{output[i]} +
                                                    (known ? "' twice" : "' of no operand"));
  }
}

Values einsum(Call& call) {
  std::string equation = call.node().text("equation");
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  std::vector<Term> terms;
  std::istringstream left{equation.substr(0, arrow)};
  std::size_t widest = 0;
  for (std::string labels; std::getline(left, labels, ',');) {
    if (terms.size() == call.count())
      call.refuse(ErrorCode::arity_mismatch, "more terms than operands");
    const Tensor x = call.x(terms.size());
    const std::size_t named =
        labels.find("...") == std::string::npos ? labels.size() : labels.size() - 3;
    if (named > x.rank() || (named == labels.size() && named != x.rank()))
      call.refuse(ErrorCode::shape_mismatch, "'" + labels + "' for " + x.spec().to_string());
    const std::size_t dots = x.rank() - named;
    widest = std::max(widest, dots);
    terms.push_back({x, with_ellipsis(labels, dots)});
  }
  if (terms.size() != call.count())
    call.refuse(ErrorCode::arity_mismatch, "fewer terms than operands");
  std::string output;
  if (arrow != std::string::npos) {
    output = with_ellipsis(equation.substr(arrow + 2), widest);
  } else {  // the ellipsis, then each label that stands once, in order
    std::map<char, int> times;
    for (const char label : equation)
      if (label != ',' && label != '.') ++times[label];
    if (widest > 0) output = with_ellipsis("...", widest);
    for (const auto& [label, count] : times)
      if (count == 1) output += label;
  }
  check_output(call, output, terms);
  Term made = without_repeats(terms[0]);
  for (std::size_t i = 1; i < terms.size(); ++i) {
    std::string kept = output;
    for (std::size_t later = i + 1; later < terms.size(); ++later) kept += terms[later].labels;
    made = contracted(made, without_repeats(terms[i]), kept);
  }
  Axes over;
  std::string left_over;
  for (std::size_t i = 0; i < made.labels.size(); ++i) {
    if (output.find(made.labels[i]) == std::string::npos)
      over.push_back(static_cast<std::int64_t>(i));
    else
      left_over += made.labels[i];
  }
  if (!over.empty()) made = {sum(made.x, {.axes = over}), left_over};
  return {call.like(aligned(made, output))};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "MatMul",
             .since = {1, 9, 13},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = alike(sum_types),
             .lower = [](Call& call) {
               return Values{call.like(matmul(call.x(0), stored_weights(call, 1, 0)))};
             }});
  table.add({.name = "Gemm",
             .since = {1, 6, 7, 9, 11, 13},
             .least_inputs = 2,
             .most_inputs = 3,
             .types = alike(sum_types),
             .attributes = {"alpha", "beta", "transA", "transB", "broadcast"},
             .lower = &gemm});
  table.add({.name = "Einsum",
             .since = {12},
             .most_inputs = Operator::any_number,
             .types = alike(number_types),
             .attributes = {"equation"},
             .lower = &einsum});
  table.add(
      {.name = "Det", .since = {11, 22}, .types = alike(float_types), .lower = [](Call& call) {
         return Values{call.like(linalg::determinant(call.x()))};
       }});
}

}  // namespace stoker::onnx::operators::products
