// Static objects of a shared library that must outlive the threads that use it.
//
// A library may compile or list something, when it is first asked for it, into static objects of its
// functions. exit() destroys those first of all, because they are the newest, while a thread is still
// inside: no handler can come before them and wait. So the library's calls of __cxa_atexit(), which
// registers their destructors, are led to a function that does nothing.
#pragma once

namespace stoker {

/// From now on no static object that code of the shared library makes is destroyed, neither when the
/// process exits nor when the library is unloaded, whoever in the process asks for it. Those it has made
/// before are.
///
/// False, and nothing changes, where the library's table of calls cannot be changed: on other systems
/// than Linux on x86-64 and arm64; for a function of the program itself, or of the shared library that Stoker is
/// part of; where the system forbids it. Threads: any, one at a time; the library may be in use.
[[nodiscard]] bool keep_statics_of(const void* function) noexcept;

}  // namespace stoker
