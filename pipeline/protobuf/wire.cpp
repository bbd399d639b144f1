#include "stoker/pipeline/protobuf/wire.hpp"

#include <algorithm>
#include <cstring>

namespace stoker::protobuf {

void Progress::damaged(const std::byte* at, std::string reason) {
  if (why_) return;
  why_ = Error{op_,
               ErrorCode::io_error,
               std::move(reason),
               {{"file", name_}, {"byte", std::to_string(at - file_.data())}}};
}

void Progress::exceeded(std::string_view limit, std::uint64_t most) {
  if (why_) return;
  why_ = Error{op_,
               ErrorCode::limit_exceeded,
               "more than " + std::to_string(most) + ' ' + std::string{limit},
               {{"file", name_}, {"limit", std::string{limit}}}};
}

void Wire::damaged(const std::byte* at, const char* reason) {
  progress_->damaged(at, reason);
  rest_ = {};
}

std::uint64_t Wire::take_varint(Bytes& from) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < from.size() && i < 10; ++i) {
    const auto byte = std::to_integer<std::uint64_t>(from[i]);
    value |= (byte & 0x7fU) << (7 * i);  // of the tenth, one bit counts
    if (byte < 0x80) {
      from = from.subspan(i + 1);
      return value;
    }
  }
  damaged(from.data(), from.size() < 10 ? "a number ends too early" : "a number is too long");
  from = {};
  return 0;
}

bool Wire::next() {
  if (progress_->stopped() || rest_.empty()) return false;
  at_ = rest_.data();
  const std::uint64_t tag = take_varint(rest_);
  const std::uint64_t number = tag >> 3U;
  type_ = static_cast<Type>(tag & 7U);
  std::uint64_t length = 0;
  switch (type_) {
    case Type::varint: varint_ = take_varint(rest_); break;
    case Type::fixed64: length = 8; break;
    case Type::fixed32: length = 4; break;
    case Type::bytes: length = take_varint(rest_); break;
    default: damaged(at_, "a field of an unknown kind");
  }
  if (number == 0 || number >= std::uint64_t{1} << 29U) damaged(at_, "a field without a number");
  if (!progress_->stopped() && length > rest_.size()) damaged(at_, "a field ends too late");
  if (progress_->stopped()) return false;
  number_ = static_cast<std::uint32_t>(number);
  content_ = rest_.first(length);
  rest_ = rest_.subspan(length);
  return true;
}

bool Wire::is(Type type) {
  if (type_ == type) return true;
  damaged(at_, "a field is stored as one of another kind");
  return false;
}

std::uint64_t Wire::varint() { return is(Type::varint) ? varint_ : 0; }

float Wire::real() {
  float value = 0;
  if (is(Type::fixed32)) std::memcpy(&value, content_.data(), sizeof value);
  return value;
}

Wire::Bytes Wire::bytes() { return is(Type::bytes) ? content_ : Bytes{}; }

std::string_view Wire::text() {
  const Bytes content = bytes();
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

Wire::Bytes Wire::fixed(std::size_t width) {
  if (type_ != Type::bytes)
    return is(width == 4 ? Type::fixed32 : Type::fixed64) ? content_ : Bytes{};
  if (content_.size() % width == 0) return content_;
  damaged(at_, "packed numbers end too early");
  return {};
}

std::uint64_t Wire::count_integers() const noexcept {
  if (type_ != Type::bytes) return 1;
  // The last byte of each has its highest bit clear.
  return static_cast<std::uint64_t>(
      std::ranges::count_if(content_, [](std::byte byte) { return (byte >> 7U) == std::byte{0}; }));
}

void Wire::integers(std::vector<std::int64_t>& to) {
  each_integer([&](std::uint64_t value) { to.push_back(static_cast<std::int64_t>(value)); });
}

void Wire::reals(std::vector<float>& to) {
  const Bytes content = fixed(4);
  const std::size_t before = to.size();
  to.resize(before + content.size() / 4);
  if (!content.empty()) std::memcpy(to.data() + before, content.data(), content.size());
}

}  // namespace stoker::protobuf
