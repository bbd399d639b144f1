#include "stoker/kernels/rows/row_teams.hpp"

#include <algorithm>
#include <bit>

namespace stoker::kernels::rows {
namespace {

// Quads that one thread keeps: 64 registers of the 255 a thread may have on common GPUs.
constexpr std::uint64_t most_quads = 16;

constexpr std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

}  // namespace

RowTeams RowTeams::of(std::int64_t length, std::uint32_t threads) noexcept {
  const std::uint64_t quads = divide_up(static_cast<std::uint64_t>(length), 4);
  // A subgroup to a row needs no shared memory, so it may take more for each thread; beyond, more
  // threads before more registers, which cost groups in flight.
  const std::uint64_t wanted = quads <= 128 ? 4 : 8;
  const std::uint64_t lanes =
      std::min<std::uint64_t>(std::bit_ceil(divide_up(quads, wanted)), threads);
  const std::uint64_t batches = divide_up(quads, lanes * most_quads);
  return {static_cast<std::uint32_t>(lanes),
          static_cast<std::uint32_t>(divide_up(quads, lanes * batches))};
}

RowShaders row_shaders(Shader shader) {
  std::vector<SpecConstant> constants{{"lanes", 1}, {"quads", 1}, {"subgroup", 32}, {"wide"}};
  constants.insert(constants.end(), shader.constants.begin(), shader.constants.end());
  shader.constants = std::move(constants);
  const auto made = [&](const char* ending, bool subgroups) {
    Shader form = shader;
    form.name += ending;
    form.uses_subgroups = subgroups;
    for (ShaderVariant& variant : form.variants)
      variant.defines.push_back({"SUBGROUPS", subgroups ? "1" : "0"});
    return std::make_shared<const Shader>(std::move(form));
  };
  return {made("_shuffling", true), made("", false)};
}

GpuPass row_pass(const RowShaders& shaders, std::int64_t rows, std::int64_t length,
                 const GpuTraits& traits) {
  GpuPass pass;
  pass.shader = (traits.subgroup_shuffles ? shaders.shuffling : shaders.plain).get();
  const std::uint32_t threads = pass.shader->local_size[0];
  const RowTeams teams = RowTeams::of(length, threads);
  pass.constants = {teams.lanes, teams.quads, traits.subgroup_size, length % 4 == 0};
  pass.groups = linear_groups(
      divide_up(static_cast<std::uint64_t>(rows), std::uint64_t{threads / teams.lanes}));
  // Two walks in batches.
  pass.rounds = 2 * divide_up(static_cast<std::uint64_t>(length),
                              std::uint64_t{4} * teams.quads * teams.lanes);
  return pass;
}

}  // namespace stoker::kernels::rows
