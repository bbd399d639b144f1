#include "stoker/pipeline/tensor/lowering.hpp"

#include <map>
#include <optional>

#include "stoker/pipeline/tensor/access.hpp"
#include "stoker/pipeline/tensor/clusters.hpp"

namespace stoker::expr {
namespace {

/// One fused kernel in the making: what it reads, each once, and what it computes.
class FusedBuilder {
 public:
  FusedBuilder(const Program& program, const Shape& shape) : program_{program} {
    fused_.shape = shape;
  }

  /// A value that is read at each element of the shape, to which it broadcasts.
  void read(Ref ref) {
    if (places_.contains(key(ref))) return;
    const Access access =
        stretched(access_of(program_, ref), program_.spec(ref).shape, fused_.shape);
    for (std::size_t i = 0; i < reads_.size(); ++i)
      if (reads_[i] == access) {
        places_[key(ref)] = i;
        return;
      }
    reads_.push_back(access);
    places_[key(ref)] = reads_.size() - 1;
  }

  /// After all that is read is known.
  void begin_code() {
    for (std::size_t i = 0; i < reads_.size(); ++i)
      if (reads_[i].source != Access::Source::constant) add_input(i);
    for (std::size_t i = 0; i < reads_.size(); ++i)
      if (reads_[i].source == Access::Source::constant) add_constant(i);
  }

  Result<void> compute(std::uint32_t member) {
    const Instruction& one = program_.code[member];
    FusedProgram::Instruction code;
    STOKER_ASSIGN(code.function, find_scalar_function(one.op->name));
    code.result = one.specs[0].dtype;
    for (std::size_t i = 0; i < one.inputs.size(); ++i) code.operands[i] = value_of(one.inputs[i]);
    computed_[member] = next_value();
    fused_.code.push_back(code);
    return {};
  }
  void output(Ref ref) { fused_.outputs.push_back(value_of(ref)); }

  [[nodiscard]] FusedProgram take() { return std::move(fused_); }
  /// The values whose memory the kernel binds, in the order of its inputs.
  [[nodiscard]] const std::vector<Ref>& buffers() const noexcept { return buffers_; }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  static Key key(Ref ref) { return {ref.instruction, ref.output}; }

  void add_input(std::size_t read) {
    const Access& access = reads_[read];
    FusedProgram::Input input;
    input.spec = program_.spec(access.base);
    input.offset = access.offset;
    input.strides = access.strides;
    input.index = access.source == Access::Source::index;
    if (!input.index) buffers_.push_back(access.base);
    values_[read] = static_cast<FusedProgram::Value>(fused_.inputs.size());
    fused_.inputs.push_back(input);
  }
  void add_constant(std::size_t read) {
    const Instruction& leaf = program_.code[reads_[read].base.instruction];
    values_[read] =
        static_cast<FusedProgram::Value>(fused_.inputs.size() + fused_.constants.size());
    fused_.constants.push_back(
        {leaf.specs[0].dtype, static_cast<std::uint64_t>(leaf.attributes.integer("bits"))});
  }
  [[nodiscard]] FusedProgram::Value next_value() const {
    return static_cast<FusedProgram::Value>(fused_.inputs.size() + fused_.constants.size() +
                                            fused_.code.size());
  }
  [[nodiscard]] FusedProgram::Value value_of(Ref ref) const {
    const auto computed = computed_.find(ref.instruction);
    return computed != computed_.end() ? computed->second : values_.at(places_.at(key(ref)));
  }

  const Program& program_;
  FusedProgram fused_;
  std::vector<Access> reads_;
  std::map<Key, std::size_t> places_;  // of what is read: its place in reads_
  std::map<std::size_t, FusedProgram::Value> values_;
  std::map<std::uint32_t, FusedProgram::Value> computed_;
  std::vector<Ref> buffers_;
};

class Lowering {
 public:
  Lowering(const Program& program, std::shared_ptr<DeviceClient> device,
           const ShaderCompiler& compile)
      : program_{program},
        device_{std::move(device)},
        compile_{compile},
        clusters_{find_clusters(program)} {}

  Result<std::shared_ptr<const LoweredProgram>> run() {
    for (std::uint32_t i = 0; i < program_.parameters.size(); ++i)
      parameter_index_[program_.parameters[i]] = i;
    for (std::uint32_t i = 0; i < program_.code.size(); ++i) STOKER_TRY(emit(i));
    for (const Ref result : program_.results) STOKER_TRY(add_result(result));
    STOKER_TRY(finish());
    return std::shared_ptr<const LoweredProgram>{std::move(lowered_)};
  }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  static Key key(Ref ref) { return {ref.instruction, ref.output}; }
  static std::string name_of(Ref ref) {
    return "v" + std::to_string(ref.instruction) + "." + std::to_string(ref.output);
  }

  Result<void> emit(std::uint32_t i) {
    const Instruction& one = program_.code[i];
    if (one.op->kind == OpKind::kernel) return emit_kernel(i);
    if (one.op->kind != OpKind::scalar) return {};
    const Cluster& cluster = clusters_.all[clusters_.of[i]];
    return cluster.members.back() == i ? emit_cluster(cluster) : Result<void>{};
  }

  Result<void> emit_kernel(std::uint32_t i) {
    const Instruction& one = program_.code[i];
    const auto specs = program_.input_specs(one);
    const KernelUse use = one.op->kernel({specs, one.attributes});
    STOKER_ASSIGN(std::shared_ptr<const Kernel> kernel, device_->kernels().find(use.kernel));
    std::vector<ValueId> inputs;
    for (const Ref input : one.inputs) {
      STOKER_ASSIGN(const ValueId value, stored(input));
      inputs.push_back(value);
    }
    std::vector<ValueId> outputs;
    for (std::uint32_t output = 0; output < one.specs.size(); ++output)
      outputs.push_back(new_value({i, output}));
    return graph_.add(std::move(kernel), std::move(inputs), std::move(outputs), use.params);
  }

  Result<void> emit_cluster(const Cluster& cluster) {
    FusedBuilder builder{program_, cluster.shape};
    for (const std::uint32_t member : cluster.members)
      for (const Ref input : program_.code[member].inputs)
        if (clusters_.of[input.instruction] != clusters_.of[member]) builder.read(input);
    builder.begin_code();
    for (const std::uint32_t member : cluster.members) STOKER_TRY(builder.compute(member));
    std::vector<ValueId> outputs;
    for (const std::uint32_t member : cluster.outputs) {
      builder.output({member, 0});
      outputs.push_back(new_value({member, 0}));
    }
    return add_fused(builder, std::move(outputs));
  }

  Result<void> add_fused(FusedBuilder& builder, std::vector<ValueId> outputs) {
    std::vector<ValueId> inputs;
    for (const Ref buffer : builder.buffers()) {
      STOKER_ASSIGN(const ValueId value, stored(buffer));
      inputs.push_back(value);
    }
    STOKER_ASSIGN(std::shared_ptr<const Kernel> kernel, fused_kernel(builder.take(), compile_));
    return graph_.add(std::move(kernel), std::move(inputs), std::move(outputs), {});
  }

  ValueId new_value(Ref ref) {
    const ValueId value = graph_.value(name_of(ref));
    stored_[key(ref)] = value;
    return value;
  }

  /// The value as one in memory: made by a stage, given, another shape of one, or copied out of what it
  /// is a view of.
  Result<ValueId> stored(Ref ref) {
    if (const auto known = stored_.find(key(ref)); known != stored_.end()) return known->second;
    const Instruction& one = program_.code[ref.instruction];
    if (one.op->kind == OpKind::parameter) {
      STOKER_ASSIGN(const ValueId value, graph_.external(name_of(ref), program_.spec(ref)));
      inputs_[value] = ref;
      return stored_[key(ref)] = value;
    }
    if (one.op->kind == OpKind::reshape) {
      STOKER_ASSIGN(const ValueId base, stored(one.inputs[0]));
      return stored_[key(ref)] = graph_.alias(name_of(ref), base, one.specs[0].shape);
    }
    STOKER_ASSIGN(const ValueId copy, copied(ref, name_of(ref)));
    return stored_[key(ref)] = copy;
  }

  /// Its elements, read one by one into memory of their own.
  Result<ValueId> copied(Ref ref, const std::string& name) {
    FusedBuilder builder{program_, program_.spec(ref).shape};
    builder.read(ref);
    builder.begin_code();
    builder.output(ref);
    const ValueId value = graph_.value(name);
    STOKER_TRY(add_fused(builder, {value}));
    return value;
  }

  Result<void> add_result(Ref ref) {
    // What a reshape changes is only the name of the memory, but a result has its own.
    const Instruction& one = program_.code[ref.instruction];
    if (one.op->kind == OpKind::parameter) {
      lowered_->results.push_back({false, parameter_index_.at(ref.instruction), ref.output});
      return {};
    }
    if (const auto known = result_of_.find(key(ref)); known != result_of_.end()) {
      lowered_->results.push_back({true, known->second, 0});
      return {};
    }
    ValueId value = 0;
    if (one.op->kind == OpKind::reshape) {
      STOKER_ASSIGN(value, copied(ref, "result " + name_of(ref)));
    } else {
      STOKER_ASSIGN(value, stored(ref));
    }
    const auto index = static_cast<std::uint32_t>(lowered_->made.size());
    lowered_->made.push_back(program_.spec(ref));
    made_[value] = index;
    result_of_[key(ref)] = index;
    lowered_->results.push_back({true, index, 0});
    return {};
  }

  Result<void> finish() {
    if (graph_.stages().empty()) return {};
    STOKER_TRY(check_graph(graph_));
    for (const auto& [value, index] : made_) graph_.expose(value);
    STOKER_ASSIGN(lowered_->pipeline, CompiledPipeline::compile(std::move(graph_), device_));
    for (const ValueId value : lowered_->pipeline->externals()) {
      if (const auto made = made_.find(value); made != made_.end()) {
        lowered_->externals.push_back({true, made->second, 0});
      } else {
        const Ref ref = inputs_.at(value);
        lowered_->externals.push_back({false, parameter_index_.at(ref.instruction), ref.output});
      }
    }
    return {};
  }

  const Program& program_;
  const std::shared_ptr<DeviceClient> device_;
  const ShaderCompiler& compile_;
  const Clusters clusters_;
  Graph graph_;
  std::shared_ptr<LoweredProgram> lowered_ = std::make_shared<LoweredProgram>();
  std::map<Key, ValueId> stored_;
  std::map<std::uint32_t, std::uint32_t> parameter_index_;
  std::map<ValueId, Ref> inputs_;
  std::map<ValueId, std::uint32_t> made_;
  std::map<Key, std::uint32_t> result_of_;
};

}  // namespace

Result<std::shared_ptr<const LoweredProgram>> lower(const Program& program,
                                                    const std::shared_ptr<DeviceClient>& device,
                                                    const ShaderCompiler& compile) {
  return Lowering{program, device, compile}.run();
}

}  // namespace stoker::expr
