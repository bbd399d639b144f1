// Whether a thread waits for what it starts. One that did so last time is likely to do it again, and may as well do a
// little work itself that it would wait for. One that serves events never waits, and is left alone.
//
// Threads: of the calling one.
#pragma once

namespace stoker {

/// It waits for a future, ready or not. Does nothing in a process or fiber.
void note_wait_of_this_thread() noexcept;

/// Whether the calling thread is a plain one, and has waited for a future since it asked this last.
[[nodiscard]] bool this_thread_has_waited() noexcept;

}  // namespace stoker
