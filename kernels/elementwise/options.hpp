// The types of the scalar functions that are kernels; none has options.
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

using Abs = PlainKernel<"abs">;
using Acos = PlainKernel<"acos">;
using Acosh = PlainKernel<"acosh">;
using Add = PlainKernel<"add">;
using Asin = PlainKernel<"asin">;
using Asinh = PlainKernel<"asinh">;
using Atan = PlainKernel<"atan">;
using Atan2 = PlainKernel<"atan2">;
using Atanh = PlainKernel<"atanh">;
using BitwiseAnd = PlainKernel<"bitwise_and">;
using BitwiseNot = PlainKernel<"bitwise_not">;
using BitwiseOr = PlainKernel<"bitwise_or">;
using BitwiseXor = PlainKernel<"bitwise_xor">;
using Cbrt = PlainKernel<"cbrt">;
using Ceil = PlainKernel<"ceil">;
using Cos = PlainKernel<"cos">;
using Cosh = PlainKernel<"cosh">;
using CountLeadingZeros = PlainKernel<"count_leading_zeros">;
using Divide = PlainKernel<"divide">;
using ElementwiseDiv = PlainKernel<"elementwise_div">;
using Equal = PlainKernel<"equal">;
using Erf = PlainKernel<"erf">;
using ErfInv = PlainKernel<"erf_inv">;
using Erfc = PlainKernel<"erfc">;
using Exp = PlainKernel<"exp">;
using Expm1 = PlainKernel<"expm1">;
using Floor = PlainKernel<"floor">;
using Greater = PlainKernel<"greater">;
using GreaterEqual = PlainKernel<"greater_equal">;
using IsInfinity = PlainKernel<"is_infinity">;
using IsNan = PlainKernel<"is_nan">;
using LeftShift = PlainKernel<"left_shift">;
using Less = PlainKernel<"less">;
using LessEqual = PlainKernel<"less_equal">;
using Log = PlainKernel<"log">;
using Log1p = PlainKernel<"log1p">;
using LogicalAnd = PlainKernel<"logical_and">;
using LogicalNot = PlainKernel<"logical_not">;
using LogicalOr = PlainKernel<"logical_or">;
using LogicalXor = PlainKernel<"logical_xor">;
using Max = PlainKernel<"max">;
using Min = PlainKernel<"min">;
using Multiply = PlainKernel<"multiply">;
using Negate = PlainKernel<"negate">;
using NotEqual = PlainKernel<"not_equal">;
using PopulationCount = PlainKernel<"population_count">;
using Pow = PlainKernel<"pow">;
using Quotient = PlainKernel<"quotient">;
using Relu = PlainKernel<"relu">;
using Remainder = PlainKernel<"remainder">;
using RightShift = PlainKernel<"right_shift">;
using Round = PlainKernel<"round">;
using Rsqrt = PlainKernel<"rsqrt">;
using Sigmoid = PlainKernel<"sigmoid">;
using Sign = PlainKernel<"sign">;
using Sin = PlainKernel<"sin">;
using Sinh = PlainKernel<"sinh">;
using Sqrt = PlainKernel<"sqrt">;
using Subtract = PlainKernel<"subtract">;
using Tan = PlainKernel<"tan">;
using Tanh = PlainKernel<"tanh">;

using ElementwiseKernels =
    KernelTypes<Abs, Acos, Acosh, Add, Asin, Asinh, Atan, Atan2, Atanh, BitwiseAnd, BitwiseNot,
                BitwiseOr, BitwiseXor, Cbrt, Ceil, Cos, Cosh, CountLeadingZeros, Divide,
                ElementwiseDiv, Equal, Erf, ErfInv, Erfc, Exp, Expm1, Floor, Greater, GreaterEqual,
                IsInfinity, IsNan, LeftShift, Less, LessEqual, Log, Log1p, LogicalAnd, LogicalNot,
                LogicalOr, LogicalXor, Max, Min, Multiply, Negate, NotEqual, PopulationCount, Pow,
                Quotient, Relu, Remainder, RightShift, Round, Rsqrt, Sigmoid, Sign, Sin, Sinh, Sqrt,
                Subtract, Tan, Tanh>;

}  // namespace stoker::kernels
