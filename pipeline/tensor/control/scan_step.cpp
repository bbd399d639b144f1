#include <algorithm>
#include <cstring>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/pipeline/tensor/control/prepared_function.hpp"
#include "stoker/pipeline/tensor/control/steps.hpp"

namespace stoker::expr {
namespace {

/// Rounds that may be under way hold memory: this many bytes, but at least two rounds.
constexpr std::uint64_t most_bytes_under_way = std::uint64_t{256} << 20;
constexpr std::uint64_t most_rounds_under_way = 256;

struct ScanProgram {
  std::shared_ptr<const PreparedFunction> body;
  ScanShape shape;
  std::vector<TensorSpec> elements;  ///< of the sequences
  std::uint64_t bytes_a_round = 0;
};

/// One scan that goes on. Its length is known, so rounds are started without waiting for each other;
/// only as many as may be under way.
class ScanRun final : public std::enable_shared_from_this<ScanRun> {
 public:
  ScanRun(std::shared_ptr<const ScanProgram> program, std::span<const DeviceBuffer> inputs,
          std::shared_ptr<HeldResults> results, const CommandOptions& options)
      : program_{std::move(program)}, results_{std::move(results)}, options_{options} {
    const ScanShape& shape = program_->shape;
    const auto sequences = inputs.subspan(shape.carries, shape.sequences);
    const auto captures = inputs.subspan(shape.carries + shape.sequences);
    carries_.assign(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(shape.carries));
    sequences_.assign(sequences.begin(), sequences.end());
    captures_.assign(captures.begin(), captures.end());
    const std::uint64_t rounds =
        most_bytes_under_way / std::max<std::uint64_t>(program_->bytes_a_round, 1);
    batch_ =
        static_cast<std::int64_t>(std::clamp<std::uint64_t>(rounds, 2, most_rounds_under_way)) / 2;
  }

  /// Starts rounds until as many are under way as may be.
  Result<void> go_on() {
    const std::int64_t length = program_->shape.length;
    const std::int64_t until = std::min(length, next_ + batch_);
    for (; next_ < until; ++next_) STOKER_TRY(round(next_));
    if (next_ < length) return wait_for_batch();
    for (std::size_t i = 0; i < carries_.size(); ++i) results_->write(i, 0, carries_[i]);
    results_->finish();
    return {};
  }

 private:
  [[nodiscard]] const std::shared_ptr<DeviceClient>& device() const { return results_->device(); }

  Result<void> round(std::int64_t i) {
    const ScanShape& shape = program_->shape;
    const std::int64_t at = shape.reverse ? shape.length - 1 - i : i;
    const auto position = static_cast<std::int32_t>(at);
    Buffers arguments;
    STOKER_ASSIGN(
        DeviceBuffer index,
        device()->make_buffer({DType::s32, Shape{}}, std::as_bytes(std::span{&position, 1})));
    arguments.push_back(std::move(index));
    for (const DeviceBuffer& carry : carries_) arguments.push_back(carry);
    for (std::size_t k = 0; k < sequences_.size(); ++k) {
      const std::uint64_t bytes = program_->elements[k].bytes();
      STOKER_ASSIGN(DeviceBuffer element, device()->make_buffer(program_->elements[k]));
      STOKER_ASSIGN(const CommandPtr copy,
                    device()->copy(sequences_[k], static_cast<std::uint64_t>(at) * bytes, element,
                                   0, bytes, options_));
      copy->observe();
      arguments.push_back(std::move(element));
    }
    for (const DeviceBuffer& capture : captures_) arguments.push_back(capture);
    STOKER_ASSIGN(std::vector<DeviceBuffer> made,
                  program_->body->run(device(), arguments, options_));
    for (std::size_t k = shape.carries; k < made.size(); ++k)
      results_->write(k, static_cast<std::uint64_t>(at) * made[k].spec().bytes(), made[k]);
    last_ = made.empty() ? DeviceBuffer{} : made.back();
    for (std::size_t k = 0; k < shape.carries; ++k) carries_[k] = std::move(made[k]);
    return {};
  }

  /// Goes on when the batch before the one just started has been computed.
  Result<void> wait_for_batch() {
    const DeviceBuffer before = std::exchange(batch_end_, last_);
    if (!before) return go_on();
    STOKER_ASSIGN(const auto done, device()->read(before, 0, 0, options_));
    static_cast<void>(
        done.then(device()->executor(),
                  [self = shared_from_this()](const Result<std::vector<std::byte>>& value) {
                    const auto told = value ? self->go_on() : Result<void>{value.error()};
                    if (!told) self->results_->fail(told.error());
                  }));
    return {};
  }

  const std::shared_ptr<const ScanProgram> program_;
  const std::shared_ptr<HeldResults> results_;
  const CommandOptions options_;
  Buffers carries_;
  Buffers sequences_;
  Buffers captures_;
  std::int64_t batch_ = 1;
  std::int64_t next_ = 0;
  DeviceBuffer last_;       // of the round that was started last
  DeviceBuffer batch_end_;  // of the batch before
};

class ScanStep final : public HostStep {
 public:
  explicit ScanStep(std::shared_ptr<const ScanProgram> program) : program_{std::move(program)} {}

  std::string name() const override { return "scan"; }

  Result<void> start(const std::shared_ptr<DeviceClient>& device,
                     std::span<const DeviceBuffer> inputs, std::span<const DeviceBuffer> outputs,
                     const CommandOptions& options) const override {
    STOKER_ASSIGN(std::shared_ptr<HeldResults> results, HeldResults::hold(device, outputs));
    return std::make_shared<ScanRun>(program_, inputs, std::move(results), options)->go_on();
  }

 private:
  const std::shared_ptr<const ScanProgram> program_;
};

}  // namespace

Result<std::shared_ptr<const HostStep>> scan_step(const Function& body, const ScanShape& shape,
                                                  const std::shared_ptr<DeviceClient>& device) {
  auto program = std::make_shared<ScanProgram>();
  program->shape = shape;
  STOKER_ASSIGN(program->body, PreparedFunction::make(body, device));
  for (std::size_t k = 0; k < shape.sequences; ++k)
    program->elements.push_back(body.parameters[1 + shape.carries + k].spec());
  for (const TensorSpec& element : program->elements) program->bytes_a_round += element.bytes();
  for (const Value& result : body.results) program->bytes_a_round += result.spec().bytes();
  return std::shared_ptr<const HostStep>{std::make_shared<ScanStep>(std::move(program))};
}

}  // namespace stoker::expr
