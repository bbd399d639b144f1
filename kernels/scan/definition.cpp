#include <algorithm>

#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rows/axis_rows.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/scan/operation.hpp"

namespace stoker::kernels::scan {
namespace {

// Groups (or threads, by the shader) that keep a large GPU busy.
constexpr std::int64_t enough_groups = 1024;
constexpr std::int64_t enough_threads = 65536;
// Elements that a group of rows.glsl takes in one turn.
constexpr std::int64_t tile = 4096;
// Rows below which a thread of columns.glsl is not worth its carry.
constexpr std::int64_t least_column = 64;
// Adjacent elements that a thread walks over by itself, rather than a group that would mostly wait: few,
// or more where there are rows for many threads.
constexpr std::int64_t few = 16;
constexpr std::int64_t more = 256;
constexpr std::int64_t many_rows = 4096;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

struct Shaders {
  std::shared_ptr<const Shader> rows;
  std::shared_ptr<const Shader> columns;
};

/// The dtype of the pieces' totals: what the arithmetic happens in, or wraps to.
DType total_dtype(DType dtype) {
  return is_float(dtype) && size_of(dtype) == 2 ? DType::f32 : dtype;
}

std::string variant_name(DType from, DType to) {
  return std::string{to_string(from)} + "_" + std::string{to_string(to)};
}

Shaders make_shaders() {
  Shader rows;
  rows.name = "scan_rows";
  rows.file = "scan/rows.glsl";
  rows.bindings = {{.name = "x", .type = "S"},
                   {.name = "carry", .type = "D"},
                   {.name = "y", .type = "R", .writes = true}};
  rows.push = {{"items"}, {"length"}, {"piece"}, {"pieces"}};
  rows.constants = {{"operation"}, {"reverse"}, {"totals"}, {"carried"}, {"wide"}};
  for (const DType dtype : rules::numeric_dtypes()) {
    const DType total = total_dtype(dtype);
    rows.variants.push_back(
        {variant_name(dtype, dtype), {{"S", dtype}, {"D", total}, {"R", dtype}}});
    if (total != dtype)
      rows.variants.push_back(
          {variant_name(dtype, total), {{"S", dtype}, {"D", total}, {"R", total}}});
  }
  Shader columns = rows;
  columns.name = "scan_columns";
  columns.file = "scan/columns.glsl";
  columns.push.push_back({"inner"});
  columns.constants.pop_back();
  return {std::make_shared<const Shader>(std::move(rows)),
          std::make_shared<const Shader>(std::move(columns))};
}

/// A scan of [outer, length, inner] in pieces of `piece`, the last one shorter.
struct Pieces {
  std::int64_t piece = 1;
  std::int64_t count = 1;
};

/// Whether a group walks along rows; else a thread down each column, of which a short row is one.
bool goes_across(const rows::AxisRows& r) {
  return r.inner == 1 && r.length > (r.outer < many_rows ? few : more);
}

Pieces cut(const rows::AxisRows& r) {
  std::int64_t piece = r.length;
  if (goes_across(r)) {
    const std::int64_t wanted = ceil_div(enough_groups, r.outer);
    piece = std::max(ceil_div(ceil_div(r.length, wanted), tile) * tile, 2 * tile);
  } else {
    const std::int64_t wanted = ceil_div(enough_threads, r.outer * r.inner);
    piece = std::max(ceil_div(r.length, wanted), least_column);
  }
  if (piece >= r.length) return {r.length, 1};
  return {piece, ceil_div(r.length, piece)};
}

class Planner {
 public:
  Planner(const Shaders& shaders, Operation operation, bool reverse)
      : shaders_{shaders}, operation_{operation}, reverse_{reverse} {}

  /// Adds the passes that scan `source` into `target`. Pieces are totalled first, the totals are
  /// scanned in turn, and each piece begins with the total of what is before it.
  void scan(const rows::AxisRows& r, DType from, DType to, PassBinding source, PassBinding target) {
    const Pieces pieces = cut(r);
    if (pieces.count == 1) {
      add(r, pieces, variant_name(from, to), {source, source, target}, false, false);
      return;
    }
    const DType total = total_dtype(from);
    rows::AxisRows above = r;
    above.length = pieces.count;
    const PassBinding totals = room(above, total);
    const PassBinding carries = room(above, total);
    add(r, pieces, variant_name(from, total), {source, source, totals}, true, false);
    scan(above, total, total, totals, carries);
    add(r, pieces, variant_name(from, to), {source, carries, target}, false, true);
  }

  [[nodiscard]] GpuPlan take() { return std::move(plan_); }

 private:
  PassBinding room(const rows::AxisRows& r, DType dtype) {
    plan_.scratch_bytes.push_back(static_cast<std::size_t>(r.outer * r.length * r.inner) *
                                  size_of(dtype));
    return scratch(static_cast<std::uint32_t>(plan_.scratch_bytes.size() - 1));
  }

  void add(const rows::AxisRows& r, const Pieces& pieces, std::string variant,
           std::vector<PassBinding> bindings, bool totals, bool carried) {
    const bool across = goes_across(r);
    const std::int64_t items = r.outer * pieces.count * r.inner;
    GpuPass pass;
    pass.shader = (across ? shaders_.rows : shaders_.columns).get();
    pass.variant = std::move(variant);
    pass.bindings = std::move(bindings);
    for (const std::int64_t value : {items, r.length, pieces.piece, pieces.count})
      pass.push.u32(static_cast<std::uint64_t>(value));
    pass.constants = {static_cast<std::uint32_t>(operation_), reverse_, totals, carried};
    if (across)
      pass.constants.push_back(r.length % 4 == 0);
    else
      pass.push.u32(static_cast<std::uint64_t>(r.inner));
    const auto count = static_cast<std::uint64_t>(items);
    pass.groups =
        across ? linear_groups(count) : linear_groups_for(count, pass.shader->local_size[0]);
    plan_.passes.push_back(std::move(pass));
  }

  const Shaders& shaders_;
  Operation operation_;
  bool reverse_;
  GpuPlan plan_;
};

}  // namespace

Result<void> define(KernelRegistry& registry) {
  const Shaders shaders = make_shaders();
  for (const reduce::OperationName& entry : operations) {
    const std::string name{entry.kernel};
    auto kernel = kernel_of<CumulativeSum>();  // all have the same options
    kernel.name = name;
    kernel.family = "scan";
    kernel.summary = entry.summary;
    kernel.dtypes = rules::numeric_dtypes();
    kernel.infer = [name](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
      STOKER_TRY(rows::along(name, call, options::from<CumulativeSum>(call.params).axis));
      return std::vector{call.inputs[0]};
    };
    kernel.shaders = {shaders.rows, shaders.columns};
    kernel.gpu = [name, operation = entry.operation, shaders](const KernelCall& call,
                                                              std::span<const TensorSpec>,
                                                              const GpuTraits&) -> Result<GpuPlan> {
      STOKER_TRY(rules::gpu_indexable(name, call.inputs));
      const auto given = options::from<CumulativeSum>(call.params);
      STOKER_ASSIGN(const rows::AxisRows r, rows::along(name, call, given.axis));
      Planner planner{shaders, operation, given.reverse};
      planner.scan(r, call.dtype(), call.dtype(), input(0), output());
      return planner.take();
    };
    STOKER_TRY(registry.add(std::move(kernel)));
  }
  return {};
}

}  // namespace stoker::kernels::scan
