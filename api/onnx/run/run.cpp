#include "stoker/api/onnx/run/run.hpp"

#include <algorithm>
#include <utility>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/onnx/run/missing_plan.hpp"
#include "stoker/api/onnx/run/walk.hpp"
#include "stoker/api/tensor/core/shape_queries.hpp"
#include "stoker/pipeline/tensor/files/byte_source.hpp"
#include "stoker/runtime/futures/cancel.hpp"

namespace stoker::onnx {
namespace {

constexpr std::size_t most_cuts_at_once = 16;

std::string as_key(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Collects the tensors that a segment gives, each once.
class SegmentMaker {
 public:
  SegmentMaker(std::span<const Tensor> parameters, const Device& device, PlanRecorder* recorder)
      : parameters_{parameters}, device_{device}, recorder_{recorder} {}

  Segment::Source source(const Tensor& tensor) {
    const auto same = [&](const Tensor& one) { return one.value() == tensor.value(); };
    if (const auto found = std::ranges::find_if(parameters_, same); found != parameters_.end())
      return {false, static_cast<std::size_t>(found - parameters_.begin())};
    const auto found = std::ranges::find_if(results_, same);
    const auto index = static_cast<std::size_t>(found - results_.begin());
    if (found == results_.end()) results_.push_back(tensor);
    return {true, index};
  }

  SegmentPtr made(Segment segment) {
    segment.client = device_.client();
    if (!results_.empty())
      segment.program = std::make_unique<const stoker::detail::TracedProgram>(results_, parameters_,
                                                                              device_.client());
    auto made = std::make_shared<const Segment>(std::move(segment));
    if (recorder_) recorder_->add_segment(results_, parameters_, made);
    return made;
  }

 private:
  std::span<const Tensor> parameters_;
  const Device& device_;
  PlanRecorder* const recorder_;
  std::vector<Tensor> results_;
};

/// `segment`: empty, or says what a first one is traced for.
SegmentPtr up_to(const Cut& cut, std::span<const Tensor> parameters, const Device& device,
                 PlanRecorder* recorder, Segment segment) {
  SegmentMaker maker{parameters, device, recorder};
  for (const Tensor& tensor : cut.alive) segment.alive.push_back(maker.source(tensor));
  segment.wanted = maker.source(cut.wanted);
  segment.reader = cut.node->place();
  segment.read = cut.wanted.spec();
  return maker.made(std::move(segment));
}

/// Whoever gets the outputs is in no scope of the model's device, so what is known becomes a tensor there.
SegmentPtr last(const Values& outputs, std::span<const Tensor> parameters, const Device& device,
                PlanRecorder* recorder, Segment segment) {
  SegmentMaker maker{parameters, device, recorder};
  for (const Value& output : outputs)
    segment.outputs.push_back(on_device(output).with_tensors([&](const Value::Cell& cell) {
      const Tensor& tensor = cell.tensor;
      const bool fixed = !stoker::detail::any_tracked({&tensor, 1});
      segment.is_fixed.push_back(fixed);
      segment.in_outputs.push_back(fixed ? Segment::Source{} : maker.source(tensor));
      // A placeholder, so that the segment does not keep what computes it.
      return fixed ? tensor.eval() : placeholder(tensor.spec());
    }));
  return maker.made(std::move(segment));
}

/// Of a fixed size, so that no separator is needed.
template <class N> void add_number(N number, std::string& text) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void describe(const Value& value, std::string& text) {
  if (value.is_tensor() || value.is_texts()) {
    const Shape& shape = value.shape();
    text += value.is_known() ? 'k' : value.is_texts() ? 't' : 'l';
    add_number(value.type(), text);
    add_number(shape.rank(), text);
    for (const std::int64_t extent : shape) add_number(extent, text);
    if (value.is_known()) text += as_key(value.known().bytes());
    if (value.is_texts())
      for (const std::string& one : value.texts().strings) {
        add_number(one.size(), text);
        text += one;
      }
  } else if (value.is_sequence()) {
    text += 's';
    add_number(value.elements().size(), text);
    for (const Value& one : value.elements()) describe(one, text);
  } else if (value.is_map()) {
    text += 'm';
    describe(value.keys(), text);
    describe(value.values(), text);
  } else if (value.is_optional()) {
    text += value.element() ? "o1" : "o0";
    if (value.element()) describe(*value.element(), text);
  } else {
    text += '-';
  }
}

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

std::string signature_of(std::span<const Value> inputs) {
  std::string text;
  for (const Value& input : inputs) describe(input, text);
  return text;
}

void Run::start(const Values& inputs, const Tensor& key) {
  path_.clear();
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
    if (!segment->wanted) return outputs_of(*segment);
    ask_for_wanted(*segment);
    // A loop may have cuts without end, and whoever calls wants to go on.
    if (cuts == most_cuts_at_once || !wanted_elements_.ready()) return {};
    take_wanted();
  }
}

std::optional<Values> Run::followed() {
  if (wanted_elements_.valid()) take_wanted();
  while (const SegmentPtr segment = plans_.find(path_)) {
    execute(*segment);
    if (!segment->wanted) return outputs_of(*segment);
    ask_for_wanted(*segment);
    take_wanted();
  }
  return {};
}

Values Run::rest(const Values& inputs, const Tensor& key) {
  if (std::optional<Values> outputs = followed()) return *std::move(outputs);
  if (!may_trace_) throw no_plan(inputs);
  return trace(inputs, key);
}

Values Run::operator()(const Values& inputs, const Tensor& key) {
  start(inputs, key);
  return rest(inputs, key);
}

Values Run::recorded(const Values& inputs, const Tensor& key, PlanRecorder& recorder) {
  start(inputs, key);
  recorder_ = &recorder;
  return trace(inputs, key);
}

void Run::check_plan(const Values& inputs) const {
  if (!may_trace_ && path_.size() == 1 && !wanted_elements_.valid()) throw no_plan(inputs);
}

Error Run::no_plan(const Values& inputs) const {
  const MissingPlan missing{model_.graph()};
  if (path_.size() == 1) return missing.for_inputs(inputs, wanted_, plans_.after({}));
  const auto before = std::span{path_}.first(path_.size() - 1);
  SegmentPtr cut;
  for (const auto& [key, segment] : plans_.after(before.first(before.size() - 1)))
    if (key == before.back()) cut = segment;
  return missing.for_elements(path_.back(), cut, plans_.after(before));
}

Values Run::trace(const Values& inputs, const Tensor& key) {
  const DeviceScope scope{device_};
  check_files();
  std::vector<Tensor> placeholders;
  const auto stand_in = [&](const Tensor& tensor) {
    placeholders.push_back(placeholder(tensor.spec()));
    return placeholders.back();
  };
  Values symbolic;
  for (const Value& input : inputs)
    symbolic.push_back(
        input.with_tensors([&](const Value::Cell& cell) { return stand_in(cell.tensor); }));
  const Tensor symbolic_key = key.has_value() ? stand_in(key) : Tensor{};

  const std::size_t known_cuts = path_.size() - 1;  // their elements were read before
  std::size_t cuts = 0;
  const auto begun = [&] {
    Segment segment;
    if (path_.size() > 1) return segment;
    segment.inputs = symbolic;
    segment.wanted_outputs = wanted_;
    return segment;
  };
  const auto on_cut = [&](const Cut& cut) {
    if (cuts++ >= known_cuts) {
      const SegmentPtr segment =
          plans_.keep(path_, up_to(cut, placeholders, device_, recorder_, begun()));
      if (recorder_)
        recorder_->add_cut({cut.node->place(), std::string{cut.name}, cut.wanted.spec()});
      execute(*segment);
      ask_for_wanted(*segment);
      take_wanted();
    }
    placeholders.clear();
    for (const Tensor& tensor : cut.alive) placeholders.push_back(placeholder(tensor.spec()));
    const std::string& read = path_[cuts];
    const auto bytes = std::as_bytes(std::span{read});
    return AfterCut{placeholders, {bytes.begin(), bytes.end()}};
  };
  Walk walk{model_, constants_, on_cut, [this] { check_limits(); }, symbolic_key};
  walk.watched_by(recorder_);
  const Values outputs = walk.outputs(symbolic, wanted_);
  const SegmentPtr segment =
      plans_.keep(path_, last(outputs, placeholders, device_, recorder_, begun()));
  // A binding wants the program alone. Its inputs may be memory that the host writes to from now on.
  if (recorder_ && !recorder_->measures()) return {};
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

void Run::check_limits() {
  if (++nodes_ > max_nodes_)
    throw Error{"onnx.run",
                ErrorCode::limit_exceeded,
                "the run goes through more than " + std::to_string(max_nodes_) + " nodes",
                {{"limit", "max_nodes"}}};
  if (options_.cancel.valid()) options_.cancel.check();
  if (options_.deadline && device_.client()->executor().clock().now() >= *options_.deadline)
    throw deadline_error("onnx.run");
}

void Run::execute(const Segment& segment) {
  results_.clear();
  if (segment.program) results_ = segment.program->run(parameters_, options_);
  if (recorder_) recorder_->measure(parameters_, options_);
}

void Run::ask_for_wanted(const Segment& segment) {
  plans_.count_cut();
  const Tensor wanted = tensor_of(*segment.wanted);
  std::vector<Tensor> alive;
  alive.reserve(segment.alive.size());
  for (const Segment::Source source : segment.alive) alive.push_back(tensor_of(source));
  parameters_ = std::move(alive);
  results_.clear();
  wanted_elements_ = wanted.buffer(options_).read_bytes(options_);
}

void Run::take_wanted() {
  const auto elements = std::exchange(wanted_elements_, {});
  path_.push_back(as_key(elements.get()));
}

Tensor Run::tensor_of(Segment::Source source) const {
  return source.is_result ? results_[source.index] : parameters_[source.index];
}

Values Run::outputs_of(const Segment& segment) const {
  Values outputs;
  outputs.reserve(segment.outputs.size());
  std::size_t next = 0;
  for (const Value& output : segment.outputs)
    outputs.push_back(output.with_tensors([&](const Value::Cell& cell) {
      const std::size_t at = next++;
      return segment.is_fixed[at] ? cell.tensor : tensor_of(segment.in_outputs[at]);
    }));
  return outputs;
}

}  // namespace stoker::onnx
