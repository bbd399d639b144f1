// A mutex of the whole process, for what no system owns: the logger, the tables of a library.
//
// fork() waits until every one of them is free, so that the child, which has none of the threads that
// might hold one, finds them free. Whoever holds one may wait for another, and does not fork.
//
// Threads: any. Lifetime: as long as the process: a static object, or a member of one that is never
// destroyed.
#pragma once

#include <mutex>

namespace stoker {

class ProcessMutex {
 public:
  ProcessMutex() noexcept;
  ProcessMutex(const ProcessMutex&) = delete;
  ProcessMutex& operator=(const ProcessMutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend struct ProcessMutexes;
  std::mutex mutex_;
  ProcessMutex* next_ = nullptr;
};

}  // namespace stoker
