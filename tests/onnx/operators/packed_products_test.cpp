// Products with weights of few bits that stay packed: MatMulNBits of com.microsoft, against numbers unpacked
// one by one.
#include <cmath>
#include <thread>

#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

enum class Zeros { none, packed, reals };

/// Weights [n, k] as the operator has them, and what they stand for.
struct Packed {
  std::int64_t k, n, bits, block;
  Zeros zeros = Zeros::none;

  [[nodiscard]] std::int64_t blocks() const { return (k + block - 1) / block; }
  [[nodiscard]] std::int64_t number(std::int64_t j, std::int64_t t) const {
    return (j * 7 + t * 5 + j * t) % (std::int64_t{1} << bits);
  }
  [[nodiscard]] double scale(std::int64_t j, std::int64_t of) const {
    return static_cast<double>((j * 3 + of) % 5 + 1) / 16;
  }
  [[nodiscard]] double zero(std::int64_t j, std::int64_t of) const {
    const std::int64_t all = std::int64_t{1} << bits;
    const std::int64_t middle = all / 2;
    if (zeros == Zeros::none) return static_cast<double>(middle);
    const std::int64_t whole = (j + 2 * of + 1) % all;
    return zeros == Zeros::packed ? static_cast<double>(whole) : static_cast<double>(whole) + 0.25;
  }
  [[nodiscard]] double weight(std::int64_t j, std::int64_t t) const {
    return (static_cast<double>(number(j, t)) - zero(j, t / block)) * scale(j, t / block);
  }

  [[nodiscard]] TensorData numbers() const {
    const std::int64_t bytes = block * bits / 8;
    std::vector<std::byte> all(static_cast<std::size_t>(n * blocks() * bytes));
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t t = 0; t < k; ++t) put(all, j * blocks() * bytes, t, number(j, t));
    return data(ElementType::u8, {n, blocks(), bytes}, std::move(all));
  }
  [[nodiscard]] TensorData scales(ElementType type) const {
    return by_block(type, [&](std::int64_t j, std::int64_t of) { return scale(j, of); });
  }
  [[nodiscard]] TensorData zero_points() const {
    if (zeros == Zeros::reals)
      return by_block(ElementType::f32,
                      [&](std::int64_t j, std::int64_t of) { return zero(j, of); });
    const std::int64_t bytes = (blocks() * bits + 7) / 8;
    std::vector<std::byte> all(static_cast<std::size_t>(n * bytes));
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t of = 0; of < blocks(); ++of)
        put(all, j * bytes, of, static_cast<std::int64_t>(zero(j, of)));
    return data(ElementType::u8, {n, bytes}, std::move(all));
  }
  [[nodiscard]] std::vector<Attribute> attributes() const {
    return {named("K", k), named("N", n), named("bits", bits), named("block_size", block),
            named("accuracy_level", std::int64_t{1})};
  }

 private:
  static TensorData data(ElementType type, std::vector<std::int64_t> dims,
                         std::vector<std::byte> bytes) {
    return {.type = type,
            .dims = std::move(dims),
            .bytes = SharedBytes::own(std::move(bytes)),
            .strings = {}};
  }
  void put(std::vector<std::byte>& to, std::int64_t first, std::int64_t index,
           std::int64_t value) const {
    to[static_cast<std::size_t>(first + index * bits / 8)] |=
        static_cast<std::byte>(value << (index * bits % 8));
  }
  template <class F> [[nodiscard]] TensorData by_block(ElementType type, const F& of) const {
    std::vector<double> all;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t b = 0; b < blocks(); ++b) all.push_back(of(j, b));
    const Known known = Known::reals(all, {n, blocks()}, type);
    return data(type, {n, blocks()}, {known.bytes().begin(), known.bytes().end()});
  }
};

class PackedProducts : public OnnxTest {
 protected:
  static GraphBuilder graph_of(const Packed& of, ElementType type = ElementType::f32) {
    GraphBuilder builder;
    builder.graph.inputs.push_back({.name = "a", .type = {}, .doc = {}});
    builder.constant("b", of.numbers()).constant("s", of.scales(type));
    std::vector<std::string> inputs{"a", "b", "s"};
    if (of.zeros != Zeros::none) {
      builder.constant("z", of.zero_points());
      inputs.emplace_back("z");
    }
    builder.node("MatMulNBits", inputs, {"y"}, of.attributes(), "com.microsoft").output("y");
    return builder;
  }
  static Tensor left(const Shape& shape, ElementType type = ElementType::f32) {
    std::vector<double> all;
    for (std::int64_t i = 0; i < shape.elements(); ++i)
      all.push_back(static_cast<double>((i * 13 + 5) % 32) / 8 - 2);
    return Known::reals(all, shape, type).tensor();
  }
  void expect(const Packed& of, const Shape& shape, ElementType type = ElementType::f32,
              double bound = 1e-5) {
    const Tensor a = left(shape, type);
    const Value y = graph_of(of, type).load(here()).run({{"a", a}}).get().at("y");
    EXPECT_EQ(y.type(), type);
    EXPECT_EQ(y.shape(), shape.with(shape.rank() - 1, of.n));
    const auto lefts = a.to_vector<double>();
    const auto got = y.tensor().to_vector<double>();
    for (std::size_t at = 0; at < got.size(); ++at) {
      const auto row = static_cast<std::int64_t>(at) / of.n,
                 j = static_cast<std::int64_t>(at) % of.n;
      double sum = 0, size = 0;
      for (std::int64_t t = 0; t < of.k; ++t) {
        const double one = lefts[static_cast<std::size_t>(row * of.k + t)] * of.weight(j, t);
        sum += one;
        size += std::abs(one);
      }
      ASSERT_NEAR(got[at], sum, bound * (1 + size)) << "at " << at;
    }
  }
};

TEST_F(PackedProducts, numbers_of_all_widths_with_zero_points_of_all_kinds) {
  for (const std::int64_t bits : {2, 4, 8})
    for (const Zeros zeros : {Zeros::none, Zeros::packed, Zeros::reals})
      for (const std::int64_t rows : {1, 3, 20}) {
        SCOPED_TRACE(std::to_string(bits) + " bits, " + std::to_string(rows) + " rows");
        expect({.k = 70, .n = 7, .bits = bits, .block = 16, .zeros = zeros}, {rows, 70});
      }
}

TEST_F(PackedProducts, left_sides_have_any_axes) {
  const Packed of{.k = 33, .n = 5, .bits = 4, .block = 32, .zeros = Zeros::packed};
  expect(of, {33});
  expect(of, {2, 3, 33});
  expect(of, {0, 33});
  expect({.k = 33, .n = 5, .bits = 4, .block = 32, .zeros = Zeros::reals}, {2, 3, 33});
}

TEST_F(PackedProducts, floats_of_16_bits) {
  const Packed of{.k = 96, .n = 6, .bits = 4, .block = 32, .zeros = Zeros::packed};
  expect(of, {2, 96}, ElementType::f16, 1e-3);
  expect(of, {20, 96}, ElementType::f16, 1e-3);
  expect(of, {2, 96}, ElementType::bf16, 1e-2);
}

TEST_F(PackedProducts, a_bias_is_added) {
  const Packed of{.k = 16, .n = 2, .bits = 4, .block = 16};
  GraphBuilder plain = graph_of(of), with_bias = graph_of(of);
  with_bias.constant("bias", reals({1, -2}));
  with_bias.graph.nodes[0].inputs = {"a", "b", "s", "", "", "bias"};
  const Tensor a = left({1, 16});
  const auto without = floats(plain.load(here()).run({{"a", a}}).get(), "y");
  EXPECT_EQ(floats(with_bias.load(here()).run({{"a", a}}).get(), "y"),
            (std::vector<float>{without[0] + 1, without[1] - 2}));
}

TEST_F(PackedProducts, weights_stay_packed_on_the_device) {
  const Packed of{.k = 512, .n = 256, .bits = 4, .block = 32, .zeros = Zeros::packed};
  const std::size_t in_file = of.numbers().bytes.view.size() +
                              of.scales(ElementType::f16).bytes.view.size() +
                              of.zero_points().bytes.view.size();
  const Model model = graph_of(of, ElementType::f16).load(here());
  const std::uint64_t before = device_.stats().memory.in_use;
  const auto given = [&](std::int64_t rows) {
    return NamedValues{{"a", left({rows, 512}, ElementType::f16)}};
  };
  for (const std::int64_t rows : {1, 40}) {
    const NamedValues out = model.run(given(rows)).get();
    EXPECT_EQ(out.at("y").tensor().to_vector<float>().size(), static_cast<std::size_t>(rows * 256));
  }
  EXPECT_EQ(model.stats().weight_bytes, in_file);
  std::uint64_t working = 0;
  for (const std::int64_t rows : {1, 40})
    working += model.plan(given(rows)).segments.at(0).working_bytes;
  EXPECT_EQ(model.stats().plan_bytes, working) << "plans hold constants of their own";
  // A thread of the device may hold what the last command used a moment longer.
  const std::uint64_t most = in_file + working + (64U << 10);  // inputs and outputs beside them
  while (device_.stats().memory.in_use - before > most) std::this_thread::yield();
}

TEST_F(PackedProducts, what_the_kernel_does_not_read_is_refused_at_load) {
  const Packed of{.k = 64, .n = 2, .bits = 4, .block = 16};
  const auto reason = [&](const GraphBuilder& builder) -> std::string {
    try {
      static_cast<void>(builder.load(here()));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      return error.what();
    }
    return "it was loaded";
  };
  const auto with = [&](const char* name, std::int64_t value) {
    GraphBuilder builder = graph_of(of);
    for (Attribute& one : builder.graph.nodes[0].attributes)
      if (one.name == name) one.value = value;
    return builder;
  };
  EXPECT_NE(reason(with("bits", 3)).find("bits are 3, not 2, 4 or 8"), std::string::npos);
  EXPECT_NE(reason(with("block_size", 24)).find("block_size is 24"), std::string::npos);
  EXPECT_NE(reason(with("N", 0)).find("K and N are not both 1 or more"), std::string::npos);
  GraphBuilder ordered = graph_of(of);
  ordered.constant("order", integers({0, 1}));
  ordered.graph.nodes[0].inputs = {"a", "b", "s", "", "order"};
  EXPECT_NE(reason(ordered).find("g_idx"), std::string::npos);
}

TEST_F(PackedProducts, operands_of_other_extents_are_refused) {
  const Packed of{.k = 64, .n = 2, .bits = 4, .block = 16};
  const auto code = [&](const GraphBuilder& builder, const Shape& shape) -> ErrorCode {
    try {
      static_cast<void>(builder.load(here()).run({{"a", left(shape)}}).get());
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode{};
  };
  EXPECT_EQ(code(graph_of(of), {1, 63}), ErrorCode::shape_mismatch);
  GraphBuilder fewer = graph_of(of);
  fewer.graph.initializers[0].tensor = Packed{.k = 48, .n = 2, .bits = 4, .block = 16}.numbers();
  EXPECT_EQ(code(fewer, {1, 64}), ErrorCode::shape_mismatch);
  GraphBuilder typed = graph_of(of);
  typed.graph.initializers[0].tensor = of.scales(ElementType::f32);
  EXPECT_EQ(code(typed, {1, 64}), ErrorCode::dtype_mismatch);
}

}  // namespace
}  // namespace stoker::onnx
