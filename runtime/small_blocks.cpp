#include "stoker/runtime/small_blocks.hpp"

#include <array>
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

constexpr std::size_t size_count = sizes.size();

/// The smallest size that is enough, or size_count.
constexpr std::size_t index_of(std::size_t bytes) noexcept {
  std::size_t index = 0;
  while (index < size_count && sizes[index] < bytes) ++index;
  return index;
}

/// Full magazines of one size. Never destroyed: threads end after static objects do.
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

Store& store(std::size_t index) {
  static std::array<Store, size_count>* const shared = [] {
    auto made = std::make_unique<std::array<Store, size_count>>();
    for (std::size_t i = 0; i < size_count; ++i)
      (*made)[i].full.reserve(most_kept(sizes[i]) / magazine_size);
    return made.release();
  }();
  return (*shared)[index];
}

struct Here {
  Magazine loaded;
  Magazine spare;
};
thread_local constinit std::array<Here, size_count> this_thread{};

/// Frees what a thread keeps when it ends. Touched only where a magazine changes, because a thread-local
/// with a destructor is slow to look at.
struct AtThreadEnd {
  bool armed = false;
  ~AtThreadEnd() {
    for (Here& here : this_thread) {
      here.loaded.free_all();
      here.spare.free_all();
    }
  }
};
thread_local AtThreadEnd at_thread_end;

void* reload(Here& here, std::size_t index) {
  at_thread_end.armed = true;
  if (here.spare.size > 0)
    std::swap(here.loaded, here.spare);
  else if (!store(index).take(here.loaded))
    return ::operator new(sizes[index]);
  return here.loaded.pop();
}

void unload(Here& here, std::size_t index) noexcept {
  at_thread_end.armed = true;
  if (here.spare.size > 0) store(index).give(std::exchange(here.spare, {}));
  std::swap(here.loaded, here.spare);
}

}  // namespace

STOKER_THREAD_LOCAL_ACCESS void* take(std::size_t bytes) {
  const std::size_t index = index_of(bytes);
  if (sanitizers::address || index == size_count) return ::operator new(bytes);
  Here& here = this_thread[index];
  return here.loaded.size > 0 ? here.loaded.pop() : reload(here, index);
}

STOKER_THREAD_LOCAL_ACCESS void give(void* block, std::size_t bytes) noexcept {
  const std::size_t index = index_of(bytes);
  if (sanitizers::address || index == size_count) return ::operator delete(block);
  Here& here = this_thread[index];
  if (here.loaded.size == magazine_size) unload(here, index);
  here.loaded.push(static_cast<Block*>(block));
}

std::size_t kept(std::size_t size) noexcept {
  Store& shared = store(index_of(size));
  const std::scoped_lock lock{shared.mutex};
  return shared.full.size() * magazine_size;
}

}  // namespace stoker::small_blocks
