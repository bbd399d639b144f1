#include "fuzz.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace stoker::fuzz {
namespace {

System make_system() {
  SystemOptions options;
  options.config.threads = 2;
  options.device.memory.budget = std::uint64_t{256} << 20;
  return System{options};
}

}  // namespace

void require(bool kept, const std::string& promise) {
  if (!kept) throw Broken{promise};
}

void require_refusal(const Error& error) {
  require(error.code() != ErrorCode::internal && error.code() != ErrorCode::handler_failed,
          std::string{"bad input is refused, not a defect: "} + error.what());
}

std::uint8_t Decisions::byte() noexcept {
  if (bytes_.empty()) return 0;
  const auto first = std::to_integer<std::uint8_t>(bytes_.front());
  bytes_ = bytes_.subspan(1);
  return first;
}

std::int64_t Decisions::integer() noexcept {
  const std::uint8_t kind = byte();
  if (kind < 160) return kind / 8 - 4;
  const std::int64_t power = static_cast<std::int64_t>(std::uint64_t{1} << byte() % 64);
  const std::int64_t near = in(-2, 2);
  const auto sum = static_cast<std::uint64_t>(power) + static_cast<std::uint64_t>(near);
  return static_cast<std::int64_t>(kind < 224 ? sum : std::uint64_t{0} - sum);
}

std::string_view Decisions::text() noexcept {
  const std::string_view all = text_of(bytes_);
  const std::size_t end = all.find('\0');
  const std::string_view first = all.substr(0, end);
  bytes_ = bytes_.subspan(end == all.npos ? all.size() : end + 1);
  return first;
}

MemoryFile::MemoryFile(Bytes bytes) : file_{::memfd_create("fuzz", MFD_CLOEXEC)} {
  if (file_ < 0) throw std::system_error{errno, std::generic_category(), "memfd_create"};
  if (::write(file_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    throw std::system_error{errno, std::generic_category(), "write"};
}

MemoryFile::~MemoryFile() { ::close(file_); }

std::filesystem::path MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(file_); }

const System& system() {
  static const System one = make_system();
  return one;
}

const Device& device() {
  static const Device one =
      system().device(std::getenv("STOKER_DEVICE") != nullptr ? std::string_view{} : "cpu");
  return one;
}

}  // namespace stoker::fuzz
