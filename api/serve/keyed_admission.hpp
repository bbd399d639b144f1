// Who may wait, by batch key: each key has an Admission of its own, so that a flooded one leaves the others their
// places.
//
// Threads: any. Lifetime: tickets keep the Admission of their key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/api/serve/admission.hpp"

namespace stoker::serve {

class KeyedAdmission {
 public:
  /// `of_keys`: one for each key, at least one.
  explicit KeyedAdmission(std::vector<std::shared_ptr<Admission>> of_keys)
      : of_keys_{std::move(of_keys)} {}

  [[nodiscard]] const std::shared_ptr<Admission>& of(std::size_t key) const {
    return of_keys_.at(key);
  }
  void close(const Error& why) const {
    for (const auto& one : of_keys_) one->close(why);
  }
  [[nodiscard]] std::optional<Error> closed() const { return of_keys_.front()->closed(); }

  // Of all keys together.
  [[nodiscard]] std::size_t requests() const noexcept {
    std::size_t sum = 0;
    for (const auto& one : of_keys_) sum += one->requests();
    return sum;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& one : of_keys_) sum += one->bytes();
    return sum;
  }
  [[nodiscard]] std::uint64_t refused() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& one : of_keys_) sum += one->refused();
    return sum;
  }
  [[nodiscard]] std::size_t requests(std::size_t level) const noexcept {
    std::size_t sum = 0;
    for (const auto& one : of_keys_) sum += one->requests(level);
    return sum;
  }
  [[nodiscard]] std::uint64_t refused(std::size_t level) const noexcept {
    std::uint64_t sum = 0;
    for (const auto& one : of_keys_) sum += one->refused(level);
    return sum;
  }

 private:
  const std::vector<std::shared_ptr<Admission>> of_keys_;
};

}  // namespace stoker::serve
