// Built-in kernels as types: each kernel has a struct of its options (options.hpp) in the header
// options.hpp of its folder, by which programs name the kernel.
//
//     struct GaussianBlur {
//       static constexpr KernelName kind{"gaussian_blur"};
//       std::int64_t radius = 1;
//     };
//     device.run(kernels::GaussianBlur{.radius = 2}, {photo});
//
// The compiler refuses a wrong name or type; for a variable that would lose digits, .radius =
// a_double, GCC only warns (-Wnarrowing). Ranges are checked at the call.
// device.run("gaussian_blur", {photo}, {{"radius", 2}}) is the same call as text. A program's own
// kernel may have such a struct, too, from which `.name` and `.params` of its definition follow.
//
// Constant data; any thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

#include "stoker/kernels/options.hpp"

namespace stoker {

/// A type of its own, so that other structs of options are not mistaken for kernels.
class KernelName {
 public:
  consteval explicit KernelName(std::string_view name) noexcept : name_{name} {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator std::string_view() const noexcept { return name_; }

 private:
  std::string_view name_;
};

/// A kernel's struct of options.
template <class K>
concept TypedKernel = std::same_as<decltype(K::kind), const KernelName>;

/// A kernel without options: `using Determinant = PlainKernel<"determinant">`.
template <KindName Name> struct PlainKernel { static constexpr KernelName kind{Name.text}; };

/// The kernels of one folder, or of all folders.
template <TypedKernel... Kernels> struct KernelTypes {
  /// Calls `function.operator()<K>()` for each.
  template <class F> static void for_each(F&& function) {
    (function.template operator()<Kernels>(), ...);
  }
  template <TypedKernel... Others>
  constexpr KernelTypes<Kernels..., Others...> operator+(KernelTypes<Others...>) const noexcept {
    return {};
  }
};

}  // namespace stoker
