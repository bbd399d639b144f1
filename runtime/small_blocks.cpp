#include "stoker/runtime/small_blocks.hpp"

#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "stoker/runtime/sanitizers.hpp"
#include "stoker/runtime/thread_local.hpp"

namespace stoker::small_blocks {
namespace {

struct Block {
  Block* next;
};

/// A chain of free blocks.
struct Magazine {
  Block* first = nullptr;
  std::size_t size = 0;

  [[nodiscard]] Block* pop() noexcept {
    --size;
    return std::exchange(first, first->next);
  }
  void push(Block* block) noexcept {
    block->next = first;
    first = block;
    ++size;
  }
  void free_all() noexcept {
    while (size > 0) ::operator delete(pop());
  }
};

/// Full magazines. Never destroyed: threads end after static objects do.
struct Store {
  std::mutex mutex;
  std::vector<Magazine> full;

  [[nodiscard]] bool take(Magazine& empty) noexcept {
    const std::scoped_lock lock{mutex};
    if (full.empty()) return false;
    empty = full.back();
    full.pop_back();
    return true;
  }
  void give(Magazine magazine) noexcept {
    {
      const std::scoped_lock lock{mutex};
      if (full.size() < full.capacity()) {
        full.push_back(magazine);
        return;
      }
    }
    magazine.free_all();
  }
};

Store& store() {
  static Store* const shared = [] {
    auto made = std::make_unique<Store>();
    made->full.reserve(most_kept / magazine_size);
    return made.release();
  }();
  return *shared;
}

struct Here {
  Magazine loaded;
  Magazine spare;
};
thread_local constinit Here this_thread;

/// Frees what a thread keeps when it ends. Touched only where a magazine changes, because a thread-local
/// with a destructor is slow to look at.
struct AtThreadEnd {
  bool armed = false;
  ~AtThreadEnd() {
    this_thread.loaded.free_all();
    this_thread.spare.free_all();
  }
};
thread_local AtThreadEnd at_thread_end;

void* reload(Here& here) {
  at_thread_end.armed = true;
  if (here.spare.size > 0)
    std::swap(here.loaded, here.spare);
  else if (!store().take(here.loaded))
    return ::operator new(block_bytes);
  return here.loaded.pop();
}

void unload(Here& here) noexcept {
  at_thread_end.armed = true;
  if (here.spare.size > 0) store().give(std::exchange(here.spare, {}));
  std::swap(here.loaded, here.spare);
}

}  // namespace

STOKER_THREAD_LOCAL_ACCESS void* take() {
  if constexpr (sanitizers::address) return ::operator new(block_bytes);
  Here& here = this_thread;
  return here.loaded.size > 0 ? here.loaded.pop() : reload(here);
}

STOKER_THREAD_LOCAL_ACCESS void give(void* block) noexcept {
  if constexpr (sanitizers::address) return ::operator delete(block);
  Here& here = this_thread;
  if (here.loaded.size == magazine_size) unload(here);
  here.loaded.push(static_cast<Block*>(block));
}

std::size_t kept() noexcept {
  Store& shared = store();
  const std::scoped_lock lock{shared.mutex};
  return shared.full.size() * magazine_size;
}

}  // namespace stoker::small_blocks
