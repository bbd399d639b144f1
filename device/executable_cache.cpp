#include "stoker/device/executable_cache.hpp"

#include <algorithm>

namespace stoker {
namespace {

/// How many old entries each new one looks at. More than one, so that they shrink while new ones come.
constexpr std::size_t looked_at = 8;

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
  STOKER_TRY(fork_.check(kernel->name));
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
  // Memory for all that follows is taken here: from the emplacement on nothing may fail, or an entry and
  // its place by age would part.
  std::vector<decltype(entries_)::node_type> leaving;  // ends outside the lock
  leaving.reserve(looked_at + 1);
  std::list<Key> place{own};
  const std::scoped_lock lock{mutex_};
  const auto [entry, fresh] = entries_.emplace(own, prepared);
  if (!fresh) return entry->second;  // another thread was faster; both are equal
  // Kernels that are made at run time go with the plans that use them. An entry found by the kernel's
  // address, whose kernel is known to nobody else, will never be asked for again: it is dropped, and
  // with it what the device keeps for it. A few are looked at each time, the oldest first; those that
  // stay move behind the others. Work in flight has the executable itself.
  for (std::size_t i = std::min(looked_at, by_age_.size()); i > 0; --i) {
    const auto entry_of = entries_.find(by_age_.front());
    const std::shared_ptr<const Prepared>& known = entry_of->second;
    if (known.use_count() == 1 && known->kernel.use_count() == 1) {
      leaving.push_back(entries_.extract(entry_of));
      by_age_.pop_front();
    } else {
      by_age_.splice(by_age_.end(), by_age_, by_age_.begin());
    }
  }
  by_age_.splice(by_age_.end(), place);
  if (entries_.size() > capacity_) {
    leaving.push_back(entries_.extract(by_age_.front()));
    by_age_.pop_front();
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
