#include "stoker/device/vulkan/memory/shared_memory.hpp"

#include <cstddef>
#include <map>

#include "stoker/kernels/shader/spirv_module.hpp"

namespace stoker::device::vulkan {
namespace {

constexpr std::uint32_t workgroup = 4;  // the storage class
constexpr std::uint32_t spec_id = 1;    // the decoration

/// The instructions that say it (SPIR-V 1.5, section 3.37).
enum Op : std::uint32_t {
  op_type_bool = 20,
  op_type_int = 21,
  op_type_float = 22,
  op_type_vector = 23,
  op_type_matrix = 24,
  op_type_array = 28,
  op_type_struct = 30,
  op_type_pointer = 32,
  op_constant = 43,
  op_spec_constant = 50,
  op_function = 54,
  op_variable = 59,
  op_decorate = 71,
};

}  // namespace

std::uint64_t shared_bytes(std::span<const std::uint32_t> spirv,
                           std::span<const std::uint32_t> constants) {
  std::map<std::uint32_t, std::uint64_t> sizes;   // of types; of pointers: what they point to
  std::map<std::uint32_t, std::uint64_t> values;  // of constants
  std::map<std::uint32_t, std::uint32_t> spec_ids;
  std::uint64_t bytes = 0;
  for_each_instruction(spirv, [&](std::span<const std::uint32_t> instruction) {
    const auto word = [&](std::size_t i) { return i < instruction.size() ? instruction[i] : 0; };
    switch (spirv_op(instruction)) {
      case op_function: return false;  // the types are over
      case op_decorate:
        if (word(2) == spec_id) spec_ids[word(1)] = word(3);
        break;
      case op_type_bool: sizes[word(1)] = 4; break;
      case op_type_int:
      case op_type_float: sizes[word(1)] = word(2) / 8; break;
      case op_type_vector:
      case op_type_matrix: sizes[word(1)] = sizes[word(2)] * word(3); break;
      case op_type_array: sizes[word(1)] = sizes[word(2)] * values[word(3)]; break;
      case op_type_struct:
        for (std::size_t i = 2; i < instruction.size(); ++i) sizes[word(1)] += sizes[word(i)];
        break;
      case op_type_pointer: sizes[word(1)] = sizes[word(3)]; break;
      case op_constant: values[word(2)] = word(3); break;
      case op_spec_constant: {
        const auto id = spec_ids.find(word(2));
        const bool given = id != spec_ids.end() && id->second < constants.size();
        values[word(2)] = given ? constants[id->second] : word(3);
        break;
      }
      case op_variable:
        if (word(3) == workgroup) bytes += sizes[word(1)];
        break;
      default: break;
    }
    return true;
  });
  return bytes;
}

}  // namespace stoker::device::vulkan
