#include "stoker/runtime/base/kept_statics.hpp"

#if defined(__linux__) && defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))

#include <link.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

namespace stoker {
namespace {

using Address = std::uintptr_t;

// An entry that the loader fills with the address of another file's function: in the table of calls, and in
// that of data.
#if defined(__x86_64__)
constexpr auto in_calls = R_X86_64_JUMP_SLOT, in_data = R_X86_64_GLOB_DAT;
#else
constexpr auto in_calls = R_AARCH64_JUMP_SLOT, in_data = R_AARCH64_GLOB_DAT;
#endif

/// The file that a function was loaded from.
struct Loaded {
  explicit Loaded(const void* code) noexcept : function{reinterpret_cast<Address>(code)} {}

  const Address function;
  Address base = 0;
  const ElfW(Dyn) * dynamic = nullptr;
  // What the loader has made read-only when it was done:
  Address sealed_begin = 0;
  Address sealed_end = 0;
  bool is_program = false;

  [[nodiscard]] static Address page_of(Address at) noexcept {
    return at & ~(static_cast<Address>(sysconf(_SC_PAGESIZE)) - 1);
  }
  /// Of dl_iterate_phdr().
  [[nodiscard]] bool is(const dl_phdr_info& file) noexcept {
    const std::span parts{file.dlpi_phdr, file.dlpi_phnum};
    bool holds = false;
    for (const auto& part : parts)
      holds = holds || (part.p_type == PT_LOAD && function - file.dlpi_addr >= part.p_vaddr &&
                        function - file.dlpi_addr < part.p_vaddr + part.p_memsz);
    if (!holds) return false;
    base = file.dlpi_addr;
    is_program = *file.dlpi_name == '\0';
    for (const auto& part : parts) {
      const Address begin = base + part.p_vaddr;
      if (part.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
      if (part.p_type != PT_GNU_RELRO) continue;
      sealed_begin = page_of(begin);
      sealed_end = page_of(begin + part.p_memsz);
    }
    return true;
  }
  void find() noexcept {
    dl_iterate_phdr(
        [](dl_phdr_info* file, std::size_t, void* self) noexcept {
          return static_cast<Loaded*>(self)->is(*file) ? 1 : 0;
        },
        this);
  }
  /// What an entry of `dynamic` points to. The loader has turned offsets into addresses, but for files
  /// in which it may not write there.
  template <class T> [[nodiscard]] const T* at(Address entry) const noexcept {
    return reinterpret_cast<const T*>(entry < base ? base + entry : entry);
  }
  bool write(Address slot, Address value) const noexcept {
    const bool sealed = slot >= sealed_begin && slot < sealed_end;
    void* const page = reinterpret_cast<void*>(page_of(slot));
    const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    if (sealed && mprotect(page, bytes, PROT_READ | PROT_WRITE) != 0) return false;
    std::atomic_ref{*reinterpret_cast<Address*>(slot)}.store(value);
    if (sealed) mprotect(page, bytes, PROT_READ);
    return true;
  }
};

/// Where a file's calls of a function in another one find its address.
template <class Found>
void each_import(const Loaded& file, std::string_view name, Found found) noexcept {
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  struct Table {
    const ElfW(Rela) * first = nullptr;
    std::size_t bytes = 0;
  } calls, data;
  for (const auto* entry = file.dynamic; entry->d_tag != DT_NULL; ++entry) switch (entry->d_tag) {
      case DT_SYMTAB: symbols = file.at<ElfW(Sym)>(entry->d_un.d_ptr); break;
      case DT_STRTAB: names = file.at<char>(entry->d_un.d_ptr); break;
      case DT_JMPREL: calls.first = file.at<ElfW(Rela)>(entry->d_un.d_ptr); break;
      case DT_PLTRELSZ: calls.bytes = entry->d_un.d_val; break;
      case DT_RELA: data.first = file.at<ElfW(Rela)>(entry->d_un.d_ptr); break;
      case DT_RELASZ: data.bytes = entry->d_un.d_val; break;
      default: break;
    }
  if (!symbols || !names) return;
  for (const Table& table : {calls, data})
    for (const auto& one :
         std::span{table.first, table.first ? table.bytes / sizeof(ElfW(Rela)) : 0}) {
      const auto type = ELF64_R_TYPE(one.r_info);
      if (type != in_calls && type != in_data) continue;
      if (names + symbols[ELF64_R_SYM(one.r_info)].st_name == name) found(file.base + one.r_offset);
    }
}

}  // namespace

bool keep_statics_of(const void* function) noexcept {
  Loaded library{function}, ours{reinterpret_cast<const void*>(&keep_statics_of)};
  library.find();
  ours.find();
  // Ours calls __cxa_atexit(), too, and means it.
  if (!library.dynamic || library.is_program || library.base == ours.base) return false;
  bool kept = false;
  each_import(library, "__cxa_atexit", [&](Address slot) {
    // Looks at no argument, returns 0 as __cxa_atexit() does, and is never unloaded, as ours may be.
    kept = library.write(slot, reinterpret_cast<Address>(&sched_yield)) || kept;
  });
  return kept;
}

}  // namespace stoker

#else

namespace stoker {

bool keep_statics_of(const void* /*function*/) noexcept { return false; }

}  // namespace stoker

#endif
