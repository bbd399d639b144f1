#include "stoker/kernels/glsl/precise.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#if __has_include(<glslang/SPIRV/spirv.hpp>)
#include <glslang/SPIRV/spirv.hpp>
#else
#include <spirv/unified1/spirv.hpp>
#endif

#include "stoker/kernels/shader/spirv_module.hpp"

namespace stoker::glsl {
namespace {

using Words = std::span<const std::uint32_t>;
using Ids = std::unordered_set<std::uint32_t>;

constexpr std::size_t bound_at = 3;  // of the header: one more than the largest id

std::uint32_t first_word(spv::Op op, std::uint32_t count) {
  return count << spv::WordCountShift | static_cast<std::uint32_t>(op);
}

spv::Op op_of(Words instruction) {
  return static_cast<spv::Op>(instruction.front() & spv::OpCodeMask);
}

/// What `precise` is about: the operations that glslang decorates.
bool is_float_arithmetic(spv::Op op) {
  switch (op) {
    case spv::OpFNegate:
    case spv::OpFAdd:
    case spv::OpFSub:
    case spv::OpFMul:
    case spv::OpFDiv:
    case spv::OpFRem:
    case spv::OpFMod:
    case spv::OpVectorTimesScalar:
    case spv::OpMatrixTimesScalar:
    case spv::OpVectorTimesMatrix:
    case spv::OpMatrixTimesVector:
    case spv::OpMatrixTimesMatrix:
    case spv::OpOuterProduct:
    case spv::OpDot: return true;
    default: return false;
  }
}

std::uint32_t result_of(Words arithmetic) { return arithmetic[2]; }

bool is_no_contraction(Words instruction) {
  return op_of(instruction) == spv::OpDecorate && instruction.size() == 3 &&
         instruction[2] == spv::DecorationNoContraction;
}

/// The sections before a module's names and sources, and before its types: SPIR-V 2.4, 1 to 6 and 7, 8.
bool comes_before_debugging(spv::Op op) {
  switch (op) {
    case spv::OpCapability:
    case spv::OpExtension:
    case spv::OpExtInstImport:
    case spv::OpMemoryModel:
    case spv::OpEntryPoint:
    case spv::OpExecutionMode:
    case spv::OpExecutionModeId: return true;
    default: return false;
  }
}

bool comes_before_types(spv::Op op) {
  switch (op) {
    case spv::OpString:
    case spv::OpSource:
    case spv::OpSourceContinued:
    case spv::OpSourceExtension:
    case spv::OpName:
    case spv::OpMemberName:
    case spv::OpModuleProcessed:
    case spv::OpDecorate:
    case spv::OpMemberDecorate:
    case spv::OpDecorationGroup:
    case spv::OpGroupDecorate:
    case spv::OpGroupMemberDecorate:
    case spv::OpDecorateId:
    case spv::OpDecorateStringGOOGLE:
    case spv::OpMemberDecorateStringGOOGLE: return true;
    default: return comes_before_debugging(op);
  }
}

Ids decorated(Words module) {
  Ids ids;
  for_each_instruction(module, [&](Words instruction) {
    if (is_no_contraction(instruction)) ids.insert(instruction[1]);
  });
  return ids;
}

void append(std::vector<std::uint32_t>& out, Words words) {
  out.insert(out.end(), words.begin(), words.end());
}

}  // namespace

bool unrolls_precise(Words words) {
  bool precise = false;
  bool unrolls = false;
  for_each_instruction(words, [&](Words instruction) {
    precise |= is_no_contraction(instruction);
    unrolls |= op_of(instruction) == spv::OpLoopMerge && instruction.size() > 3 &&
               (instruction[3] & spv::LoopControlUnrollMask) != 0;
  });
  return precise && unrolls;
}

std::vector<std::uint32_t> with_precise_lines(Words words) {
  const Ids precise = decorated(words);
  std::vector<std::uint32_t> out{words.begin(), words.begin() + spirv_header_words};
  const std::uint32_t file = out[bound_at]++;
  bool file_named = false;
  for_each_instruction(words, [&](Words instruction) {
    const spv::Op op = op_of(instruction);
    if (!file_named && !comes_before_debugging(op)) {
      append(out, std::array{first_word(spv::OpString, 3), file, 0U});  // an empty name
      file_named = true;
    }
    if (!is_float_arithmetic(op) || !precise.contains(result_of(instruction)))
      return append(out, instruction);
    append(out, std::array{first_word(spv::OpLine, 4), file, 1U, 0U});
    append(out, instruction);
    append(out, std::array{first_word(spv::OpNoLine, 1)});
  });
  return out;
}

std::vector<std::uint32_t> with_precise_decorations(Words words) {
  const Ids decorated_still = decorated(words);
  std::vector<std::uint32_t> lost;
  Ids files;
  bool has_line = false;
  for_each_instruction(words, [&](Words instruction) {
    const spv::Op op = op_of(instruction);
    if (op == spv::OpLine) files.insert(instruction[1]);
    // A line holds until another one, or the block's end.
    if (op == spv::OpLine || op == spv::OpNoLine || op == spv::OpLabel)
      has_line = op == spv::OpLine;
    else if (has_line && is_float_arithmetic(op) &&
             !decorated_still.contains(result_of(instruction)))
      lost.push_back(result_of(instruction));
  });
  std::vector<std::uint32_t> out{words.begin(), words.begin() + spirv_header_words};
  bool restored = false;
  for_each_instruction(words, [&](Words instruction) {
    const spv::Op op = op_of(instruction);
    if (op == spv::OpLine || op == spv::OpNoLine) return;
    if (op == spv::OpString && files.contains(instruction[1])) return;
    if (!restored && !comes_before_types(op)) {
      for (const std::uint32_t id : lost)
        append(out, std::array{first_word(spv::OpDecorate, 3), id,
                               static_cast<std::uint32_t>(spv::DecorationNoContraction)});
      restored = true;
    }
    append(out, instruction);
  });
  return out;
}

}  // namespace stoker::glsl
