#include "stoker/pipeline/tensor/lowering/lowering.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/kernels/fused/product.hpp"
#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"
#include "stoker/pipeline/tensor/fusion/cluster_merging.hpp"
#include "stoker/pipeline/tensor/fusion/fused_builder.hpp"
#include "stoker/pipeline/tensor/fusion/product_fusion.hpp"
#include "stoker/pipeline/tensor/fusion/reduction_fusion.hpp"
#include "stoker/pipeline/tensor/graph/kernel_call.hpp"
#include "stoker/pipeline/tensor/lowering/fallback_kernel.hpp"
#include "stoker/pipeline/tensor/program/uses.hpp"

namespace stoker::expr {
namespace {

class Lowering {
 public:
  using Slot = LoweredProgram::Slot;

  Lowering(const Program& program, std::shared_ptr<DeviceClient> device,
           const ShaderCompiler& compile)
      : program_{program},
        device_{std::move(device)},
        compile_{compile},
        merged_{merge_clusters(program, find_clusters(program))},
        reductions_{find_fused_reductions(program, clusters_)},
        products_{find_fused_products(program, clusters_)} {
    for (const auto& [reader, fusion] : reductions_)
      if (fusion.cluster != Clusters::none) reduced_.insert(fusion.cluster);
    std::erase_if(products_, [&](const auto& one) { return reduced_.contains(one.first); });
    for (const auto& [cluster, fusion] : products_)
      left_to_cluster_.insert(fusion.product.instruction);
  }

  /// The origin of what was worked on last.
  [[nodiscard]] std::uint32_t refused() const noexcept { return refused_; }

  Result<std::shared_ptr<const LoweredProgram>> run() {
    for (std::uint32_t i = 0; i < program_.parameters.size(); ++i)
      parameter_index_[program_.parameters[i]] = i;
    for (const std::uint32_t i : merged_.order) {
      refused_ = program_.code[i].origin;
      STOKER_TRY(emit(i));
    }
    for (const Ref result : program_.results) {
      refused_ = program_.code[result.instruction].origin;
      STOKER_ASSIGN(const Slot slot, slot_of(result));
      lowered_->results.push_back(slot);
    }
    STOKER_TRY(finish());
    return std::shared_ptr<const LoweredProgram>{std::move(lowered_)};
  }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  using Origins = std::vector<std::uint32_t>;
  static Key key(Ref ref) { return {ref.instruction, ref.output}; }
  static std::string name_of(Ref ref) {
    return "v" + std::to_string(ref.instruction) + "." + std::to_string(ref.output);
  }

  /// Kernels that follow each other without the host.
  struct Segment {
    KernelGraph graph;
    std::map<Key, ValueId> stored;
    std::map<ValueId, Slot> bound;  // externals that are there before
    std::map<ValueId, std::uint32_t>
        made;  // what others use of it: a position in LoweredProgram::made
    std::vector<std::vector<std::uint32_t>> origins;  // by stage
  };
  /// In the order in which they run: a segment, or a step of the host.
  struct Stop {
    std::size_t segment = 0;
    std::optional<LoweredProgram::Step> host;
  };

  Segment& now() { return segments_.back(); }

  Result<void> emit(std::uint32_t i) {
    const Instruction& one = program_.code[i];
    if (const auto fusion = reductions_.find(i); fusion != reductions_.end())
      return emit_reduction(i, fusion->second);
    if (one.op->kind == OpKind::kernel)
      return left_to_cluster_.contains(i) ? Result<void>{} : emit_kernel(i);
    if (one.op->kind == OpKind::host) return emit_host(i);
    if (one.op->kind != OpKind::scalar) return {};
    const std::uint32_t number = clusters_.of[i];
    const Cluster& cluster = clusters_.all[number];
    if (cluster.members.back() != i || reduced_.contains(number)) return {};
    if (const auto fusion = products_.find(number); fusion != products_.end()) {
      STOKER_ASSIGN(const bool emitted, emit_product(cluster, fusion->second));
      if (emitted) return {};
      STOKER_TRY(emit_kernel(fusion->second.product.instruction));
    }
    return emit_cluster(cluster);
  }

  Result<void> emit_kernel(std::uint32_t i) {
    const Instruction& one = program_.code[i];
    const auto specs = program_.input_specs(one);
    const KernelUse use = one.op->kernel({specs, one.attributes, one.payload.get()});
    std::shared_ptr<const Kernel> kernel = called_kernel(one.payload.get());
    if (!kernel) {
      STOKER_ASSIGN(kernel, device_->kernels().find(use.kernel));
    }
    return add_stage(std::move(kernel), {one.inputs.begin(), one.inputs.end()}, outputs_of(i),
                     use.params, {one.origin});
  }

  Result<void> emit_cluster(const Cluster& cluster) {
    FusedBuilder builder{program_, cluster.shape};
    STOKER_TRY(compute(cluster, builder));
    std::vector<Ref> outputs;
    for (const std::uint32_t member : cluster.outputs) {
      builder.output({member, 0});
      outputs.push_back({member, 0});
    }
    const std::vector<Ref> inputs = builder.buffers();
    STOKER_ASSIGN(std::shared_ptr<const Kernel> kernel, fused_kernel(builder.take(), compile_));
    return add_stage(std::move(kernel), inputs, outputs, {}, origins_of(cluster));
  }

  /// A product with what is made of it. False where that cannot be one kernel: the cluster reads the
  /// product elsewhere, too, or there is no such kernel.
  Result<bool> emit_product(const Cluster& cluster, const ProductFusion& fusion) {
    const Instruction& product = program_.code[fusion.product.instruction];
    const auto specs = program_.input_specs(product);
    const KernelUse use = product.op->kernel({specs, product.attributes, product.payload.get()});
    FusedProduct operands{specs[0], specs[1], use.params, std::string{use.kernel}};

    FusedBuilder builder{program_, cluster.shape};
    builder.read(fusion.read);
    STOKER_TRY(compute(cluster, builder));
    std::vector<Ref> outputs;
    for (const std::uint32_t member : cluster.outputs) {
      builder.output({member, 0});
      outputs.push_back({member, 0});
    }
    std::vector<Ref> inputs{product.inputs.begin(), product.inputs.end()};
    for (std::size_t i = 1; i < builder.buffers().size(); ++i) {
      if (key(builder.buffers()[i]) == key(fusion.product)) return false;
      inputs.push_back(builder.buffers()[i]);
    }
    auto kernel = fused_product_kernel(builder.take(), operands, compile_);
    if (kernel.has_error()) {
      const ErrorCode code = kernel.error().code();
      if (code == ErrorCode::unsupported || code == ErrorCode::limit_exceeded ||
          code == ErrorCode::invalid_argument)
        return false;
      return kernel.error();
    }
    Origins origins = origins_of(cluster);
    origins.insert(origins.begin(), product.origin);
    STOKER_TRY(add_stage(std::move(*kernel), inputs, outputs, {}, std::move(origins)));
    return true;
  }

  /// A reduction with what it reduces.
  Result<void> emit_reduction(std::uint32_t i, const ReductionFusion& fusion) {
    FusedBuilder builder{program_, program_.spec(fusion.values).shape};
    Origins origins;
    if (fusion.cluster != Clusters::none) {
      origins = origins_of(clusters_.all[fusion.cluster]);
      STOKER_TRY(compute(clusters_.all[fusion.cluster], builder));
    } else {
      builder.read(fusion.values);
      builder.begin_code();
    }
    builder.output(fusion.values);
    const std::vector<Ref> inputs = builder.buffers();
    STOKER_ASSIGN(std::shared_ptr<const Kernel> kernel,
                  fused_reduction_kernel(builder.take(), fusion.reduction, compile_));
    origins.push_back(program_.code[i].origin);
    return add_stage(std::move(kernel), inputs, outputs_of(i), {}, std::move(origins));
  }

  Result<void> compute(const Cluster& cluster, FusedBuilder& builder) {
    for (const std::uint32_t member : cluster.members)
      for (const Ref input : program_.code[member].inputs)
        if (clusters_.of[input.instruction] != clusters_.of[member]) builder.read(input);
    builder.begin_code();
    for (const std::uint32_t member : cluster.members) STOKER_TRY(builder.compute(member));
    return {};
  }

  Result<void> emit_host(std::uint32_t i) {
    const Instruction& one = program_.code[i];
    const auto specs = program_.input_specs(one);
    STOKER_ASSIGN(std::shared_ptr<const HostStep> step,
                  one.op->host({specs, one.attributes, one.payload.get()}, device_));
    return add_host(std::move(step), {one.inputs.begin(), one.inputs.end()}, outputs_of(i),
                    {one.origin});
  }

  [[nodiscard]] Origins origins_of(const Cluster& cluster) const {
    Origins origins;
    for (const std::uint32_t member : cluster.members)
      origins.push_back(program_.code[member].origin);
    return origins;
  }

  [[nodiscard]] std::vector<Ref> outputs_of(std::uint32_t i) const {
    std::vector<Ref> outputs;
    for (std::uint32_t output = 0; output < program_.code[i].specs.size(); ++output)
      outputs.push_back({i, output});
    return outputs;
  }

  Result<void> add_stage(std::shared_ptr<const Kernel> kernel, const std::vector<Ref>& inputs,
                         const std::vector<Ref>& outputs, const Params& params, Origins origins) {
    std::vector<TensorSpec> specs;
    for (const Ref input : inputs) specs.push_back(program_.spec(input));
    STOKER_ASSIGN(std::shared_ptr<const HostStep> other,
                  fallback_kernel(kernel, specs, params, device_));
    if (other) return add_host(std::move(other), inputs, outputs, std::move(origins));
    std::vector<ValueId> from;
    for (const Ref input : inputs) {
      STOKER_ASSIGN(const ValueId value, stored(input));
      from.push_back(value);
    }
    std::vector<ValueId> to;
    for (const Ref output : outputs) {
      to.push_back(now().graph.value(name_of(output)));
      now().stored[key(output)] = to.back();
      home_[key(output)] = {segments_.size() - 1, to.back()};
    }
    now().origins.push_back(std::move(origins));
    return now().graph.add(std::move(kernel), std::move(from), std::move(to), params);
  }

  Result<void> add_host(std::shared_ptr<const HostStep> step, const std::vector<Ref>& inputs,
                        const std::vector<Ref>& outputs, Origins origins) {
    LoweredProgram::Step host;
    host.host = std::move(step);
    host.origins.push_back(std::move(origins));
    for (const Ref input : inputs) {
      STOKER_ASSIGN(const Slot slot, slot_of(input));
      host.slots.push_back(slot);
    }
    for (const Ref output : outputs) {
      host.outputs.push_back(new_slot(program_.spec(output)));
      slots_[key(output)] = host.outputs.back();
    }
    stops_.push_back({segments_.size() - 1, {}});
    stops_.push_back({0, std::move(host)});
    segments_.emplace_back();
    return {};
  }

  Slot new_slot(const TensorSpec& spec) {
    lowered_->made.push_back(spec);
    return {true, static_cast<std::uint32_t>(lowered_->made.size() - 1), 0};
  }

  /// The value in a buffer of its own.
  Result<Slot> slot_of(Ref ref) {
    if (const auto known = slots_.find(key(ref)); known != slots_.end()) return known->second;
    const Instruction& one = program_.code[ref.instruction];
    Slot slot;
    if (one.op->kind == OpKind::parameter) {
      slot = {false, parameter_index_.at(ref.instruction), ref.output};
    } else if (const auto home = home_.find(key(ref)); home != home_.end()) {
      slot = new_slot(program_.spec(ref));
      segments_[home->second.first].made[home->second.second] = slot.index;
    } else if (is_complex(program_.spec(ref).dtype)) {
      STOKER_ASSIGN(slot, complex_slot(ref));
    } else {
      // What a view or a reshape changes is only how memory is read; here it gets its own.
      STOKER_ASSIGN(const ValueId value, copied(ref, "copy of " + name_of(ref)));
      slot = new_slot(program_.spec(ref));
      now().made[value] = slot.index;
      now().stored.try_emplace(key(ref), value);
    }
    slots_[key(ref)] = slot;
    return slot;
  }

  /// Complex numbers, in a buffer of theirs: whoever makes their parts writes them there, unless the
  /// pairs are wanted by others, too.
  Result<Slot> complex_slot(Ref ref) {
    const Ref pairs = program_.code[ref.instruction].inputs[0];
    const bool alone = uses_.read_once(pairs);
    const Slot slot = new_slot(program_.spec(ref));
    if (const auto home = home_.find(key(pairs)); alone && home != home_.end()) {
      segments_[home->second.first].made[home->second.second] = slot.index;
      return slot;
    }
    STOKER_ASSIGN(const ValueId value, copied(pairs, "complex " + name_of(ref)));
    now().made[value] = slot.index;
    return slot;
  }

  /// The value as one in the memory of this segment: made by a stage, bound, another shape of one, or
  /// copied out of what it is a view of.
  Result<ValueId> stored(Ref ref) {
    if (const auto known = now().stored.find(key(ref)); known != now().stored.end())
      return known->second;
    const Instruction& one = program_.code[ref.instruction];
    const bool elsewhere =
        one.op->kind == OpKind::parameter || slots_.contains(key(ref)) || home_.contains(key(ref));
    ValueId value = 0;
    if (elsewhere) {
      STOKER_ASSIGN(const Slot slot, slot_of(ref));
      STOKER_ASSIGN(value, now().graph.external(name_of(ref), program_.spec(ref)));
      now().bound[value] = slot;
    } else if (one.op->kind == OpKind::reshape && is_complex(program_.spec(one.inputs[0]).dtype)) {
      // The buffer of the complex numbers, bound as the pairs that it holds.
      STOKER_ASSIGN(const Slot slot, slot_of(one.inputs[0]));
      STOKER_ASSIGN(value, now().graph.external(name_of(ref), program_.spec(ref)));
      now().bound[value] = slot;
    } else if (one.op->kind == OpKind::reshape) {
      STOKER_ASSIGN(const ValueId base, stored(one.inputs[0]));
      value = now().graph.alias(name_of(ref), base, one.specs[0].shape);
    } else if (one.op->kind == OpKind::computed_after) {
      STOKER_ASSIGN(const ValueId base, stored(one.inputs[0]));
      STOKER_ASSIGN(const std::vector<ValueId> after, awaited(one));
      value = now().graph.alias(name_of(ref), base, one.specs[0].shape, after);
    } else {
      STOKER_ASSIGN(value, copied(ref, name_of(ref)));
    }
    now().stored[key(ref)] = value;
    return value;
  }

  /// What is in memory when all that `later` is computed after is: views and reshapes are there when what they
  /// stand on is. Nothing of what is given or of what an earlier segment keeps to itself.
  Result<std::vector<ValueId>> awaited(const Instruction& later) {
    std::vector<ValueId> values;
    std::vector<Ref> open{later.inputs.begin() + 1, later.inputs.end()};
    std::set<Key> seen;
    while (!open.empty()) {
      const Ref ref = open.back();
      open.pop_back();
      if (!seen.insert(key(ref)).second) continue;
      if (now().stored.contains(key(ref)) || slots_.contains(key(ref))) {
        STOKER_ASSIGN(const ValueId value, stored(ref));
        values.push_back(value);
        continue;
      }
      if (home_.contains(key(ref))) continue;
      const auto& inputs = program_.code[ref.instruction].inputs;
      open.insert(open.end(), inputs.begin(), inputs.end());
    }
    return values;
  }

  /// Its elements, read one by one into memory of their own.
  Result<ValueId> copied(Ref ref, const std::string& name) {
    FusedBuilder builder{program_, program_.spec(ref).shape};
    builder.read(ref);
    builder.begin_code();
    builder.output(ref);
    std::vector<ValueId> from;
    for (const Ref buffer : builder.buffers()) {
      STOKER_ASSIGN(const ValueId value, stored(buffer));
      from.push_back(value);
    }
    STOKER_ASSIGN(std::shared_ptr<const Kernel> kernel, fused_kernel(builder.take(), compile_));
    const ValueId value = now().graph.value(name);
    now().origins.push_back({program_.code[ref.instruction].origin});
    STOKER_TRY(now().graph.add(std::move(kernel), std::move(from), {value}, {}));
    return value;
  }

  Result<void> finish() {
    stops_.push_back({segments_.size() - 1, {}});
    for (Stop& stop : stops_) {
      if (stop.host) {
        lowered_->steps.push_back(std::move(*stop.host));
        continue;
      }
      Segment& segment = segments_[stop.segment];
      if (segment.graph.stages().empty()) continue;
      STOKER_ASSIGN(LoweredProgram::Step step, compiled(segment));
      lowered_->steps.push_back(std::move(step));
    }
    return {};
  }

  Result<LoweredProgram::Step> compiled(Segment& segment) {
    STOKER_TRY(check_graph(segment.graph));
    for (const auto& [value, index] : segment.made) segment.graph.expose(value);
    LoweredProgram::Step step;
    step.origins = std::move(segment.origins);
    auto pipeline = CompiledPipeline::compile(std::move(segment.graph), device_);
    if (!pipeline) {
      for (std::size_t stage = 0; stage < step.origins.size(); ++stage)
        if (pipeline.error().detail("stage") == std::to_string(stage))
          refused_ = step.origins[stage].back();
      return pipeline.error();
    }
    step.pipeline = *std::move(pipeline);
    for (const ValueId value : step.pipeline->externals()) {
      const auto made = segment.made.find(value);
      step.slots.push_back(made != segment.made.end() ? Slot{true, made->second, 0}
                                                      : segment.bound.at(value));
    }
    return step;
  }

  const Program& program_;
  const Uses uses_{program_};
  const std::shared_ptr<DeviceClient> device_;
  const ShaderCompiler& compile_;
  const MergedClusters merged_;
  const Clusters& clusters_ = merged_.clusters;
  const std::map<std::uint32_t, ReductionFusion> reductions_;
  std::set<std::uint32_t> reduced_;  // the clusters in them
  std::map<std::uint32_t, ProductFusion> products_;
  std::set<std::uint32_t> left_to_cluster_;  // the products in them
  std::shared_ptr<LoweredProgram> lowered_ = std::make_shared<LoweredProgram>();
  std::vector<Segment> segments_ = std::vector<Segment>(1);
  std::vector<Stop> stops_;
  std::map<std::uint32_t, std::uint32_t> parameter_index_;
  std::map<Key, std::pair<std::size_t, ValueId>> home_;  // what a segment computes
  std::map<Key, Slot> slots_;
  std::uint32_t refused_ = Instruction::no_origin;
};

}  // namespace

Result<std::shared_ptr<const LoweredProgram>> lower(const Program& program,
                                                    const std::shared_ptr<DeviceClient>& device,
                                                    const ShaderCompiler& compile,
                                                    std::uint32_t* refused) {
  Lowering lowering{program, device, compile};
  auto made = lowering.run();
  if (made.has_error() && refused != nullptr) *refused = lowering.refused();
  return made;
}

}  // namespace stoker::expr
