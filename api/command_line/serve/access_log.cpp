#include "access_log.hpp"

#include <iomanip>
#include <iostream>
#include <sstream>
#include <utility>

#include "stoker/runtime/base/printable.hpp"

namespace stoker::command_line {
namespace {

constexpr std::size_t most_lines = 1000;

std::string line_of(const HttpAccess& access) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  std::ostringstream text;
  text << printable(access.method) << ' ' << printable(access.target) << ' ' << access.status << ' '
       << access.body_bytes << " bytes " << std::fixed << std::setprecision(3)
       << Milliseconds{access.taken}.count() << " ms\n";
  return text.str();
}

}  // namespace

AccessLog::AccessLog() : thread_{[this] { write(); }} {}

AccessLog::~AccessLog() {
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void AccessLog::add(const HttpAccess& access) {
  std::string line = line_of(access);
  {
    const std::lock_guard lock{mutex_};
    if (lines_.size() >= most_lines) {
      ++left_out_;
      return;
    }
    if (left_out_ > 0)
      line.insert(0, "left out " + std::to_string(std::exchange(left_out_, 0)) + " lines\n");
    lines_.push_back(std::move(line));
  }
  changed_.notify_one();
}

void AccessLog::write() {
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !lines_.empty(); });
    if (lines_.empty()) return;
    const std::deque<std::string> lines = std::exchange(lines_, {});
    lock.unlock();
    for (const std::string& line : lines) std::cerr << line;
    std::cerr.flush();
    lock.lock();
  }
}

}  // namespace stoker::command_line
