// The interface of a rule that turns one operation on tensors into nodes of ONNX.
//
// Lifetime: one call of the rule. Threads: one. Errors are thrown: unsupported by refuse(), and by the getters if
// ONNX requires a number that depends on an open batch; internal for an attribute of another kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/api/onnx/exporting/graph_maker.hpp"
#include "stoker/pipeline/tensor/program/program.hpp"

namespace stoker::onnx {

class ProgramExport;

/// The name of a value in the graph. A thin value has fewer elements, and the full value is a broadcast of it. So
/// bias and constants stay small for operators that broadcast by themselves.
struct ExportedValue {
  std::string name;            ///< empty while only the thin value exists
  std::string thin;            ///< empty: there is no thin value
  ExtentList thin_shape = {};  ///< of `thin`
};

class ExportCall {
 public:
  /// One instruction in all traces, with the part of the program that is exported already.
  ExportCall(ProgramExport& exporter, const Traced<expr::Program>& programs, std::size_t at,
             std::vector<std::vector<ExportedValue>>& values);

  [[nodiscard]] GraphMaker& graph() const noexcept;
  [[nodiscard]] int opset() const noexcept { return graph().opset(); }
  [[noreturn]] void refuse(const std::string& why) const;

  /// The first trace, and the instruction in it: for patterns of several instructions.
  [[nodiscard]] const expr::Program& program() const noexcept { return programs_[0]; }
  [[nodiscard]] const expr::Instruction& instruction() const noexcept { return first_; }

  /// From now on replaces `narrow` by `wide`, for rules of operators that do not take `narrow`: operands are
  /// cast, and dtypes are reported as `wide`. give_thin() casts the results that it keeps back; the caller
  /// casts the others.
  void compute_in(DType wide, DType narrow) { widened_ = {narrow, wide}; }

  // Operands and results --------------------------------------------------------------------------
  [[nodiscard]] std::size_t count() const noexcept { return first_.inputs.size(); }
  /// The whole operand.
  [[nodiscard]] std::string x(std::size_t i = 0) const;
  [[nodiscard]] Names operands() const;
  [[nodiscard]] DType dtype(std::size_t i = 0) const;
  [[nodiscard]] ExtentList shape(std::size_t i = 0) const;
  [[nodiscard]] std::size_t rank(std::size_t i = 0) const;
  /// Refuses an extent that depends on the batch.
  [[nodiscard]] std::int64_t extent(std::size_t i, std::size_t axis) const;
  /// The number if the operand is a constant of one number.
  [[nodiscard]] std::optional<double> constant(std::size_t i) const;

  [[nodiscard]] std::size_t outputs() const noexcept { return first_.specs.size(); }
  [[nodiscard]] DType out_dtype(std::size_t i = 0) const { return widened(first_.specs[i].dtype); }
  [[nodiscard]] ExtentList out_shape(std::size_t i = 0) const;

  /// The thin value of an operand, with its shape; the operand is a broadcast of it.
  [[nodiscard]] std::pair<std::string, ExtentList> small(std::size_t i = 0) const;
  /// Whether all elements of the operand are equal, because it is a broadcast of one element.
  [[nodiscard]] bool is_uniform(std::size_t i = 0) const;
  /// For operators that broadcast: the thin values of the operands. Call give() with the operator's result
  /// afterwards.
  [[nodiscard]] Names thin_operands();
  /// The result of an operator that broadcast thin_operands().
  [[nodiscard]] Names give(std::string name);
  /// A result that is a broadcast of `name`, which has this shape.
  [[nodiscard]] Names give_thin(std::string name, ExtentList shape);

  // Attributes ------------------------------------------------------------------------------------
  [[nodiscard]] bool flag(std::string_view name) const { return first_.attributes.flag(name); }
  [[nodiscard]] double real(std::string_view name) const { return first_.attributes.real(name); }
  [[nodiscard]] const std::string& text(std::string_view name) const {
    return first_.attributes.text(name);
  }
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] Extent extent(std::string_view name) const;
  /// Returns `fallback` for an empty list.
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name,
                                                   std::vector<std::int64_t> fallback = {}) const;
  [[nodiscard]] ExtentList extents(std::string_view name, ExtentList fallback = {}) const;
  /// An axis of the operand, counted from the front.
  [[nodiscard]] std::int64_t axis(std::string_view name, std::size_t i = 0) const;

  // Nodes -----------------------------------------------------------------------------------------
  [[nodiscard]] std::string node(const std::string& op, const Names& inputs,
                                 const std::vector<NodeAttribute>& attributes = {}) const {
    return graph().node(op, inputs, attributes);
  }
  [[nodiscard]] std::string cast(const std::string& x, DType from, DType to) const {
    return graph().cast(x, from, to);
  }
  [[nodiscard]] std::string reshaped(const std::string& x, const ExtentList& from,
                                     const ExtentList& to) const;
  [[nodiscard]] std::string transposed(const std::string& x,
                                       const std::vector<std::int64_t>& axes) const;

  // Functions of the operation -------------------------------------------------------------
  [[nodiscard]] TensorSpec result(std::size_t function, std::size_t i) const;
  [[nodiscard]] std::size_t results(std::size_t function) const;
  [[nodiscard]] ExtentList parameter_shape(std::size_t function, std::size_t i) const;
  [[nodiscard]] DType parameter_dtype(std::size_t function, std::size_t i) const;
  [[nodiscard]] bool reads(std::size_t function, std::size_t parameter) const;
  /// The results of the function for these arguments, in the current graph.
  [[nodiscard]] Names inlined(std::size_t function, const Names& arguments) const;

 private:
  [[nodiscard]] ExtentList shape_of(const Traced<const TensorSpec*>& specs) const;
  /// The instruction in a trace.
  [[nodiscard]] const expr::Instruction& in(std::size_t trace) const {
    return programs_[trace].code[at_];
  }
  [[nodiscard]] ExportedValue& value(std::size_t i) const;
  [[nodiscard]] DType own_dtype(std::size_t i) const;
  [[nodiscard]] DType widened(DType dtype) const {
    return widened_ && widened_->first == dtype ? widened_->second : dtype;
  }

  ProgramExport& exporter_;
  const Traced<expr::Program>& programs_;
  const expr::Instruction& first_;
  const std::size_t at_;
  std::vector<std::vector<ExportedValue>>& values_;
  ExtentList broadcast_;                            // the shape to which thin_operands() broadcast
  std::optional<std::pair<DType, DType>> widened_;  // the narrow dtype and the wide one
};

}  // namespace stoker::onnx
