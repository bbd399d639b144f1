#include <tuple>

#include "stoker/kernels/case_grid.hpp"

namespace stoker::kernels::random_bits {
namespace {

constexpr Fill any_word{0, 4294967295.0};

std::vector<KernelCase> bits_cases() {
  std::vector<KernelCase> cases;
  const auto add = [&](std::string label, const char* dtype, const Shape& shape,
                       bool heavy = false) {
    cases.push_back({.label = std::move(label),
                     .inputs = {{DType::u32, Shape{2}}},
                     .params = {{"dtype", dtype},
                                {"shape", std::vector<std::int64_t>{shape.begin(), shape.end()}}},
                     .fills = {any_word},
                     .heavy = heavy});
  };
  for (const char* dtype : {"u8", "u16", "u32", "u64"}) {
    for (const auto& [label, shape] : cases::awkward_shapes())
      add(std::string{dtype} + "_" + label, dtype, shape);
    for (const std::int64_t n : {2, 5, 6, 7, 8, 15, 1022, 2046})
      add(std::string{dtype} + "_" + std::to_string(n), dtype, Shape{n});
    add(std::string{dtype} + "_large", dtype, Shape{(1 << 20) + 3}, true);
  }
  return cases;
}

std::vector<KernelCase> raw_cases() {
  std::vector<KernelCase> cases;
  const auto add = [&](std::string label, const Shape& keys, const Shape& counters) {
    cases.push_back({.label = std::move(label),
                     .inputs = {{DType::u32, keys}, {DType::u32, counters}},
                     .params = {},
                     .fills = {any_word}});
  };
  for (const auto& [label, shape] : cases::awkward_shapes())
    if (shape.rank() < Shape::max_rank) add(label, shape.appended(2), shape.appended(2));
  add("rank_8", Shape{2, 1, 3, 1, 2, 1, 3, 2}, Shape{2, 1, 3, 1, 2, 1, 3, 2});
  add("one_key", Shape{2}, Shape{37, 5, 2});
  add("one_counter", Shape{37, 5, 2}, Shape{2});
  add("one_key_four_counters", Shape{2}, Shape{4, 2});
  add("one_key_no_counters", Shape{2}, Shape{0, 2});
  return cases;
}

using Pair = std::pair<std::uint32_t, std::uint32_t>;

/// Threefish's rounds with two words of 32 bits, as section 3.3 of the paper puts them.
Pair threefry(Pair key, Pair x) {
  const std::uint32_t ks[3] = {key.first, key.second, 0x1BD11BDA ^ key.first ^ key.second};
  const int rotation[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  x.first += ks[0];
  x.second += ks[1];
  for (int round = 1; round <= 20; ++round) {
    const int r = rotation[(round - 1) % 8];
    x.first += x.second;
    x.second = x.second << r | x.second >> (32 - r);
    x.second ^= x.first;
    if (round % 4 != 0) continue;
    const int s = round / 4;
    x.first += ks[s % 3];
    x.second += ks[(s + 1) % 3] + static_cast<std::uint32_t>(s);
  }
  return x;
}

std::uint32_t word(double value) { return static_cast<std::uint32_t>(value); }

/// As Nx and JAX write it: an iota, padded to an even count, in two rows, each column through the
/// block function, flattened again.
std::vector<std::uint32_t> words(Pair key, std::size_t count) {
  std::vector<std::uint32_t> iota(count + count % 2, 0);
  for (std::size_t i = 0; i < count; ++i) iota[i] = static_cast<std::uint32_t>(i);
  const std::size_t half = iota.size() / 2;
  for (std::size_t i = 0; i < half; ++i)
    std::tie(iota[i], iota[half + i]) = threefry(key, {iota[i], iota[half + i]});
  iota.resize(count);
  return iota;
}

std::vector<double> bits_reference(const TensorSpec& output, const std::vector<double>& input) {
  const Pair key{word(input[0]), word(input[1])};
  const std::size_t n = output.elements();
  std::vector<double> result(n);
  const bool wide = output.dtype == DType::u64;
  const std::vector<std::uint32_t> random = words(key, wide ? 2 * n : n);
  for (std::size_t i = 0; i < n; ++i)
    result[i] = wide ? static_cast<double>((std::uint64_t{random[i]} << 32) + random[n + i])
                     : cases::wrapped(random[i], output.dtype);
  return result;
}

std::vector<double> raw_reference(std::size_t elements, const std::vector<double>& keys,
                                  const std::vector<double>& counters) {
  std::vector<double> result(elements);
  for (std::size_t i = 0; i < elements; i += 2) {
    const std::size_t k = i % keys.size(), c = i % counters.size();
    std::tie(result[i], result[i + 1]) =
        threefry({word(keys[k]), word(keys[k + 1])}, {word(counters[c]), word(counters[c + 1])});
  }
  return result;
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite bits;
  bits.kernel = "random_bits";
  bits.cases = bits_cases();
  bits.reference = [](const KernelCall&, std::span<const TensorSpec> outputs,
                      const std::vector<std::vector<double>>& inputs) {
    return std::vector<std::vector<double>>{bits_reference(outputs[0], inputs[0])};
  };
  bits.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(bits));

  KernelSuite raw;
  raw.kernel = "threefry2x32";
  raw.cases = raw_cases();
  raw.reference = [](const KernelCall&, std::span<const TensorSpec> outputs,
                     const std::vector<std::vector<double>>& inputs) {
    return std::vector<std::vector<double>>{
        raw_reference(outputs[0].elements(), inputs[0], inputs[1])};
  };
  raw.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(raw));
}

}  // namespace stoker::kernels::random_bits
