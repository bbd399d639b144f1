// What the address and thread sanitizers need to be told about stacks that are switched by hand.
// Everything is empty in other builds. Internal.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define STOKER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STOKER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define STOKER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STOKER_TSAN 1
#endif
#endif

#ifdef STOKER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef STOKER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace stoker::sanitizers {

#ifdef STOKER_ASAN
inline constexpr bool address = true;
/// Before a jump to the stack [base, base + bytes). `fake_stack` is null if the stack that is left
/// is never entered again.
inline void start_switch(void** fake_stack, const void* base, std::size_t bytes) noexcept {
  __sanitizer_start_switch_fiber(fake_stack, base, bytes);
}
/// First thing after a jump; tells the bounds of the stack that was left.
inline void finish_switch(void* fake_stack, const void** base, std::size_t* bytes) noexcept {
  __sanitizer_finish_switch_fiber(fake_stack, base, bytes);
}
inline void unpoison(void* base, std::size_t bytes) noexcept {
  __asan_unpoison_memory_region(base, bytes);
}
/// A stack that is in use: what only it refers to is no leak when the process exits.
inline void begin_stack(const void* base, std::size_t bytes) noexcept {
  __lsan_register_root_region(base, bytes);
}
inline void end_stack(const void* base, std::size_t bytes) noexcept {
  __lsan_unregister_root_region(base, bytes);
}
/// An object that is leaked on purpose.
inline void ignore_leak(const void* object) noexcept { __lsan_ignore_object(object); }
#else
inline constexpr bool address = false;
inline void start_switch(void**, const void*, std::size_t) noexcept {}
inline void finish_switch(void*, const void**, std::size_t*) noexcept {}
inline void unpoison(void*, std::size_t) noexcept {}
inline void begin_stack(const void*, std::size_t) noexcept {}
inline void end_stack(const void*, std::size_t) noexcept {}
inline void ignore_leak(const void*) noexcept {}
#endif

#ifdef STOKER_TSAN
inline void* create_fiber() noexcept { return __tsan_create_fiber(0); }
inline void destroy_fiber(void* fiber) noexcept { __tsan_destroy_fiber(fiber); }
inline void* current_fiber() noexcept { return __tsan_get_current_fiber(); }
inline void switch_fiber(void* fiber) noexcept { __tsan_switch_to_fiber(fiber, 0); }
#else
inline void* create_fiber() noexcept { return nullptr; }
inline void destroy_fiber(void*) noexcept {}
inline void* current_fiber() noexcept { return nullptr; }
inline void switch_fiber(void*) noexcept {}
#endif

}  // namespace stoker::sanitizers
