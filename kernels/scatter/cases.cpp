#include <cmath>

#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/indexing/case_index.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::scatter {
namespace {

enum class Update { put, add, multiply, larger, smaller };

bool is_extreme(Update update) { return update == Update::larger || update == Update::smaller; }

/// How updates are drawn: all alike, so that duplicates may come in any order, or each its own.
enum class Values { alike, own };

struct NamedUpdates {
  std::string label;
  Shape target;
  Shape indices;
  Shape updates;
  std::vector<std::int64_t> axes = {};
  Values values = Values::alike;
  bool heavy = false;
};

/// Some with duplicates and indices outside, for every dtype.
std::vector<NamedUpdates> usual() {
  return {{"rows", Shape{31, 12}, Shape{9, 1}, Shape{9, 12}},
          {"prime_rows", Shape{31, 5}, Shape{3, 7, 1}, Shape{3, 7, 5}},
          {"elements", Shape{31, 7}, Shape{67, 2}, Shape{67}},
          {"columns", Shape{6, 31}, Shape{11, 1}, Shape{11, 6}, {-1}},
          {"one_row", Shape{31, 5, 3}, Shape{1, 1}, Shape{1, 5, 3}, {}, Values::own}};
}

std::vector<NamedUpdates> unusual() {
  return {{"axes_turned", Shape{9, 8, 7, 6}, Shape{17, 2}, Shape{17, 9, 7}, {3, 1}},
          {"middle_axis", Shape{5, 31, 8}, Shape{13, 1}, Shape{13, 5, 8}, {1}},
          {"one_column", Shape{31, 67}, Shape{1, 1}, Shape{1, 31}, {1}, Values::own},
          {"one_vector", Shape{31, 40}, Shape{1}, Shape{40}, {}, Values::own},
          {"every_axis", Shape{3, 4, 5}, Shape{4100, 3}, Shape{4100}},
          {"no_updates", Shape{31, 5}, Shape{0, 1}, Shape{0, 5}},
          {"no_target", Shape{31, 0}, Shape{4, 1}, Shape{4, 0}},
          {"none_of_none", Shape{0, 3}, Shape{0, 1}, Shape{0, 3}},
          {"no_coordinates", Shape{3, 4}, Shape{0}, Shape{3, 4}, {}, Values::own},
          {"scalar", Shape{}, Shape{5, 0}, Shape{5}},
          {"rank_8",
           Shape{2, 3, 2, 3, 2, 3, 2, 3},
           Shape{3, 2, 4},
           Shape{3, 2, 2, 2, 3, 3},
           {6, 1, 3, 4}},
          {"few_targets", Shape{3}, Shape{4099, 1}, Shape{4099}},
          {"wide_rows", Shape{5, 20011}, Shape{7, 1}, Shape{7, 20011}},
          {"many_rows", Shape{29, 3}, Shape{100003, 1}, Shape{100003, 3}, {}, Values::alike, true}};
}

/// Numbers so few among so many that no two meet; the seed is fixed.
std::vector<NamedUpdates> distinct() {
  return {{"distinct_elements", Shape{1000003}, Shape{37, 1}, Shape{37}, {}, Values::own},
          {"distinct_pairs", Shape{1009, 2003}, Shape{37, 2}, Shape{37}, {}, Values::own},
          {"distinct_rows", Shape{200003, 4}, Shape{17, 1}, Shape{17, 4}, {}, Values::own},
          {"distinct_prime_rows", Shape{200003, 3}, Shape{17, 1}, Shape{17, 3}, {}, Values::own},
          {"distinct_columns", Shape{3, 200003}, Shape{17, 1}, Shape{17, 3}, {1}, Values::own}};
}

/// Updates that are all alike: small whole numbers, whose sums and products are exact in every dtype.
Fill alike(Update update, DType dtype) {
  return update == Update::multiply && is_float(dtype) ? Fill{-1, -1} : Fill{3, 3};
}

KernelCase make(Update update, const NamedUpdates& one, DType dtype, DType index) {
  // Extremes of the same numbers are the same in any order.
  const bool own = one.values == Values::own || is_extreme(update);
  const Fill target = own ? cases::telling(dtype) : Fill{5, 5};
  const Fill updates = own ? cases::telling(dtype) : alike(update, dtype);
  return {.label =
              std::string{to_string(dtype)} + "_" + std::string{to_string(index)} + "_" + one.label,
          .inputs = {{dtype, one.target}, {index, one.indices}, {dtype, one.updates}},
          .params = {{"axes", one.axes}},
          .fills = {target, {-3, 40}, updates},
          .heavy = one.heavy};
}

/// Different values that meet, many times.
void add_meeting(std::vector<KernelCase>& cases, Update update) {
  for (const DType dtype : rules::numeric_dtypes()) {
    KernelCase meet =
        make(update, {"meet", Shape{31, 3}, Shape{97, 1}, Shape{97, 3}}, dtype, DType::s64);
    meet.fills = {{}, {0, 30}, is_float(dtype) ? Fill{} : Fill{-100, 100}};
    if (update == Update::multiply && is_integer(dtype)) meet.fills = {{-9, 9}, {0, 30}, {-3, 3}};
    cases.push_back(meet);
    if (!is_extreme(update) || !is_float(dtype)) continue;
    meet.label += "_specials";
    meet.fills = {{.specials = true}, {0, 30}, {.specials = true}};
    cases.push_back(std::move(meet));
  }
  if (update != Update::add) return;
  // The low word's carries.
  for (const DType dtype : {DType::s64, DType::u64}) {
    KernelCase carry =
        make(update, {"carry", Shape{5}, Shape{97, 1}, Shape{97}}, dtype, DType::s32);
    carry.fills = {{-1e12, 1e12}, {0, 4}, {-1e12, 1e12}};
    cases.push_back(std::move(carry));
  }
}

std::vector<KernelCase> all_cases(Update update) {
  std::vector<KernelCase> cases;
  for (const DType dtype : update == Update::put ? rules::all_dtypes() : rules::numeric_dtypes()) {
    for (const NamedUpdates& one : usual()) cases.push_back(make(update, one, dtype, DType::s32));
    for (const NamedUpdates& one : distinct()) {
      cases.push_back(make(update, one, dtype, DType::s32));
      const Shape& target = one.target;
      const std::int64_t least = one.axes.empty() ? target[0] : target[1];
      cases.back().fills[1] = {0, static_cast<double>(least - 1)};
    }
  }
  for (const NamedUpdates& one : unusual())
    cases.push_back(make(update, one, DType::f32, DType::s32));
  for (const DType dtype : {DType::f64, DType::s64, DType::u16, DType::s8})
    for (const char* label : {"axes_turned", "middle_axis", "no_updates", "wide_rows"})
      for (const NamedUpdates& one : unusual())
        if (one.label == label) cases.push_back(make(update, one, dtype, DType::s32));
  for (const DType index : cases::index_dtypes()) {
    if (index != DType::s32) cases.push_back(make(update, usual()[2], DType::f32, index));
    KernelCase far = make(update, usual()[0], DType::f32, index);
    const double limit = size_of(index) == 8 ? 1e15 : 120;
    far.label += "_far_outside";
    far.fills[1] = {is_signed(index) ? -limit : 0, limit};
    cases.push_back(std::move(far));
  }
  if (update != Update::put) add_meeting(cases, update);
  if (update == Update::multiply || update == Update::smaller) cases::leave_to_sibling(cases);
  return cases;
}

double combined(Update update, double old, double given) {
  switch (update) {
    case Update::add: return old + given;
    case Update::multiply: return old * given;
    case Update::larger: return std::isnan(old) || std::isnan(given) ? NAN : std::max(old, given);
    case Update::smaller: return std::isnan(old) || std::isnan(given) ? NAN : std::min(old, given);
    case Update::put: break;
  }
  return given;
}

std::vector<double> reference(Update update, const KernelCall& call,
                              const std::vector<std::vector<double>>& inputs) {
  std::vector<double> result = inputs[0];
  cases::Coordinates walk{call.shape(2)};
  for (const double element : inputs[2]) {
    double& into = result[cases::place_of_row_element(call, inputs[1], walk.at())];
    into = combined(update, into, element);
    walk.next();
  }
  if (update == Update::add || update == Update::multiply)
    for (double& value : result) value = cases::wrapped(value, call.dtype());
  return result;
}

/// Of the updates, drawn evenly, fewer than these meet an element.
double most_met(const KernelCall& call) {
  const auto updates = static_cast<double>(call.inputs[2].elements());
  const double rows = std::max(1.0, static_cast<double>(call.inputs[0].elements()));
  return std::min(updates, 4 + 4 * updates / rows);
}

/// One rounding for each update that meets an element. Sums are of so many values up to 2: where they are larger they
/// are exact, or only one meets. What a product loses is relative to it, but for steps below the smallest number.
ErrorBound bound_of(Update update, const KernelCall& call) {
  const DType dtype = call.dtype();
  if (!is_float(dtype) || update == Update::put || is_extreme(update)) return {};
  const double met = most_met(call);
  const double unit = cases::rounding(dtype) + cases::compute_rounding(dtype);
  if (update == Update::multiply)
    return {cases::subnormal(dtype) * std::exp2(met), std::expm1(met * std::log1p(unit))};
  return {cases::subnormal(dtype) + met * unit * (2 + met) * 2, met * unit};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  for (const auto& [name, update] :
       {std::pair{"indexed_add", Update::add}, std::pair{"indexed_multiply", Update::multiply},
        std::pair{"indexed_max", Update::larger}, std::pair{"indexed_min", Update::smaller},
        std::pair{"indexed_put", Update::put}}) {
    KernelSuite suite;
    suite.kernel = name;
    suite.cases = all_cases(update);
    suite.reference = [update = update](const KernelCall& call, std::span<const TensorSpec>,
                                        const std::vector<std::vector<double>>& inputs) {
      return std::vector<std::vector<double>>{reference(update, call, inputs)};
    };
    suite.bound = [update = update](const KernelCall& call) { return bound_of(update, call); };
    suites.push_back(std::move(suite));
  }
}

}  // namespace stoker::kernels::scatter
