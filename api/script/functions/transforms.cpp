// Fourier transforms of real and complex buffers. The operations `fft` and `ifft` are of rows of pairs.
#include "stoker/api/script/functions/function_table.hpp"
#include "stoker/api/tensor/math/fft.hpp"

namespace stoker::script {
namespace {

using Call = FunctionCall;

ParamSpec eps_option() {
  return real_option("eps", 1e-10, "real and imaginary parts up to this size become 0", 0);
}

FftLength length_at(const Axes& lengths, std::size_t i) {
  return i < lengths.size() && lengths[i] != 0 ? FftLength{lengths[i]} : FftLength{};
}

std::vector<ParamSpec> one_axis(const char* length) {
  return {integer_option("length", 0, length, 0), axis_option(-1, "the axis of the transform"),
          eps_option()};
}

Fft along_one(const Call& call) {
  return {length_at({call.integer("length")}, 0), call.integer("axis"), call.real("eps")};
}

std::vector<ParamSpec> two_axes() {
  ParamSpec axes = integers_option("axes", "the two axes; a negative one counts from the end");
  axes.fallback = ParamValue{Axes{-2, -1}};
  return {integers_option("lengths", "of the two transforms; empty or 0: the axis' extent", 0),
          std::move(axes), eps_option()};
}

Fft2 along_two(const Call& call) {
  const Axes &lengths = call.integers("lengths"), &axes = call.integers("axes");
  if (axes.size() != 2 || lengths.size() > 2)
    throw Error{
        "fft2",
        ErrorCode::invalid_parameter,
        "expected two axes and at most two lengths, got " + std::to_string(axes.size()) + " and " +
            std::to_string(lengths.size()),
        {{"axes", std::to_string(axes.size())}, {"lengths", std::to_string(lengths.size())}}};
  return {{length_at(lengths, 0), length_at(lengths, 1)}, {axes[0], axes[1]}, call.real("eps")};
}

}  // namespace

void define_transforms(FunctionTable& table) {
  const char* const length =
      "of the transform: a shorter axis is padded with zeros, a longer one is cut; 0: the axis' "
      "extent";
  table.add("fft_along_axis", {1, 1}, one_axis(length),
            "the Fourier transform along an axis, as complex numbers",
            [](const Call& c) { return fft(c.x(), along_one(c)); });
  table.add("ifft_along_axis", {1, 1}, one_axis(length),
            "the inverse Fourier transform along an axis, as complex numbers",
            [](const Call& c) { return ifft(c.x(), along_one(c)); });
  table.add("rfft", {1, 1}, one_axis(length),
            "the first n/2 + 1 elements of the Fourier transform of a real x along an axis",
            [](const Call& c) { return rfft(c.x(), along_one(c)); });
  table.add("irfft", {1, 1},
            one_axis("of the result; an odd one must be given; 0: 2·(the axis' extent - 1)"),
            "the inverse of rfft, as real numbers",
            [](const Call& c) { return irfft(c.x(), along_one(c)); });
  table.add("fft2", {1, 1}, two_axes(), "the Fourier transform along two axes",
            [](const Call& c) { return fft2(c.x(), along_two(c)); });
  table.add("ifft2", {1, 1}, two_axes(), "the inverse Fourier transform along two axes",
            [](const Call& c) { return ifft2(c.x(), along_two(c)); });
}

}  // namespace stoker::script
