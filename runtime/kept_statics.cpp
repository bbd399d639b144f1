#include "stoker/runtime/kept_statics.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

namespace stoker {
namespace {

using Symbol = ElfW(Sym);
using Relocation = ElfW(Rela);

int destroy_nothing(void (*)(void*), void*, void*) noexcept { return 0; }

/// What the dynamic section of a library says of its calls into others.
struct Imports {
  const Symbol* symbols = nullptr;
  const char* names = nullptr;
  const Relocation* calls = nullptr;
  std::size_t call_bytes = 0;
  const Relocation* data = nullptr;
  std::size_t data_bytes = 0;
  bool read_only = false;

  explicit Imports(const ElfW(Dyn) * entry) noexcept {
    for (; entry->d_tag != DT_NULL; ++entry) {
      const ElfW(Addr) at = entry->d_un.d_ptr;
      switch (entry->d_tag) {
        case DT_SYMTAB: symbols = reinterpret_cast<const Symbol*>(at); break;
        case DT_STRTAB: names = reinterpret_cast<const char*>(at); break;
        case DT_JMPREL: calls = reinterpret_cast<const Relocation*>(at); break;
        case DT_PLTRELSZ: call_bytes = entry->d_un.d_val; break;
        case DT_RELA: data = reinterpret_cast<const Relocation*>(at); break;
        case DT_RELASZ: data_bytes = entry->d_un.d_val; break;
        case DT_FLAGS: read_only = read_only || (entry->d_un.d_val & DF_BIND_NOW) != 0; break;
        case DT_FLAGS_1: read_only = read_only || (entry->d_un.d_val & DF_1_NOW) != 0; break;
        default: break;
      }
    }
  }
};

bool write(std::uintptr_t slot, std::uintptr_t value, bool read_only) noexcept {
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* const page = reinterpret_cast<void*>(slot / page_bytes * page_bytes);
  if (read_only && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  std::atomic_ref{*reinterpret_cast<std::uintptr_t*>(slot)}.store(value);
  if (read_only) mprotect(page, page_bytes, PROT_READ);
  return true;
}

}  // namespace

bool keep_statics_of(const void* function) noexcept {
  Dl_info info{};
  link_map* library = nullptr;
  if (dladdr1(function, &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0 ||
      library == nullptr || *library->l_name == '\0')
    return false;
  const Imports imports{library->l_ld};
  if (!imports.symbols || !imports.names) return false;
  bool found = false;
  const auto look = [&](const Relocation* first, std::size_t bytes) {
    for (const Relocation& one : std::span{first, first ? bytes / sizeof(*first) : 0}) {
      const auto type = ELF64_R_TYPE(one.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const Symbol& symbol = imports.symbols[ELF64_R_SYM(one.r_info)];
      if (std::string_view{imports.names + symbol.st_name} != "__cxa_atexit") continue;
      if (write(library->l_addr + one.r_offset, reinterpret_cast<std::uintptr_t>(&destroy_nothing),
                imports.read_only))
        found = true;
    }
  };
  look(imports.calls, imports.call_bytes);
  look(imports.data, imports.data_bytes);
  return found;
}

}  // namespace stoker
