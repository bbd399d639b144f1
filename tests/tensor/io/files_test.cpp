// .npy, .npz and plain bytes: what is saved comes back, what NumPy saves is read, what is damaged is
// refused.
#include <sys/stat.h>

#include <bit>
#include <fstream>

#include "files_fixture.hpp"
#include "stoker/api/tensor/core/raw_io.hpp"
#include "stoker/api/tensor/io/npy.hpp"

namespace stoker {
namespace {

const std::array shapes{Shape{}, Shape{0}, Shape{7}, Shape{2, 0, 3}, Shape{2, 3, 4}};

std::vector<std::byte> npy(std::string_view dictionary, std::size_t data, int version = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  file += low_first(dictionary.size(), version == 1 ? 2 : 4);
  file += dictionary;
  return bytes_in(file + counting(data));
}

TEST_P(Files, npy_brings_back_every_dtype_and_shape) {
  for (std::size_t i = 0; i < dtype_count; ++i)
    for (const Shape& shape : shapes) {
      const Tensor x = sample(static_cast<DType>(i), shape);
      save_npy(path("x.npy"), x);
      expect_same(load_npy(path("x.npy")), x);
      expect_same(npy_from_bytes(npy_to_bytes(x)), x);
    }
}

TEST_P(Files, that_are_pipes_are_refused_at_once) {
  const auto pipe = path("pipe.npy");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { return load_npy(pipe); }).code(), ErrorCode::io_error);
}

TEST_P(Files, npy_saves_what_was_not_computed_yet) {
  save_npy(path("x.npy"), transpose(iota({2, 3}, DType::f32)) + 1);
  expect_values<float>(load_npy(path("x.npy")), {3, 2}, {1, 4, 2, 5, 3, 6});
}

TEST_P(Files, npy_is_read_in_versions_one_to_three) {
  for (const int version : {1, 2, 3})
    expect_values<int>(
        npy_from_bytes(
            npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }\n", 4, version)),
        {2, 2}, {0, 1, 2, 3});
  EXPECT_EQ(error_of([] { return npy_from_bytes(npy("{}", 0, 4)); }).code(),
            ErrorCode::unsupported);
}

TEST_P(Files, npy_in_fortran_order_is_turned) {
  const auto file = npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", 6);
  expect_values<int>(npy_from_bytes(file), {2, 3}, {0, 2, 4, 1, 3, 5});
  const auto deep = npy("{'descr':'|i1','fortran_order':True,'shape':(2,1,3),}", 6);
  expect_values<int>(npy_from_bytes(deep), {2, 1, 3}, {0, 2, 4, 1, 3, 5});
}

TEST_P(Files, npy_in_the_other_byte_order_is_swapped) {
  const auto file = npy("{'descr': '>u2', 'fortran_order': False, 'shape': (2,), }", 4);
  expect_values<int>(npy_from_bytes(file), {2}, {0x0001, 0x0203});
}

TEST_P(Files, npy_truths_are_zero_or_one) {
  const Tensor x =
      npy_from_bytes(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }", 4));
  EXPECT_EQ(x.dtype(), DType::boolean);
  EXPECT_EQ(x.to_bytes(), (std::vector{std::byte{0}, std::byte{1}, std::byte{1}, std::byte{1}}));
}

TEST_P(Files, npy_refuses_by_name_what_it_does_not_read) {
  const auto refusal = [](std::string_view descr) {
    return error_of([&] {
      return npy_from_bytes(npy(
          "{'descr': " + std::string{descr} + ", 'fortran_order': False, 'shape': (1,), }", 64));
    });
  };
  for (const char* const descr : {"'|O'", "'<U3'", "'<M8[ns]'", "'<c32'", "'<f16'", "'|V7'", "''",
                                  "[('a', '<f4'), ('b', '<i2')]"})
    EXPECT_EQ(refusal(descr).code(), ErrorCode::unsupported) << descr;
  EXPECT_NE(std::string{refusal("[('a', '<f4')]").what()}.find("structured"), std::string::npos);
  EXPECT_EQ(refusal("'<M8[ns]'").detail("dtype"), "<M8[ns]");
}

TEST_P(Files, npy_refuses_damaged_headers) {
  for (const char* const dictionary :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,2,3,4,5,6,7,8,9)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} and more",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}"}) {
    const Error error = error_of([&] { return npy_from_bytes(npy(dictionary, 8)); });
    EXPECT_TRUE(error.code() == ErrorCode::io_error || error.code() == ErrorCode::invalid_argument)
        << dictionary << ": " << error.what();
  }
}

TEST_P(Files, npy_refuses_a_header_of_gigabytes_before_reading_it) {
  std::string file = "\x93NUMPY";
  file += std::string{"\x02\x00\xff\xff\xff\x7f", 6};
  const Error error = error_of([&] { return npy_from_bytes(std::as_bytes(std::span{file})); });
  EXPECT_EQ(error.code(), ErrorCode::limit_exceeded);
}

TEST_P(Files, npy_says_what_is_missing) {
  EXPECT_EQ(error_of([&] { return load_npy(path("none.npy")); }).code(), ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { return load_npy(folder); }).code(), ErrorCode::io_error);
  save_npy(path("x.npy"), ones({100}));
  std::filesystem::resize_file(path("x.npy"), 300);
  EXPECT_EQ(error_of([&] { return load_npy(path("x.npy")); }).code(), ErrorCode::io_error);
  write_file(path("empty.npy"), "");
  EXPECT_EQ(error_of([&] { return load_npy(path("empty.npy")); }).code(), ErrorCode::io_error);
}

TEST_P(Files, saving_fails_as_a_whole) {
  const Error error = error_of([&] {
    save_npy(path("no/such/folder.npy"), ones({2}));
    return 0;
  });
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  save_npy(path("x.npy"), ones({2}));
  save_npy(path("x.npy"), zeros({3}));  // in the place of the old one, nothing beside it
  expect_values<float>(load_npy(path("x.npy")), {3}, {0, 0, 0});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder}, {}), 1);
}

TEST_P(Files, npz_brings_back_tensors_by_name) {
  for (const bool compressed : {false, true}) {
    std::map<std::string, Tensor> all{{"", ones({2})}, {"a/b", iota({300, 40}, DType::f32) * 2}};
    for (std::size_t i = 0; i < dtype_count; ++i)
      all.emplace("dtype " + std::to_string(i), sample(static_cast<DType>(i), {3, 5}));
    save_npz(path("x.npz"), all, {.compressed = compressed});
    const auto loaded = load_npz(path("x.npz"));
    ASSERT_EQ(loaded.size(), all.size());
    for (const auto& [name, tensor] : all) expect_same(loaded.at(name), tensor);
    EXPECT_EQ(npz_from_bytes(bytes_of(path("x.npz"))).size(), all.size());
  }
}

TEST_P(Files, npz_may_be_empty) {
  save_npz(path("x.npz"), {});
  EXPECT_TRUE(load_npz(path("x.npz")).empty());
}

TEST_P(Files, npz_refuses_what_is_none) {
  EXPECT_EQ(error_of([&] { return load_npz(path("none.npz")); }).code(), ErrorCode::not_found);
  write_file(path("x.npz"), "not an archive");
  EXPECT_EQ(error_of([&] { return load_npz(path("x.npz")); }).code(), ErrorCode::io_error);
  write_file(path("x.npz"), "");
  EXPECT_EQ(error_of([&] { return load_npz(path("x.npz")); }).code(), ErrorCode::io_error);
  EXPECT_EQ(error_of([&] { return npz_from_bytes({}); }).code(), ErrorCode::io_error);
  const Error error = error_of([&] {
    save_npz(path("y.npz"), {{"a", Tensor{}}});
    return 0;
  });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(path("y.npz")));
}

TEST_P(Files, npz_notices_a_changed_byte) {
  save_npz(path("x.npz"), {{"a", iota({64}, DType::s32)}});
  auto bytes = bytes_of(path("x.npz"));
  bytes[bytes.size() / 2] ^= std::byte{1};  // in the data
  EXPECT_EQ(error_of([&] { return npz_from_bytes(bytes); }).code(), ErrorCode::io_error);
}

TEST_P(Files, npz_refuses_entries_that_claim_more_than_the_archive_holds) {
  constexpr std::size_t claimed = 1'000'000'128;  // packed and unpacked
  const auto content = npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000,), }", 8);
  const std::string sizes = low_first(0, 4) + low_first(claimed, 4) + low_first(claimed, 4);
  const std::string about = low_first(20, 2) + low_first(0, 8) + sizes + low_first(5, 2);
  const std::string entry =
      "PK\3\4" + about + low_first(0, 2) + "x.npy" +
      std::string{reinterpret_cast<const char*>(content.data()), content.size()};
  const std::string directory =
      "PK\1\2" + low_first(20, 2) + about + std::string(16, '\0') + "x.npy";
  const std::string archive = entry + directory + "PK\5\6" + low_first(0, 4) + low_first(1, 2) +
                              low_first(1, 2) + low_first(directory.size(), 4) +
                              low_first(entry.size(), 4) + low_first(0, 2);
  write_file(path("x.npz"), archive);
  for (const Error& error : {error_of([&] { return npz_from_bytes(bytes_in(archive)); }),
                             error_of([&] { return load_npz(path("x.npz")); })}) {
    EXPECT_EQ(error.code(), ErrorCode::io_error);
    EXPECT_NE(error.reason().find("claims more bytes"), std::string_view::npos) << error.what();
  }
}

TEST_P(Files, raw_bytes_come_back) {
  const Tensor x = iota({4, 2}, DType::s16);
  save_raw(path("x"), x);
  expect_same(load_raw(path("x"), x.spec()), x);
  expect_values<int>(load_raw(path("x"), {DType::s16, Shape{3}}, 4), {3}, {2, 3, 4});
  for (const auto& [shape, offset] : {std::pair{Shape{7}, std::optional<std::uint64_t>{}},
                                      {Shape{9}, {}},
                                      {Shape{8}, 1},
                                      {Shape{0}, 17}}) {
    const TensorSpec spec{DType::s16, shape};
    EXPECT_EQ(error_of([&] { return load_raw(path("x"), spec, offset); }).code(),
              ErrorCode::invalid_argument)
        << spec.to_string();
  }
}

TEST_P(Files, bytes_become_one_axis_and_come_back_limited) {
  const Tensor x = from_bytes(iota({3}, DType::u32).to_bytes(), DType::u32);
  expect_values<unsigned>(x, {3}, {0, 1, 2});
  EXPECT_EQ(to_bytes(x, 2).size(), 8U);
  EXPECT_EQ(to_bytes(x, 99).size(), 12U);
  EXPECT_EQ(to_bytes(x, 0).size(), 0U);
  const std::vector<std::byte> odd(7);
  EXPECT_EQ(error_of([&] { return from_bytes(odd, DType::u32); }).code(),
            ErrorCode::invalid_argument);
}

TEST_P(Files, large_tensors_travel_in_pieces) {
  const Tensor x = iota({9'000'001}, DType::s32);  // two pieces of 16 MiB and a rest
  save_npy(path("x.npy"), x);
  const Tensor y = load_npy(path("x.npy"));
  EXPECT_EQ(sum(as_type(not_equal(x, y), DType::s32)).item<int>(), 0);
  EXPECT_EQ(y.to_vector<int>().back(), 9'000'000);
}

TEST_P(Files, numpy_reads_what_is_saved_and_saves_what_is_read) {
  const std::string python = python_with_numpy();
  if (python.empty()) GTEST_SKIP() << "no NumPy here: install python3-numpy";
  std::map<std::string, Tensor> all;
  for (std::size_t i = 0; i < dtype_count; ++i)
    if (static_cast<DType>(i) != DType::bf16)
      all.emplace("a" + std::to_string(i), sample(static_cast<DType>(i), {3, 2, 5}));
  all.emplace("scalar", sample(DType::f64, {}));
  all.emplace("none", sample(DType::s8, {0, 4}));
  save_npz(path("in.npz"), all, {.compressed = true});
  save_npy(path("in.npy"), all.at("a0"));
  write_file(path("turn.py"), R"(
import numpy as np, sys
folder = sys.argv[1]
arrays = np.load(folder + '/in.npz')
assert (np.load(folder + '/in.npy').view('u4') == arrays['a0'].view('u4')).all()
out = {}
for name in arrays.files:
    x = arrays[name]
    out[name] = x
    out[name + ' fortran'] = np.array(x, order='F')
    out[name + ' swapped'] = x.astype(x.dtype.newbyteorder('>'))
np.savez(folder + '/stored.npz', **out)
np.savez_compressed(folder + '/deflated.npz', **out)
for version in (1, 2, 3):
    with open(folder + '/v%d.npy' % version, 'wb') as f:
        np.lib.format.write_array(f, arrays['a0'], version=(version, 0))
np.save(folder + '/fields.npy', np.zeros(2, dtype=[('a', 'f4'), ('b', 'i2')]))
np.save(folder + '/objects.npy', np.array([None, {}], dtype=object), allow_pickle=True)
)");
  ASSERT_EQ(std::system((python + " " + path("turn.py").string() + " " + folder.string()).c_str()),
            0);
  for (const char* const archive : {"stored.npz", "deflated.npz"}) {
    const auto loaded = load_npz(path(archive));
    EXPECT_EQ(loaded.size(), 3 * all.size());
    for (const auto& [name, tensor] : all)
      for (const char* const kind : {"", " fortran", " swapped"})
        expect_same(loaded.at(name + kind), tensor);
  }
  for (const char* const file : {"v1.npy", "v2.npy", "v3.npy"})
    expect_same(load_npy(path(file)), all.at("a0"));
  for (const char* const file : {"fields.npy", "objects.npy"})
    EXPECT_EQ(error_of([&] { return load_npy(path(file)); }).code(), ErrorCode::unsupported);
}

TEST_P(Files, damaged_npy_is_an_error_or_a_tensor) {
  const Tensor x = iota({5, 7}, DType::f64);
  const auto file = npy_to_bytes(x);
  damage(file, 3000, [](std::span<const std::byte> bytes) {
    const Tensor read = npy_from_bytes(bytes);
    EXPECT_EQ(read.to_bytes().size(), read.bytes());
  });
}

TEST_P(Files, damaged_npz_is_an_error_or_tensors) {
  for (const bool compressed : {false, true}) {
    save_npz(path("x.npz"), {{"a", iota({5}, DType::s32)}, {"b", ones({3, 2})}},
             {.compressed = compressed});
    damage(bytes_of(path("x.npz")), 1500, [](std::span<const std::byte> bytes) {
      for (const auto& [name, read] : npz_from_bytes(bytes))
        EXPECT_EQ(read.to_bytes().size(), read.bytes());
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Files, every_device(), device_name);

}  // namespace
}  // namespace stoker
