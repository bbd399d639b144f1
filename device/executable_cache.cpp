#include "stoker/device/executable_cache.hpp"

#include <algorithm>

namespace stoker {
namespace {

constexpr std::size_t mix(std::size_t seed, std::size_t value) noexcept {
  return (seed ^ value) * 0x9e3779b97f4a7c15ULL + (seed >> 29);
}

}  // namespace

bool ExecutableCache::Key::operator==(const Key& other) const noexcept {
  return hash == other.hash && kernel == other.kernel && std::ranges::equal(inputs, other.inputs) &&
         *params == *other.params;
}

ExecutableCache::Key ExecutableCache::key_of(const Kernel& kernel,
                                             std::span<const TensorSpec> inputs,
                                             const ParamSet& params) noexcept {
  std::size_t hash = mix(reinterpret_cast<std::uintptr_t>(&kernel), params.hash());
  for (const TensorSpec& input : inputs) {
    hash = mix(hash, static_cast<std::size_t>(input.dtype) + 16 * input.shape.rank());
    for (const std::int64_t extent : input.shape)
      hash = mix(hash, static_cast<std::size_t>(extent));
  }
  return {&kernel, inputs, &params, hash};
}

Result<std::shared_ptr<const Prepared>> ExecutableCache::get(
    const std::shared_ptr<const Kernel>& kernel, std::span<const TensorSpec> inputs,
    const ParamSet& params) {
  const Key wanted = key_of(*kernel, inputs, params);
  {
    const std::shared_lock lock{mutex_};
    if (const auto found = entries_.find(wanted); found != entries_.end()) return found->second;
  }
  STOKER_ASSIGN(std::vector<TensorSpec> outputs, kernel->check(inputs, params));
  const KernelCall call{inputs, params};
  STOKER_ASSIGN(auto executable, backend_.prepare(kernel, call, outputs));
  const std::shared_ptr<const Prepared> prepared = std::make_shared<const Prepared>(Prepared{
      kernel, {inputs.begin(), inputs.end()}, params, std::move(outputs), std::move(executable)});

  const Key own = key_of(*kernel, prepared->inputs, prepared->params);
  const std::scoped_lock lock{mutex_};
  const auto [entry, fresh] = entries_.emplace(own, prepared);
  if (!fresh) return entry->second;  // another thread was faster; both are equal
  by_age_.push_back(own);
  if (entries_.size() > capacity_) {
    const Key oldest = by_age_.front();
    by_age_.pop_front();
    const auto leaving =
        entries_.extract(oldest);  // the key points into the value: keep both until here
  }
  return prepared;
}

std::size_t ExecutableCache::size() const {
  const std::shared_lock lock{mutex_};
  return entries_.size();
}

void ExecutableCache::clear() {
  const std::scoped_lock lock{mutex_};
  entries_.clear();
  by_age_.clear();
}

}  // namespace stoker
