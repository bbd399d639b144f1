// A function of values that was traced: what branches, the bodies of loops and rules of the program's
// are kept as.
//
//     results as they depend on parameters ──close()──▶ a Function that depends on nothing else, and
//                                                       the captures, which become parameters, too
//
// Value data; the graph behind it is never evaluated and immutable. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stoker/pipeline/tensor/graph/value.hpp"

namespace stoker::expr {

struct Function {
  std::vector<Value> parameters;
  std::vector<Value> results;
};

/// What is computed inside of a function and depends on no parameter of its.
enum class Free : std::uint8_t {
  outside,  ///< is computed outside, once: for bodies of loops
  inside,   ///< stays: for branches, which may not be taken
};

/// The functions with what they stand on beside their parameters as further parameters, the same for
/// all and in the order of `captures`, to which it is appended. Constants stay inside. `begin` is a
/// serial number from before they were traced.
[[nodiscard]] std::vector<Function> close(std::span<const Function> open,
                                          std::vector<Value>& captures, std::uint64_t begin,
                                          Free free = Free::outside);

/// The results with `arguments` in the place of the parameters: asked for anew, nothing is shared with
/// the function's own graph. Precondition: as many arguments as parameters, with their specs.
[[nodiscard]] std::vector<Value> call(const Function& function, std::span<const Value> arguments);

/// Placeholders of the specs of `like`.
[[nodiscard]] std::vector<Value> placeholders_like(std::span<const Value> like);

/// Functions as a node holds them.
class FunctionPayload final : public Payload {
 public:
  explicit FunctionPayload(std::vector<Function> functions);
  [[nodiscard]] const std::vector<Function>& functions() const noexcept { return functions_; }
  [[nodiscard]] std::string key() const override { return key_; }

 private:
  const std::vector<Function> functions_;
  const std::string key_;
};

}  // namespace stoker::expr
