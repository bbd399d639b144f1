#include "stoker/device/memory/adopted_memory.hpp"

#include <utility>

#include "stoker/runtime/execution/deferred_wakes.hpp"

namespace stoker {
namespace {

struct Adopted {
  Adopted(std::span<std::byte> bytes, std::shared_ptr<const void> keeper)
      : owner{std::move(keeper)},
        block{bytes.data(), bytes.size()},
        lease{nullptr, MemoryView{&block, 0, bytes.size()}, bytes.size()} {}
  Adopted(const Adopted&) = delete;
  Adopted& operator=(const Adopted&) = delete;
  ~Adopted() { DeferredWakes::flush(); }  // the owner's end may wait for a thread that is held

  const std::shared_ptr<const void> owner;
  HostBlock block;
  MemoryLease lease;
};

}  // namespace

std::shared_ptr<MemoryLease> adopt_memory(std::span<std::byte> bytes,
                                          std::shared_ptr<const void> owner) {
  const auto adopted = std::make_shared<Adopted>(bytes, std::move(owner));
  return {adopted, &adopted->lease};
}

}  // namespace stoker
