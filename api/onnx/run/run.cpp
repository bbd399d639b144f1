#include "stoker/api/onnx/run/run.hpp"

#include <algorithm>
#include <utility>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/onnx/core/signature.hpp"
#include "stoker/api/onnx/run/missing_plan.hpp"
#include "stoker/api/onnx/run/walk.hpp"
#include "stoker/api/tensor/core/shape_queries.hpp"
#include "stoker/pipeline/tensor/files/byte_source.hpp"
#include "stoker/runtime/futures/cancel.hpp"

namespace stoker::onnx {
namespace {

constexpr std::size_t most_cuts_at_once = 16;

/// Collects the tensors that a segment gives, each once.
class SegmentMaker {
 public:
  /// `nodes`: that were walked through.
  SegmentMaker(std::span<const Tensor> parameters, std::size_t nodes, const Device& device,
               bool may_choose_layouts, const NodeMarks& marks, PlanRecorder* recorder)
      : parameters_{parameters},
        nodes_{nodes},
        device_{device},
        may_choose_layouts_{may_choose_layouts},
        marks_{marks},
        recorder_{recorder} {}

  Segment::Source source(const Tensor& tensor) {
    if (!stoker::detail::any_tracked({&tensor, 1})) {
      Constants::compute_for_plan(tensor);
      return {.fixed = tensor};
    }
    const auto same = [&](const Tensor& one) { return one.value() == tensor.value(); };
    if (const auto found = std::ranges::find_if(parameters_, same); found != parameters_.end())
      return {false, static_cast<std::size_t>(found - parameters_.begin())};
    const auto found = std::ranges::find_if(results_, same);
    const auto index = static_cast<std::size_t>(found - results_.begin());
    if (found == results_.end()) results_.push_back(tensor);
    return {true, index};
  }

  SegmentPtr made(Segment segment) {
    segment.nodes = nodes_;
    segment.client = device_.client();
    segment.may_choose_layouts = may_choose_layouts_;
    const auto look = [&](const expr::Extracted& extracted, const expr::LoweredProgram& program) {
      if (recorder_ == nullptr) segment.kernels = planned_kernels(marks_, extracted, program);
    };
    if (!results_.empty())
      segment.program = std::make_unique<const stoker::detail::TracedProgram>(
          results_, parameters_, device_.client(), may_choose_layouts_, look);
    auto made = std::make_shared<const Segment>(std::move(segment));
    if (recorder_) recorder_->add_segment(results_, parameters_, made);
    return made;
  }

 private:
  std::span<const Tensor> parameters_;
  const std::size_t nodes_;
  const Device& device_;
  const bool may_choose_layouts_;
  const NodeMarks& marks_;
  PlanRecorder* const recorder_;
  std::vector<Tensor> results_;
};

/// `segment`: empty, or says what a first one is traced for.
SegmentPtr up_to(const Cut& cut, SegmentMaker maker, Segment segment) {
  for (const Tensor& tensor : cut.alive) segment.alive.push_back(maker.source(tensor));
  segment.wanted = maker.source(cut.wanted);
  segment.reader = cut.node->place();
  segment.read = cut.wanted.spec();
  return maker.made(std::move(segment));
}

SegmentPtr up_to(const RoundEnd& end, SegmentMaker maker, Segment segment) {
  for (const Tensor& tensor : end.alive) segment.alive.push_back(maker.source(tensor));
  if (end.condition) segment.wanted = maker.source(*end.condition);
  segment.loop_end = {.loop = end.loop,
                      .most = end.most,
                      .place = end.place,
                      .key = end.place->key(end.loop),
                      .goes_on = end.goes_on,
                      .rounds = end.rounds};
  for (const Tensor& tensor : end.given) segment.loop_end->given.push_back(maker.source(tensor));
  return maker.made(std::move(segment));
}

/// Whoever gets the outputs is in no scope of the model's device, so what is known becomes a tensor there.
SegmentPtr last(const Values& outputs, SegmentMaker maker, Segment segment) {
  for (const Value& output : outputs)
    segment.outputs.push_back(on_device(output).with_tensors([&](const Value::Cell& cell) {
      segment.in_outputs.push_back(maker.source(cell.tensor));
      // A placeholder, so that the segment does not keep what computes it.
      return placeholder(cell.tensor.spec());
    }));
  return maker.made(std::move(segment));
}

/// A run that comes to plans that are there, and by them out of the loop that it traces, ends its walk by this. No
/// std::exception, which is what rules throw.
struct PlanIsThere {
  SegmentPtr last = nullptr;  ///< if it comes to the last one, which has not run
};

}  // namespace

Value on_device(const Value& value) {
  if (value.is_known()) return {value.known().tensor(), value.type()};
  if (value.source()) return value;
  if (value.is_sequence()) {
    Values elements;
    for (const Value& one : value.elements()) elements.push_back(on_device(one));
    return Value::sequence(std::move(elements));
  }
  if (value.is_optional() && value.element()) return Value::optional(on_device(*value.element()));
  return value;
}

void Run::start(const Values& inputs, const Tensor& key) {
  since_ = plans_.now();
  path_.clear();
  steps_.clear();
  path_.push_back(signature_of(inputs));
  for (const std::size_t output : wanted_) add_number(output, path_[0]);
  parameters_.clear();
  for (const Value& input : inputs)
    input.visit_cells([&](const auto& cell) { parameters_.push_back(cell->tensor); });
  if (key.has_value()) parameters_.push_back(key);
}

std::optional<Values> Run::at_once(const Values& inputs, const Tensor& key) {
  start(inputs, key);
  for (std::size_t cuts = 0;; ++cuts) {
    const SegmentPtr segment = plans_.find(path_);
    if (segment == nullptr) return {};
    execute(*segment);
    if (segment->is_last()) return outputs_of(*segment);
    leave(segment);
    // A loop may have cuts without end, and whoever calls wants to go on.
    if (cuts == most_cuts_at_once || !can_go_on()) return {};
    go_on();
  }
}

std::optional<Values> Run::followed() {
  if (left_) go_on();
  while (const SegmentPtr segment = plans_.find(path_)) {
    execute(*segment);
    if (segment->is_last()) return outputs_of(*segment);
    leave(segment);
    go_on();
  }
  return {};
}

Values Run::rest(const Values& inputs, const Tensor& key) {
  if (std::optional<Values> outputs = followed()) return *std::move(outputs);
  if (!may_trace_) throw no_plan(inputs);
  return traced(inputs, key);
}

Values Run::operator()(const Values& inputs, const Tensor& key) {
  start(inputs, key);
  return rest(inputs, key);
}

Values Run::recorded(const Values& inputs, const Tensor& key, PlanRecorder& recorder) {
  start(inputs, key);
  recorder_ = &recorder;
  return traced(inputs, key);
}

void Run::check_plan(const Values& inputs) const {
  if (!may_trace_ && path_.size() == 1 && left_ == nullptr) throw no_plan(inputs);
}

Error Run::no_plan(const Values& inputs) const {
  const MissingPlan missing{model_.graph()};
  if (path_.size() == 1) return missing.for_inputs(inputs, wanted_, plans_.after({}));
  const auto before = std::span{path_}.first(path_.size() - 1);
  if (steps_.back().place) return missing.for_round(plans_.after(before));
  SegmentPtr cut;
  for (const auto& [key, segment] : plans_.after(before.first(before.size() - 1)))
    if (key == before.back()) cut = segment;
  return missing.for_elements(path_.back(), cut, plans_.after(before));
}

Values Run::traced(const Values& inputs, const Tensor& key) {
  for (;;) {
    if (std::optional<Values> outputs = trace(inputs, key)) return *std::move(outputs);
    if (std::optional<Values> outputs = followed()) return *std::move(outputs);
  }
}

/// What a walk asks of the run: it is led to where the run is, and what it traces from there on is run.
class Run::Trace final : public WalkedRun, public WalkObserver {
 public:
  explicit Trace(Run& run) : run_{run} {}

  void begins(const Node& node) override { marks_.begins(node); }
  void ends(const Node&, ComputedBy) override { marks_.ends(); }

  Tensor stand_in(const TensorSpec& spec) {
    placeholders_.push_back(placeholder(spec));
    return placeholders_.back();
  }
  /// The graph's inputs, as the walk has them.
  void begins_with(const Values& inputs) { inputs_ = inputs; }
  /// What a first segment is traced for; empty for a later one.
  [[nodiscard]] Segment begun() const {
    Segment segment;
    if (run_.path_.size() > 1) return segment;
    segment.inputs = inputs_;
    segment.wanted_outputs = run_.wanted_;
    return segment;
  }
  /// What was traced since the last cut.
  [[nodiscard]] SegmentMaker maker() const {
    return {placeholders_, nodes_,        run_.device_, run_.model_.choices().layouts,
            marks_,        run_.recorder_};
  }

  void check_limits() override {
    // Those that lead to where the run is have been counted.
    if (is_there()) ++nodes_;
    run_.check_limits(nodes_);
  }

  AfterCut cut(const Cut& cut) override {
    if (is_there()) {
      const SegmentPtr segment =
          run_.plans_.keep(run_.path_, up_to(cut, maker(), begun()), run_.since_);
      if (run_.recorder_)
        run_.recorder_->add_cut({cut.node->place(), std::string{cut.name}, cut.wanted.spec()});
      run(segment);
    }
    next();
    for (const Tensor& tensor : cut.alive) static_cast<void>(stand_in(tensor.spec()));
    const auto bytes = std::as_bytes(std::span{run_.path_[steps_]}).subspan(1);
    return {placeholders_, {bytes.begin(), bytes.end()}};
  }

  /// A binding wants one program.
  [[nodiscard]] bool may_have_segments() const override {
    return run_.recorder_ == nullptr || run_.recorder_->measures();
  }

  LoopId begin_loop() override { return {steps_, loops_++}; }

  std::optional<AfterRound> resume(LoopId loop, std::span<const Tensor> around) override {
    if (is_there() || steps_ != loop.depth || !run_.is_in(loop)) return {};
    return at_place(around);
  }

  AfterRound end_round(const RoundEnd& end, const Node& node) override {
    const SegmentPtr segment =
        run_.plans_.keep(run_.path_, up_to(end, maker(), begun()), run_.since_);
    if (run_.recorder_ && end.condition)
      run_.recorder_->add_cut({node.place(), {}, end.condition->spec()});
    run(segment);
    while (const SegmentPtr found = run_.plans_.find(run_.path_)) {
      if (found->is_last()) throw PlanIsThere{found};
      run(found);
      if (!run_.is_in(end.loop)) throw PlanIsThere{};
    }
    // In the same loop the walk need not begin anew.
    steps_ = end.loop.depth;
    std::size_t of_place = end.place->has_key ? 1 : 0;
    for (const Value& state : end.place->states)
      state.visit_cells([&](const auto&) { ++of_place; });
    return at_place(std::span{end.alive}.first(end.alive.size() - of_place));
  }

 private:
  /// Whether the walk is where the run is.
  [[nodiscard]] bool is_there() const noexcept { return steps_ == run_.steps_.size(); }
  void run(const SegmentPtr& segment) {
    run_.execute(*segment);
    run_.leave(segment);
    run_.go_on();
  }
  void next() {
    ++steps_;
    loops_ = 0;
    nodes_ = 0;
    placeholders_.clear();
    marks_.forget();
  }
  /// Goes to a place of a loop, around which are such tensors.
  [[nodiscard]] AfterRound at_place(std::span<const Tensor> around) {
    next();
    const Step& step = run_.steps_[steps_ - 1];
    for (const Tensor& tensor : around) static_cast<void>(stand_in(tensor.spec()));
    for (const Value& state : step.place->states)
      state.visit_cells(
          [&](const auto& cell) { static_cast<void>(stand_in(cell->tensor.spec())); });
    if (step.place->has_key) static_cast<void>(stand_in({DType::u32, Shape{2}}));
    AfterRound made{.goes_on = step.goes_on, .place = step.place, .alive = placeholders_};
    for (const TensorSpec& spec : step.given) made.given.push_back(stand_in(spec));
    return made;
  }

  Run& run_;
  Values inputs_;
  std::vector<Tensor> placeholders_;
  std::size_t steps_ = 0;  // of those of the run that the walk is past
  std::size_t loops_ = 0;  // that began since
  std::size_t nodes_ = 0;  // since
  NodeMarks marks_;
};

std::optional<Values> Run::trace(const Values& inputs, const Tensor& key) {
  const DeviceScope scope{device_};
  check_files();
  Trace trace{*this};
  Values symbolic;
  for (const Value& input : inputs)
    symbolic.push_back(input.with_tensors(
        [&](const Value::Cell& cell) { return trace.stand_in(cell.tensor.spec()); }));
  trace.begins_with(symbolic);
  const Tensor symbolic_key = key.has_value() ? trace.stand_in(key.spec()) : Tensor{};
  Walk walk{model_, constants_, trace, symbolic_key};
  walk.watched_by(recorder_ ? static_cast<WalkObserver*>(recorder_) : &trace);
  Values outputs;
  try {
    outputs = walk.outputs(symbolic, wanted_);
  } catch (const PlanIsThere& plan) {
    if (plan.last == nullptr) return {};
    execute(*plan.last);
    return outputs_of(*plan.last);
  }
  const SegmentPtr segment =
      plans_.keep(path_, last(outputs, trace.maker(), trace.begun()), since_);
  // A binding wants the program alone. Its inputs may be memory that the host writes to from now on.
  if (recorder_ && !recorder_->measures()) return Values{};
  execute(*segment);
  return outputs_of(*segment);
}

void Run::check_files() const {
  // Only a trace reads weights: those that no plan wanted yet, and all again after a device was lost.
  const auto check = [](const ModelFile& model) {
    for (const auto& file : model.files)
      if (file->has_changed())
        throw Error{"onnx.run",
                    ErrorCode::io_error,
                    "'" + file->name() + "' has changed since the model was loaded",
                    {{"path", file->name()}}};
  };
  check(read_);
  // Read by another path, perhaps: one of them may lead elsewhere by now.
  if (model_.file().files != read_.files) check(model_.file());
}

void Run::check_limits(std::size_t more_nodes) {
  if (nodes_ + more_nodes > max_nodes_)
    throw Error{"onnx.run",
                ErrorCode::limit_exceeded,
                "the run goes through more than " + std::to_string(max_nodes_) + " nodes",
                {{"limit", "max_nodes"}}};
  if (options_.cancel.valid()) options_.cancel.check();
  if (options_.deadline && device_.client()->executor().clock().now() >= *options_.deadline)
    throw deadline_error("onnx.run");
}

void Run::execute(const Segment& segment) {
  // However many rounds of a loop share a plan.
  check_limits(segment.nodes);
  nodes_ += segment.nodes;
  results_.clear();
  if (segment.program && segment.kernels && segment.client->wants_timing()) {
    std::vector<CommandPtr> commands;
    results_ = segment.program->run(parameters_, options_, &commands);
    times_.add(std::move(commands), segment.kernels);
  } else if (segment.program) {
    results_ = segment.program->run(parameters_, options_);
  }
  if (recorder_) recorder_->measure(parameters_, options_);
}

void Run::leave(const SegmentPtr& segment) {
  const auto tensors_of = [&](std::span<const Segment::Source> sources) {
    std::vector<Tensor> tensors;
    tensors.reserve(sources.size());
    for (const Segment::Source& source : sources) tensors.push_back(tensor_of(source));
    return tensors;
  };
  const Tensor wanted = segment->wanted ? tensor_of(*segment->wanted) : Tensor{};
  std::vector<Tensor> alive = tensors_of(segment->alive);
  if (const auto& end = segment->loop_end) {
    OpenLoops::Loop& loop = loops_.innermost(end->loop, end->place->given.size());
    loop.rounds += static_cast<std::int64_t>(end->rounds);
    const std::size_t stacked = end->given.size() - end->place->joined;
    for (std::size_t i = 0; i < end->given.size(); ++i)
      loop.given[i].push_back({tensor_of(end->given[i]), i < stacked && end->rounds == 1});
  }
  parameters_ = std::move(alive);
  results_.clear();
  left_ = segment;
  if (!segment->wanted) return;
  plans_.count_cut();
  wanted_elements_ = wanted.buffer(options_).read_bytes(options_);
}

void Run::go_on() {
  const SegmentPtr segment = std::exchange(left_, nullptr);
  const auto& end = segment->loop_end;
  std::vector<std::byte> read;
  if (segment->wanted) read = std::exchange(wanted_elements_, {}).get();
  if (end) {
    end_round(*end, segment->wanted ? read[0] != std::byte{0} : end->goes_on);
  } else {
    path_.push_back('=' + as_key(read));
    steps_.emplace_back();
  }
}

void Run::end_round(const Segment::LoopEnd& end, bool goes_on) {
  OpenLoops::Loop& loop = loops_.innermost(end.loop, end.place->given.size());
  Step step{.loop = end.loop,
            .place = end.place,
            .goes_on = goes_on && loop.rounds < end.most,
            .given = {}};
  // Unlike the key of a cut at the same place of the path.
  std::string key = (step.goes_on ? '+' : '.') + end.key;
  if (!step.goes_on) {
    // Cuts in the rounds may have led to other extents and types of what they gave.
    Values given;
    for (std::size_t i = 0; i < loop.given.size(); ++i) {
      parameters_.push_back(put_together_on(device_, loop.given[i], options_));
      step.given.push_back(parameters_.back().spec());
      given.emplace_back(parameters_.back(), end.place->given[i]);
    }
    key += signature_of(given);
    loops_.close();
  }
  path_.resize(end.loop.depth + 1);
  steps_.resize(end.loop.depth);
  path_.push_back(std::move(key));
  steps_.push_back(std::move(step));
}

bool Run::is_in(LoopId loop) const {
  return steps_.size() > loop.depth && steps_[loop.depth].place != nullptr &&
         steps_[loop.depth].loop == loop;
}

Tensor Run::tensor_of(const Segment::Source& source) const {
  if (source.fixed.has_value()) return source.fixed;
  return source.is_result ? results_[source.index] : parameters_[source.index];
}

Values Run::outputs_of(const Segment& segment) const {
  Values outputs;
  outputs.reserve(segment.outputs.size());
  std::size_t next = 0;
  for (const Value& output : segment.outputs)
    outputs.push_back(output.with_tensors(
        [&](const Value::Cell&) { return tensor_of(segment.in_outputs[next++]); }));
  return outputs;
}

}  // namespace stoker::onnx
