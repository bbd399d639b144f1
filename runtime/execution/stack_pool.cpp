#include "stoker/runtime/execution/stack_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "stoker/runtime/base/sanitizers.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

/// What no process can do without: it would write into the guard page before it begins.
constexpr std::size_t smallest = std::size_t{16} * 1024;

std::size_t round_to_pages(std::size_t bytes) noexcept {
  const std::size_t page = page_bytes();
  return (bytes + page - 1) / page * page;
}

void unmap(Stack stack) noexcept { munmap(stack.base - page_bytes(), stack.bytes + page_bytes()); }

Stack map(std::size_t bytes) {
  const std::size_t guard = page_bytes();
  void* memory = mmap(nullptr, bytes + guard, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc{};
  if (mprotect(memory, guard, PROT_NONE) != 0) {
    munmap(memory, bytes + guard);
    throw std::bad_alloc{};
  }
  return Stack{static_cast<std::byte*>(memory) + guard, bytes};
}

}  // namespace

StackPool::~StackPool() {
  const std::size_t bytes = round_to_pages(ProcessOptions::default_stack_bytes);
  while (free_ != nullptr) {
    auto* top = reinterpret_cast<std::byte*>(free_ + 1);
    free_ = free_->next;
    unmap(Stack{top - bytes, bytes});
  }
}

Stack StackPool::take(std::size_t wanted) {
  if (!std::in_range<std::ptrdiff_t>(wanted)) throw std::bad_alloc{};
  const std::size_t bytes = round_to_pages(std::max(wanted, smallest));
  if (bytes == round_to_pages(ProcessOptions::default_stack_bytes) && !fork_.forked()) {
    const std::lock_guard lock{mutex_};
    if (free_ != nullptr) {
      auto* top = reinterpret_cast<std::byte*>(free_ + 1);
      free_ = free_->next;
      --kept_;
      sanitizers::begin_stack(top - bytes, bytes);
      return Stack{top - bytes, bytes};
    }
  }
  const Stack fresh = map(bytes);
  sanitizers::begin_stack(fresh.base, fresh.bytes);
  return fresh;
}

void StackPool::give_back(Stack stack) noexcept {
  sanitizers::unpoison(stack.base, stack.bytes);
  sanitizers::end_stack(stack.base, stack.bytes);
  if (stack.bytes == round_to_pages(ProcessOptions::default_stack_bytes) && !fork_.forked()) {
    const std::lock_guard lock{mutex_};
    if (kept_ < limit_) {
      free_ = std::construct_at(reinterpret_cast<Free*>(stack.top()) - 1, Free{free_});
      ++kept_;
      return;
    }
  }
  unmap(stack);
}

std::size_t StackPool::kept() const noexcept {
  const std::lock_guard lock{mutex_};
  return kept_;
}

}  // namespace stoker
