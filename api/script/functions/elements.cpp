// Functions of single elements.
#include "stoker/api/script/functions/function_table.hpp"
#include "stoker/api/tensor/math/complex.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"

namespace stoker::script {

void define_elements(FunctionTable& table) {
  using Call = FunctionCall;
  table.add("clip", {3, 3}, {},
            "x limited to the range from the second input to the third; a NaN in x stays",
            [](const Call& c) { return clip(c.x(0), c.x(1), c.x(2)); });
  table.add("log2", {1, 1}, {}, "the logarithm to base 2",
            [](const Call& c) { return log2(c.x()); });
  table.add("log10", {1, 1}, {}, "the logarithm to base 10",
            [](const Call& c) { return log10(c.x()); });
  table.add("complex", {2, 2}, {}, "complex numbers of real parts and imaginary parts",
            [](const Call& c) { return complex(c.x(0), c.x(1)); });
  table.add("real", {1, 1}, {}, "the real part; a real x as a float",
            [](const Call& c) { return real(c.x()); });
  table.add("imag", {1, 1}, {}, "the imaginary part; 0 for a real x",
            [](const Call& c) { return imag(c.x()); });
  table.add("conjugate", {1, 1}, {}, "the complex conjugate",
            [](const Call& c) { return conjugate(c.x()); });
  table.add("phase", {1, 1}, {}, "the angle of a complex number, above -π and up to π",
            [](const Call& c) { return phase(c.x()); });
}

}  // namespace stoker::script
