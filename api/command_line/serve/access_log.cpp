#include "access_log.hpp"

#include <iomanip>
#include <iostream>
#include <new>
#include <sstream>
#include <utility>

#include "stoker/runtime/base/printable.hpp"

namespace stoker::command_line {
namespace {

constexpr std::size_t most_lines = 1000;

std::string line_of(const HttpAccess& access) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  std::ostringstream text;
  // Without memory, a stream would leave out the rest of the line and say nothing.
  text.exceptions(std::ios_base::badbit);
  if (access.method.empty())
    text << "- -";  // a connection that was refused
  else
    text << printable(access.method) << ' ' << printable(access.target);
  text << ' ' << access.status << ' ' << access.body_bytes << " bytes " << std::fixed
       << std::setprecision(3) << Milliseconds{access.taken}.count() << " ms\n";
  return text.str();
}

std::string left_out(std::uint64_t lines) {
  return "left out " + std::to_string(lines) + (lines == 1 ? " line\n" : " lines\n");
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

void AccessLog::add(const HttpAccess& access) noexcept {
  try {
    std::string line = line_of(access);
    const std::lock_guard lock{mutex_};
    if (lines_.size() < most_lines) {
      if (left_out_ > 0) line.insert(0, left_out(left_out_));
      lines_.push_back(std::move(line));
      left_out_ = 0;
      return changed_.notify_one();
    }
  } catch (const std::bad_alloc&) {  // it is left out, too
  }
  const std::lock_guard lock{mutex_};
  ++left_out_;
}

void AccessLog::write() {
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !lines_.empty(); });
    if (lines_.empty()) break;
    const std::deque<std::string> lines = std::exchange(lines_, {});
    lock.unlock();
    for (const std::string& line : lines) std::cerr << line;
    std::cerr.flush();
    lock.lock();
  }
  if (left_out_ > 0) std::cerr << left_out(left_out_) << std::flush;
}

}  // namespace stoker::command_line
