#include "fixture.hpp"

#include <algorithm>
#include <cstring>

#include "stoker/kernels/glsl/compiler.hpp"

namespace stoker::device::vulkan::testing {
namespace {

constexpr std::chrono::seconds patience{60};

std::shared_ptr<const Shader> compiled(Shader shader) {
  for (ShaderVariant& variant : shader.variants) variant.spirv = compile_glsl(shader, variant);
  return std::make_shared<const Shader>(std::move(shader));
}

Shader unary_shader(std::string name, std::string body, std::string type,
                    std::vector<PushField> push) {
  Shader shader;
  shader.name = std::move(name);
  shader.file = shader.name + ".glsl";
  shader.bindings = {{"x", "T"}, {"y", "T", true}};
  shader.push = std::move(push);
  shader.local_size = {64, 1, 1};
  shader.variants = {{type, {{"T", *parse_dtype(type)}}}};
  shader.source = std::move(body);
  return shader;
}

Kernel unary_kernel(std::string name, std::shared_ptr<const Shader> shader) {
  Kernel kernel;
  kernel.name = std::move(name);
  kernel.shaders = {std::move(shader)};
  return kernel;
}

}  // namespace

void RecordingSink::on_completed(Completion completion) noexcept {
  const std::scoped_lock lock{mutex_};
  completions_.push_back(std::move(completion));
  changed_.notify_all();
}

void RecordingSink::on_lost(Error reason) noexcept {
  const std::scoped_lock lock{mutex_};
  loss_ = std::move(reason);
  ++losses_;
  changed_.notify_all();
}

bool RecordingSink::await(QueuePoint point) {
  std::unique_lock lock{mutex_};
  const auto reported = [&] {
    return std::ranges::any_of(completions_, [&](const Completion& each) {
      return each.point.queue == point.queue && each.point.value >= point.value;
    });
  };
  changed_.wait_for(lock, patience, [&] { return reported() || loss_; });
  return reported();
}

std::vector<QueuePoint> RecordingSink::order() const {
  const std::scoped_lock lock{mutex_};
  std::vector<QueuePoint> points;
  for (const Completion& each : completions_) points.push_back(each.point);
  return points;
}

std::vector<StepTiming> RecordingSink::timings(QueuePoint point) const {
  const std::scoped_lock lock{mutex_};
  for (const Completion& each : completions_)
    if (each.point.queue == point.queue && each.point.value == point.value) return each.timings;
  return {};
}

int RecordingSink::losses() const {
  const std::scoped_lock lock{mutex_};
  return losses_;
}

std::optional<Error> RecordingSink::loss() const {
  const std::scoped_lock lock{mutex_};
  return loss_;
}

std::unique_ptr<OpenDevice> OpenDevice::open(std::string& why, OpenOptions options,
                                             DriverOptions driver) {
  auto device = std::make_unique<OpenDevice>();
  device->driver_ = make_driver(std::move(driver));
  if (device->driver_->devices().empty()) {
    for (const Diagnosis& each : device->driver_->diagnose())
      why += each.subject + ": " + each.reason + "; ";
    return nullptr;
  }
  auto backend = device->driver_->open(0, device->sink_, options);
  if (!backend) {
    why = backend.error().what();
    return nullptr;
  }
  device->backend_ = std::move(*backend);
  return device;
}

std::uint64_t OpenDevice::submit(Submission submission) {
  submission.value = ++next_[submission.queue];
  const auto accepted = backend_->submit(submission);
  EXPECT_TRUE(accepted) << accepted.error().what();
  return submission.value;
}

bool OpenDevice::wait(QueuePoint point) {
  return backend_->wait(point, std::chrono::steady_clock::now() + patience);
}

std::uint64_t OpenDevice::run(std::span<const Step> steps, bool timed) {
  Submission submission;
  submission.steps = steps;
  submission.timed = timed;
  const std::uint64_t value = submit(submission);
  EXPECT_TRUE(wait({QueueKind::compute, value}));
  return value;
}

std::shared_ptr<const Executable> OpenDevice::prepare(const Kernel& kernel, std::int64_t elements,
                                                      DType dtype) {
  const TensorSpec spec{dtype, Shape{elements}};
  const ParamSet params;
  const KernelCall call{{&spec, 1}, params};
  auto prepared = backend_->prepare(std::make_shared<const Kernel>(kernel), call, {&spec, 1});
  EXPECT_TRUE(prepared) << prepared.error().what();
  return prepared ? *prepared : nullptr;
}

void VulkanTest::SetUp() {
  std::string why;
  device_ = OpenDevice::open(why, options(), driver_options());
  if (!device_) GTEST_SKIP() << "no Vulkan device here: " << why;
}

void VulkanTest::TearDown() {
  if (device_) {
    EXPECT_EQ(device_->backend().counters().validation_messages, 0U);
  }
}

OpenOptions VulkanTest::options() const {
  OpenOptions options;
  options.validation = true;
  return options;
}

MemoryView whole(const std::unique_ptr<MemoryBlock>& block) {
  return {block.get(), 0, block->bytes};
}

MemoryView part(const std::unique_ptr<MemoryBlock>& block, std::uint64_t offset,
                std::uint64_t bytes) {
  return {block.get(), offset, bytes};
}

Step copy_step(MemoryView from, MemoryView to, std::initializer_list<std::uint32_t> after) {
  Step step;
  step.kind = StepKind::copy;
  step.inputs = {from};
  step.outputs = {to};
  step.after.assign(after.begin(), after.end());
  return step;
}

Step dispatch_step(std::shared_ptr<const Executable> executable, MemoryView from, MemoryView to,
                   std::initializer_list<std::uint32_t> after) {
  Step step;
  step.executable = std::move(executable);
  step.inputs = {from};
  step.outputs = {to};
  step.after.assign(after.begin(), after.end());
  return step;
}

Kernel affine_kernel(DType dtype, const std::string& name) {
  const std::string type{to_string(dtype)};
  const auto shader = compiled(unary_shader(name, R"(void main() {
  uint i = stoker_index();
  if (i >= n) return;
  y_store(i, T(2) * x_load(i) + T(1));
})",
                                            type, {{"n"}}));
  Kernel kernel = unary_kernel(name, shader);
  kernel.gpu = [shader, type](const KernelCall& call, std::span<const TensorSpec>,
                              const GpuTraits&) -> Result<GpuPlan> {
    const auto n = static_cast<std::uint64_t>(call.shape().elements());
    GpuPass pass{shader.get(), type, {input(0), output(0)}};
    pass.push.u32(n);
    pass.groups = linear_groups_for(n, 64);
    return GpuPlan{{pass}, {}};
  };
  return kernel;
}

Kernel two_pass_kernel() {
  Shader source = unary_shader("add_scale", R"(void main() {
  uint i = stoker_index();
  if (i >= n) return;
  y_store(i, (x_load(i) + add) * scale);
})",
                               "f32", {{"n"}, {"add", PushType::f32}, {"scale", PushType::f32}});
  const auto shader = compiled(std::move(source));
  Kernel kernel = unary_kernel("two_pass", shader);
  kernel.gpu = [shader](const KernelCall& call, std::span<const TensorSpec>,
                        const GpuTraits&) -> Result<GpuPlan> {
    const auto n = static_cast<std::uint64_t>(call.shape().elements());
    GpuPass first{shader.get(), "f32", {input(0), scratch(0)}};
    first.push.u32(n).f32(1).f32(1);
    first.groups = linear_groups_for(n, 64);
    GpuPass second{shader.get(), "f32", {scratch(0), output(0)}};
    second.push.u32(n).f32(0).f32(3);
    second.groups = linear_groups_for(n, 64);
    return GpuPlan{{first, second}, {static_cast<std::size_t>(n) * 4}};
  };
  return kernel;
}

Kernel many_numbers_kernel() {
  constexpr std::uint32_t count = 40;
  const auto shader = compiled(unary_shader("many_numbers", R"(void main() {
  uint i = stoker_index();
  if (i >= n) return;
  float sum = x_load(i);
  for (uint k = 0u; k < numbers.length(); ++k) sum += numbers[k];
  y_store(i, sum);
})",
                                            "f32", {{"n"}, {"numbers", PushType::f32, count}}));
  Kernel kernel = unary_kernel("many_numbers", shader);
  kernel.gpu = [shader](const KernelCall& call, std::span<const TensorSpec>,
                        const GpuTraits&) -> Result<GpuPlan> {
    const auto n = static_cast<std::uint64_t>(call.shape().elements());
    GpuPass pass{shader.get(), "f32", {input(0), output(0)}};
    pass.push.u32(n);
    for (std::uint32_t k = 0; k < count; ++k) pass.push.f32(k);
    pass.groups = linear_groups_for(n, 64);
    return GpuPlan{{pass}, {}};
  };
  return kernel;
}

Kernel slow_kernel(std::uint32_t rounds, const std::string& name, DType dtype) {
  const std::string type{to_string(dtype)};
  const auto shader = compiled(unary_shader(name, R"(void main() {
  uint i = stoker_index();
  if (i >= n) return;
  T v = x_load(i);
  for (uint r = 0; r < rounds; ++r) v = v + T(1);
  y_store(i, v);
})",
                                            type, {{"n"}, {"rounds"}}));
  Kernel kernel = unary_kernel(name, shader);
  kernel.gpu = [shader, type, rounds](const KernelCall& call, std::span<const TensorSpec>,
                                      const GpuTraits&) -> Result<GpuPlan> {
    const auto n = static_cast<std::uint64_t>(call.shape().elements());
    GpuPass pass{shader.get(), type, {input(0), output(0)}};
    pass.push.u32(n).u32(rounds);
    pass.groups = linear_groups_for(n, 64);
    return GpuPlan{{pass}, {}};
  };
  return kernel;
}

}  // namespace stoker::device::vulkan::testing
