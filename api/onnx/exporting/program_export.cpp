#include "stoker/api/onnx/exporting/program_export.hpp"

#include <algorithm>

#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/pipeline/tensor/passes/passes.hpp"
#include "stoker/pipeline/tensor/program/extraction.hpp"

namespace stoker::onnx {
namespace {

using expr::Instruction;
using expr::Program;

/// What is left when a trace has done its work. Transpositions that a device likes are none of a file's.
Program cleaned(const expr::Extracted& extracted) {
  Program program = extracted.program();
  expr::inline_custom_gradients(program);
  expr::simplify(program);
  expr::fold_constants(program);
  expr::simplify(program);
  expr::share_equals(program);
  return program;
}

bool alike(const Instruction& a, const Instruction& b) {
  return a.op == b.op && a.inputs == b.inputs &&
         std::ranges::equal(a.specs, b.specs, [](const TensorSpec& one, const TensorSpec& other) {
           return one.dtype == other.dtype && one.shape.rank() == other.shape.rank();
         });
}

[[noreturn]] void refuse_dependence() {
  throw Error{"onnx.save", ErrorCode::invalid_argument,
              "what is computed depends on the size of the batch: give the batch a number"};
}

void check_alike(const Program& first, const Program& second) {
  if (first.results != second.results || first.parameters != second.parameters ||
      !std::ranges::equal(first.code, second.code, &alike))
    refuse_dependence();
}

/// Tensors that the function makes anew in each call are weights if they have the same elements each time.
void check_same(const expr::Value& a, const expr::Value& b) {
  if (a.node() == b.node()) return;
  if (a.spec().to_string() != b.spec().to_string() || Tensor{a}.to_bytes() != Tensor{b}.to_bytes())
    refuse_dependence();
}

bool is_complex_somewhere(const Instruction& one) {
  return std::ranges::any_of(one.specs,
                             [](const TensorSpec& spec) { return is_complex(spec.dtype); });
}

}  // namespace

std::string ProgramExport::weights_of(const expr::Value& leaf) {
  const auto [place, is_new] = weights_.try_emplace({leaf.node().get(), leaf.output()});
  if (!is_new) return place->second;
  const auto named = weight_names_.find(leaf.node().get());
  const Tensor tensor{leaf};
  std::vector<std::int64_t> dims(tensor.shape().begin(), tensor.shape().end());
  place->second = graph_.weights(named == weight_names_.end() ? std::string{} : named->second,
                                 {.type = element_type_of(tensor.dtype()),
                                  .dims = std::move(dims),
                                  .bytes = SharedBytes::own(tensor.to_bytes()),
                                  .strings = {}});
  return place->second;
}

void ProgramExport::note(const std::string& operation, std::string why) {
  const auto same = [&](const Detail& one) { return one.key == operation && one.value == why; };
  if (std::ranges::none_of(refused_, same)) refused_.push_back({operation, std::move(why)});
}

Names ProgramExport::add(const Traced<std::span<const expr::Value>>& results,
                         const Given& parameters) {
  const Traced<expr::Extracted> extracted{expr::extract(results[0]), expr::extract(results[1]),
                                          expr::extract(results[2])};
  const Traced<Program> programs{cleaned(extracted[0]), cleaned(extracted[1]),
                                 cleaned(extracted[2])};
  const Program& program = programs[0];
  check_alike(program, programs[1]);
  check_alike(program, programs[2]);
  const Traced<std::vector<expr::Value>> all_leaves{extracted[0].leaves(), extracted[1].leaves(),
                                                    extracted[2].leaves()};
  const std::vector<expr::Value>& leaves = all_leaves[0];
  const auto readers = program.readers();
  std::vector<std::vector<ExportedValue>> values(program.code.size());
  std::vector<bool> is_result(program.code.size());
  for (const expr::Ref result : program.results) is_result[result.instruction] = true;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const std::uint32_t at = program.parameters[i];
    if (readers[at].empty() && !is_result[at]) continue;
    const auto given = parameters.find(leaves[i].node().get());
    if (given == parameters.end()) {
      check_same(leaves[i], all_leaves[1][i]);
      check_same(leaves[i], all_leaves[2][i]);
    }
    // A node that is known may have several outputs, each a tensor of its own.
    for (std::uint32_t k = 0; k < program.code[at].specs.size(); ++k)
      values[at].push_back({.name = given != parameters.end()
                                        ? given->second
                                        : weights_of(expr::Value{leaves[i].node(), k}),
                            .thin = {}});
  }
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    const Instruction& one = program.code[at];
    if (!values[at].empty() || one.op->kind == expr::OpKind::parameter) continue;
    values[at].resize(one.specs.size());
    try {
      const ExportRule* const rule = table_.find(one.op->name);
      ExportCall call{*this, programs, at, values};
      if (is_complex_somewhere(one)) call.refuse("ONNX computes with no complex numbers");
      if (!rule) call.refuse("ONNX has no such operator");
      const Names names = (*rule)(call);
      for (std::size_t i = 0; i < names.size(); ++i) values[at][i].name = names[i];
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      note(one.op->name, std::string{error.reason()});
      for (ExportedValue& value : values[at]) value = {.name = "?", .thin = {}};
    }
  }
  // Results are read whole, as an instruction behind the last would read them.
  Names names;
  for (std::size_t i = 0; i < program.results.size(); ++i) {
    const expr::Ref ref = program.results[i];
    ExportedValue& value = values[ref.instruction][ref.output];
    if (value.name.empty()) {
      const auto extents = [&](const Program& one) { return one.spec(ref).shape.extents(); };
      const auto shape =
          extents_of({extents(programs[0]), extents(programs[1]), extents(programs[2])}, sizes_);
      if (shape)
        value.name = graph_.node("Expand", {value.thin, graph_.dims(*shape)});
      else
        note(program.code[ref.instruction].op->name, "an extent is in no proportion to the batch");
    }
    names.push_back(value.name);
  }
  return names;
}

void ProgramExport::check() const {
  if (refused_.empty()) return;
  std::string all;
  for (const auto& [operation, why] : refused_)
    all += (all.empty() ? "'" : "; '") + operation + "': " + why;
  throw Error{"onnx.save", ErrorCode::unsupported, "there is no ONNX form of " + all, refused_};
}

}  // namespace stoker::onnx
