#include "access_log.hpp"

#include <chrono>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <locale>
#include <new>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>

#include "stoker/api/command_line/one_line.hpp"

namespace stoker::command_line {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr std::size_t most_lines = 1000;

/// Without memory, a stream would leave out the rest of a text and say nothing.
void fail_without_memory(std::ostream& text) { text.exceptions(std::ios_base::badbit); }

/// As RFC 3339 has it, in UTC.
std::string time_now() {
  using namespace std::chrono;
  const auto now = floor<milliseconds>(system_clock::now());
  const std::time_t seconds = system_clock::to_time_t(now);
  std::tm at{};
  gmtime_r(&seconds, &at);
  std::ostringstream text;
  fail_without_memory(text);
  text.imbue(std::locale::classic());
  text << std::put_time(&at, "%Y-%m-%dT%H:%M:%S.") << std::setfill('0') << std::setw(3)
       << now.time_since_epoch().count() % 1000 << 'Z';
  return text.str();
}

std::string text_of(const HttpAccess& access) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  fail_without_memory(text);
  text << time_now() << ' ';
  if (access.method.empty())
    text << "- -";  // a connection that was refused
  else
    text << one_line(access.method) << ' ' << one_line(access.target);
  text << ' ' << access.status << ' ' << access.body_bytes << " bytes " << std::fixed
       << std::setprecision(3) << Milliseconds{access.taken}.count() << " ms";
  if (const HttpInference* const one = access.inference) {
    text << " model " << one_line(one->model) << ' ' << one_line(one->version);
    if (one->rows > 0)
      text << " rows " << one->rows << " of " << one->batch_rows << " queue "
           << Milliseconds{one->queue}.count() << " ms compute "
           << Milliseconds{one->compute}.count() << " ms";
    if (!one->trace_id.empty()) text << " trace " << one->trace_id;
    // At the end: it may look like what stands before it.
    if (!one->request_id.empty()) text << " id " << one_line(one->request_id);
  }
  text << '\n';
  return text.str();
}

std::string json_of(const HttpAccess& access) {
  nlohmann::ordered_json line{
      {"time", time_now()},         {"method", access.method},
      {"target", access.target},    {"status", access.status},
      {"bytes", access.body_bytes}, {"ms", Milliseconds{access.taken}.count()}};
  if (const HttpInference* const one = access.inference) {
    line["model"] = one->model;
    line["version"] = one->version;
    if (one->rows > 0) {
      line["rows"] = one->rows;
      line["batch_rows"] = one->batch_rows;
      line["queue_ms"] = Milliseconds{one->queue}.count();
      line["compute_ms"] = Milliseconds{one->compute}.count();
    }
    if (!one->request_id.empty()) line["id"] = one->request_id;
    if (!one->trace_id.empty()) line["trace_id"] = one->trace_id;
  }
  // Texts of clients may be no UTF-8.
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace

AccessLog::AccessLog(const std::string& file, AccessLogFormat format)
    : format_{format}, to_{file == "-" ? &std::cerr : &file_} {
  if (file != "-") {
    file_.open(file, std::ios::app);
    if (!file_)
      throw Error{
          "serve", ErrorCode::io_error, "the access log cannot be opened", {{"file", file}}};
  }
  thread_ = std::thread{[this] { write(); }};
}

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
    std::string line = format_ == AccessLogFormat::json ? json_of(access) : text_of(access);
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

std::string AccessLog::left_out(std::uint64_t lines) const {
  const std::string count = std::to_string(lines);
  return format_ == AccessLogFormat::json
             ? "{\"left_out\":" + count + "}\n"
             : "left out " + count + (lines == 1 ? " line\n" : " lines\n");
}

void AccessLog::write() {
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !lines_.empty(); });
    if (lines_.empty()) break;
    const std::deque<std::string> lines = std::exchange(lines_, {});
    lock.unlock();
    for (const std::string& line : lines) *to_ << line;
    const bool failed = !to_->flush();
    if (failed) to_->clear();  // the next lines may find room again
    lock.lock();
    if (failed) left_out_ += lines.size();
  }
  if (left_out_ > 0) *to_ << left_out(left_out_) << std::flush;
}

}  // namespace stoker::command_line
