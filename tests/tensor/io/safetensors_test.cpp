// safetensors files and what is serialized in them.
#include "stoker/api/tensor/io/safetensors.hpp"
#include "files_fixture.hpp"
#include "stoker/api/tensor/io/serialize.hpp"

namespace stoker {
namespace {

using Safetensors = Files;

std::vector<std::byte> file_of(std::string_view json, std::size_t data) {
  return bytes_in(low_first(json.size(), 8) + std::string{json} + counting(data));
}

TensorMap every_dtype() {
  TensorMap all{{"scalar", sample(DType::f64, {})}, {"none", sample(DType::s16, {0, 4})}};
  for (std::size_t i = 0; i < dtype_count; ++i)
    all.emplace("layer." + std::to_string(i) + ".weight", sample(static_cast<DType>(i), {3, 5}));
  return all;
}

TEST_P(Safetensors, bring_back_every_dtype_mapped_and_not) {
  const TensorMap all = every_dtype();
  save_safetensors(path("x.safetensors"), all, {{"format", "pt"}});
  for (const bool mapped : {true, false}) {
    const TensorMap loaded = load_safetensors(path("x.safetensors"), {.mapped = mapped});
    ASSERT_EQ(loaded.size(), all.size());
    for (const auto& [name, tensor] : all) expect_same(loaded.at(name), tensor);
  }
}

TEST_P(Safetensors, are_opened_by_their_header_alone) {
  save_safetensors(path("x.safetensors"), {{"b", ones({2, 3})}, {"a", iota({4}, DType::s64)}},
                   {{"by", "a test"}});
  const SafetensorsFile file = open_safetensors(path("x.safetensors"));
  EXPECT_EQ(file.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(file.spec("b").to_string(), "f32[2,3]");
  EXPECT_EQ(file.metadata(), (TensorMetadata{{"by", "a test"}}));
  EXPECT_TRUE(file.contains("a") && !file.contains("c"));
  std::filesystem::remove(path("x.safetensors"));  // what is open stays readable
  expect_values<int>(file.load("a"), {4}, {0, 1, 2, 3});
  EXPECT_EQ(file.bytes_of("a"), file.load("a").to_bytes());
  EXPECT_EQ(file.bytes_of("b"), ones({2, 3}).to_bytes());
  EXPECT_EQ(error_of([&] { return file.load("c"); }).code(), ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { return file.bytes_of("c"); }).code(), ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { return file.spec("c"); }).detail("name"), "c");
}

TEST_P(Safetensors, are_laid_out_as_the_format_says) {
  const auto bytes = safetensors_to_bytes({{"x", tensor<std::uint8_t>({1, 2})}});
  const std::string text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  EXPECT_TRUE(
      text.substr(8).starts_with(R"({"x":{"data_offsets":[0,2],"dtype":"U8","shape":[2]}} )"));
  EXPECT_EQ(bytes.size() % 64, 2U);
  EXPECT_TRUE(text.ends_with("\x01\x02"));
}

TEST_P(Safetensors, are_read_as_others_write_them) {
  const auto bytes =
      file_of(R"( {"__metadata__":{"a":"b"},"y":{"dtype":"BOOL","shape":[2],"data_offsets":[2,4]},)"
              R"("x":{"shape":[],"dtype":"I16","data_offsets":[0,2]}}   )",
              4);
  const SafetensorsFile file = open_safetensors(bytes);
  EXPECT_EQ(file.load("x").item<int>(), 0x0100);
  EXPECT_EQ(file.load("y").to_bytes(), (std::vector{std::byte{1}, std::byte{1}}));
}

TEST_P(Safetensors, may_be_empty) {
  save_safetensors(path("x.safetensors"), {});
  EXPECT_EQ(open_safetensors(path("x.safetensors")).size(), 0U);
}

TEST_P(Safetensors, with_damaged_headers_are_refused) {
  const auto entry = [](const char* body) { return std::string{"{\"x\":"} + body + "}"; };
  for (const std::string& json :
       {std::string{""},
        std::string{"[]"},
        std::string{"{"},
        std::string{"{}{}"},
        std::string{"{}"},
        entry("1"),
        entry("{}"),
        entry(R"({"dtype":"F32","shape":[2]})"),
        entry(R"({"dtype":4,"shape":[2],"data_offsets":[0,8]})"),
        entry(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"),
        entry(R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})"),
        entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,9]})"),
        entry(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"),
        entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})"),
        entry(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})"),
        entry(R"({"dtype":"F64","shape":[2305843009213693953],"data_offsets":[0,8]})"),
        entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1})"),
        entry(R"({"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]})"),
        entry(R"({"dtype":"F32","shape":[[2]],"data_offsets":[0,8]})"),
        std::string{R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                    R"("y":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"},
        std::string{R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                    R"("x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})"},
        std::string{R"({"__metadata__":{"a":1}})"},
        std::string(100'000, '[')}) {
    const auto bytes = file_of(json, 8);
    EXPECT_EQ(error_of([&] { return open_safetensors(bytes); }).code(), ErrorCode::io_error)
        << json.substr(0, 200);
  }
  const auto bytes = file_of(entry(R"({"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]})"), 8);
  const Error error = error_of([&] { return open_safetensors(bytes); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_EQ(error.detail("dtype"), "F8_E4M3");
}

TEST_P(Safetensors, that_claim_too_much_are_refused_before_anything_is_allocated) {
  const auto refusal = [](std::vector<std::byte> bytes) {
    return error_of([&] { return open_safetensors(bytes); }).code();
  };
  EXPECT_EQ(refusal({}), ErrorCode::io_error);
  EXPECT_EQ(refusal(std::vector<std::byte>(7)), ErrorCode::io_error);
  EXPECT_EQ(refusal(std::vector<std::byte>(8, std::byte{0xff})), ErrorCode::io_error);
  std::vector<std::byte> long_header(8);
  long_header[2] = std::byte{1};
  EXPECT_EQ(refusal(long_header), ErrorCode::io_error);
  EXPECT_EQ(error_of([&] { return open_safetensors(path("none")); }).code(), ErrorCode::not_found);
  write_file(path("empty"), "");
  EXPECT_EQ(error_of([&] { return open_safetensors(path("empty")); }).code(), ErrorCode::io_error);
}

TEST_P(Safetensors, refuse_names_that_they_cannot_hold) {
  for (const char* const name : {"__metadata__", "\xff"}) {
    const Error error = error_of([&] { return safetensors_to_bytes({{name, ones({1})}}); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(error_of([&] {
              return safetensors_to_bytes({{"x", Tensor{}}});
            }).code(),
            ErrorCode::invalid_argument);
}

TEST_P(Safetensors, of_many_large_tensors_come_back) {
  TensorMap all;
  for (int i = 0; i < 5; ++i)
    all.emplace("w" + std::to_string(i), iota({5'000'000}, DType::s32) + i);
  save_safetensors(path("x.safetensors"), all);
  const TensorMap loaded = load_safetensors(path("x.safetensors"));
  for (const auto& [name, tensor] : all)
    EXPECT_EQ(sum(as_type(not_equal(loaded.at(name), tensor), DType::s32)).item<int>(), 0) << name;
}

TEST_P(Safetensors, damaged_anywhere_are_an_error_or_tensors) {
  const auto file = safetensors_to_bytes(
      {{"a", iota({3, 2}, DType::s16)}, {"b", sample(DType::boolean, {5})}}, {{"k", "v"}});
  damage(file, 4000, [](std::span<const std::byte> bytes) {
    const SafetensorsFile read = open_safetensors(bytes);
    for (const auto& [name, tensor] : read.load_all())
      EXPECT_EQ(tensor.to_bytes().size(), tensor.bytes());
  });
}

// --- structures ----------------------------------------------------------------------------------

struct Layer {
  Tensor weight;
  std::vector<Tensor> biases;
};
template <class V> void visit_tensors(Layer& layer, V&& visitor) {
  visitor(layer.weight);
  visitor(layer.biases);
}

using Model =
    std::tuple<std::map<std::string, Layer, std::less<>>, std::map<int, Tensor>,
               std::pair<Tensor, std::array<Tensor, 2>>, std::vector<std::vector<Tensor>>>;

Model model() {
  return {{{"out", {sample(DType::f32, {2, 2}), {}}},
           {"in", {sample(DType::bf16, {3}), {ones({1}), zeros({2})}}}},
          {{10, sample(DType::u64, {2})}, {9, sample(DType::boolean, {4})}, {-1, tensor(5)}},
          {sample(DType::f64, {}), {sample(DType::s8, {0, 2}), ones({3})}},
          {{}, {ones({2}), zeros({1})}, {tensor(1)}}};
}

TEST_P(Safetensors, hold_structures_of_any_form) {
  const Model before = model();
  const auto after = deserialize<Model>(serialize(before));
  const auto want = detail::tensors_of(before);
  const auto got = detail::tensors_of(after);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) expect_same(got[i], want[i]);
  EXPECT_EQ(std::get<0>(after).at("in").biases.size(), 2U);
  EXPECT_EQ(std::get<1>(after).at(-1).item<int>(), 5);
  EXPECT_EQ(std::get<3>(after).size(), 3U);
  EXPECT_EQ(serialize(after), serialize(before));
}

TEST_P(Safetensors, hold_more_than_ten_parts_in_their_order) {
  std::vector<Tensor> many;
  for (int i = 0; i < 25; ++i) many.push_back(tensor(i));
  const auto back = deserialize<std::vector<Tensor>>(serialize(many));
  for (int i = 0; i < 25; ++i) EXPECT_EQ(back.at(static_cast<std::size_t>(i)).item<int>(), i);
  EXPECT_EQ(deserialize<Tensor>(serialize(tensor(7))).item<int>(), 7);
}

TEST_P(Safetensors, refuse_to_be_another_structure) {
  const auto two = serialize(std::pair{ones({1}), zeros({1})});
  EXPECT_EQ(error_of([&] { return deserialize<Tensor>(two); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] {
              return std::get<0>(deserialize<std::tuple<Tensor, Tensor, Tensor>>(two));
            }).code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ((error_of([&] { return deserialize<std::map<int, Tensor>>(two); }).code()),
            ErrorCode::invalid_argument);
  const auto named = serialize(std::map<std::string, Tensor>{{"a", ones({1})}});
  EXPECT_EQ((error_of([&] { return deserialize<std::map<int, Tensor>>(named); }).code()),
            ErrorCode::invalid_argument);
  const auto plain = safetensors_to_bytes({{"a", ones({1})}});
  EXPECT_EQ(error_of([&] { return deserialize<Tensor>(plain); }).code(), ErrorCode::io_error);
  EXPECT_EQ(error_of([&] { return serialize(std::vector{Tensor{}}); }).code(),
            ErrorCode::invalid_argument);
}

TEST_P(Safetensors, with_damaged_structures_are_an_error_or_a_structure) {
  using Small = std::pair<std::map<std::string, Tensor>, std::vector<Tensor>>;
  const auto file = serialize(Small{{{"a", ones({2})}, {"b", ones({1})}}, {zeros({1})}});
  damage(file, 3000, [](std::span<const std::byte> bytes) {
    for (const Tensor& tensor : detail::tensors_of(deserialize<Small>(bytes)))
      EXPECT_EQ(tensor.to_bytes().size(), tensor.bytes());
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, Safetensors, every_device(), device_name);

}  // namespace
}  // namespace stoker
