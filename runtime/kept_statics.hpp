// Static objects of a shared library that must outlive the threads that use it.
//
// A library may compile or list something, when it is first asked for it, into static objects of its
// functions. exit() destroys those first of all, because they are the newest, while a thread is still
// inside: there is no handler that could come before them and wait.
#pragma once

namespace stoker {

/// From now on, static objects of functions of the shared library that `function` lies in are not
/// destroyed when the process exits: what it says to __cxa_atexit is dropped. Those it made before, and
/// those of namespaces, are. False, and nothing changes, where it is part of the program itself, or not
/// to be read. Any thread.
bool keep_statics_of(const void* function) noexcept;

}  // namespace stoker
