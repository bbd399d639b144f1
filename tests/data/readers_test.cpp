// Rows from files: CSV, IDX, NumPy's formats, folders of pictures. The files are written here.
#include <zlib.h>

#include <complex>
#include <filesystem>
#include <fstream>
#include <limits>

#include "stoker/api/data/csv.hpp"
#include "stoker/api/data/idx.hpp"
#include "stoker/api/data/image_folder.hpp"
#include "stoker/api/data/loader.hpp"
#include "stoker/api/data/npy_rows.hpp"
#include "stoker/api/tensor/io/npy.hpp"
#include "stoker/pipeline/image/image_io.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

class Readers : public Tensors {
 protected:
  Readers() {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::path{testing::TempDir()} / ("readers_"s + test->name());
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  ~Readers() override { fs::remove_all(folder); }

  fs::path written(const std::string& name, const std::string& text) const {
    fs::create_directories((folder / name).parent_path());
    std::ofstream{folder / name, std::ios::binary} << text;
    return folder / name;
  }
  fs::path packed(const std::string& name, const std::string& text) const {
    gzFile file = ::gzopen((folder / name).c_str(), "wb");
    ::gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    ::gzclose(file);
    return folder / name;
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  Error csv_error(const std::string& text, const CsvOptions& options = {}) const {
    return error_of([&] { return load_csv(written("bad.csv", text), options); });
  }

  fs::path folder;
};

TEST_F(Readers, csv_takes_targets_by_name_and_all_others_as_inputs) {
  const CsvData table =
      load_csv(written("t.csv", "a,price,b\n1,10,2.5\n-3e1, 20 ,+4\n"), {.targets = {"price"}});
  EXPECT_EQ(table.input_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.target_names, (std::vector<std::string>{"price"}));
  const Batch all = whole_batch(table.data);
  expect_values<float>(all.inputs[0], {2, 2}, {1, 2.5, -30, 4});
  expect_values<float>(all.targets[0], {2, 1}, {10, 20});
}

TEST_F(Readers, csv_takes_columns_by_place_from_either_end) {
  const CsvData table =
      load_csv(written("t.csv", "150,2,setosa\n1;2;7\n3;4;8"), {.header = false,
                                                                .delimiter = ';',
                                                                .skip_lines = 1,
                                                                .targets = {-1},
                                                                .inputs = {1, 0},
                                                                .target_dtype = DType::s32,
                                                                .scalar_targets = true});
  const Batch all = whole_batch(table.data);
  expect_values<float>(all.inputs[0], {2, 2}, {2, 1, 4, 3});
  expect_values<std::int32_t>(all.targets[0], {2}, {7, 8});
  EXPECT_EQ(table.input_names, (std::vector<std::string>{"1", "0"}));
}

TEST_F(Readers, csv_gives_rows_the_shape_and_the_scale_that_they_shall_have) {
  const CsvData table = load_csv(written("t.csv", "a,b,c,d,y\n1,2,3,4,7\n-1,0,8,16,9\n"),
                                 {.targets = {"y"}, .shape = {2, 2, 1}, .scale = 1 / 16.0});
  EXPECT_EQ(table.data.specs().inputs[0], (TensorSpec{DType::f32, {2, 2, 1}}));
  const Batch all = whole_batch(table.data);
  expect_values<float>(all.inputs[0], {2, 2, 2, 1},
                       {0.0625, 0.125, 0.1875, 0.25, -0.0625, 0, 0.5, 1});
  expect_values<float>(all.targets[0], {2, 1}, {7, 9});
  EXPECT_EQ(table.input_names, (std::vector<std::string>{"a", "b", "c", "d"}));
}

TEST_F(Readers, csv_without_targets_has_inputs_only) {
  const CsvData table = load_csv(written("t.csv", "x\n1\n2\n"));
  EXPECT_TRUE(table.data.specs().targets.empty());
  EXPECT_EQ(table.data.size(), 2);
}

TEST_F(Readers, csv_reads_quotes_line_ends_and_a_byte_order_mark_as_rfc_4180_says) {
  const std::string text =
      "\xef\xbb\xbf\"a,\"\"b\"\"\",\"line\r\nbreak\"\r\n\"1\",2\r\n\r\n3,\"4\"\r\n";
  const CsvData table = load_csv(written("t.csv", text));
  EXPECT_EQ(table.input_names, (std::vector<std::string>{"a,\"b\"", "line\r\nbreak"}));
  expect_values<float>(whole_batch(table.data).inputs[0], {2, 2}, {1, 2, 3, 4});
}

TEST_F(Readers, csv_names_line_and_column_of_what_is_no_number) {
  const Error error = csv_error("a,b\n1,2\n\n3,four\n");
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  const std::string file{error.detail("file")};
  EXPECT_TRUE(file.ends_with(".csv")) << file;
  EXPECT_EQ(error.reason(), "\"four\" is no f32 in line 4 of " + file + ", column 1 (b)");
  EXPECT_EQ(error.detail("file_line"), "4");
  EXPECT_EQ(error.detail("column"), "1") << "counted as in the options";
  EXPECT_EQ(error.detail("name"), "b");
  const Error nan = csv_error("a,b\n1,2\n3,nan\n", {.finite = true});
  EXPECT_EQ(nan.reason(), "NaN in line 3 of " + file + ", column 1 (b)");
  EXPECT_EQ(csv_error("a\n1e999\n").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(csv_error("a\n0x10\n").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(csv_error("a\n++1\n").code(), ErrorCode::invalid_argument);
}

TEST_F(Readers, csv_keeps_integers_exact_and_refuses_what_a_dtype_cannot_hold) {
  const auto column = [&](const std::string& value, DType dtype) {
    return load_csv(written("t.csv", "a\n" + value + "\n"), {.input_dtype = dtype}).data;
  };
  const Tensor large = whole_batch(column("9007199254740993", DType::s64)).inputs[0];  // 2^53 + 1
  expect_values<std::int64_t>(large, {1, 1}, {9007199254740993});
  expect_values<std::int32_t>(whole_batch(column("1.2e1", DType::s32)).inputs[0], {1, 1}, {12});
  expect_values<float>(whole_batch(column("0.5", DType::f16)).inputs[0], {1, 1}, {0.5});
  for (const auto& [value, dtype] :
       std::vector<std::pair<std::string, DType>>{{"3.5", DType::s32},
                                                  {"256", DType::u8},
                                                  {"-1", DType::u8},
                                                  {"2", DType::boolean},
                                                  {"nan", DType::s32},
                                                  {"1e20", DType::s64}})
    EXPECT_EQ(code_of([&] { return column(value, dtype); }), ErrorCode::invalid_argument) << value;
}

TEST_F(Readers, csv_refuses_missing_values_unless_they_shall_be_nan) {
  EXPECT_EQ(csv_error("a,b\n1,\n").reason(),
            "a missing value in line 2 of " + (folder / "bad.csv").string() + ", column 1 (b)");
  const CsvData table =
      load_csv(written("t.csv", "a,b\n1,\n , 2\n"), {.missing = MissingValue::nan});
  const auto values = whole_batch(table.data).inputs[0].to_vector<float>();
  EXPECT_EQ(values[0], 1);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_EQ(
      csv_error("a\n\" \"\n", {.input_dtype = DType::s32, .missing = MissingValue::nan}).code(),
      ErrorCode::invalid_argument)
      << "integers have no NaN";
}

TEST_F(Readers, csv_refuses_tables_of_another_form) {
  EXPECT_EQ(csv_error("a,b\n1,2\n3\n").reason(),
            "expected 2 columns in line 3 of " + (folder / "bad.csv").string() + ", got 1");
  EXPECT_EQ(csv_error("a,b\n").reason(),
            "the table " + (folder / "bad.csv").string() + " has no rows");
  EXPECT_EQ(csv_error("").reason(), "the table " + (folder / "bad.csv").string() + " has no rows");
  EXPECT_EQ(csv_error("a\n\"1\n").reason(), "the file ends within a quoted field in line 3 of " +
                                                (folder / "bad.csv").string() + ", column 0");
  EXPECT_EQ(csv_error("a\n\"1\"2\n").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(csv_error("a\n1\"2\n").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(csv_error("a\n1\r2\n").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(csv_error("a\n1\n", {.targets = {"b"}}).code(), ErrorCode::not_found);
  EXPECT_EQ(csv_error("a\n1\n", {.targets = {1}}).code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(csv_error("a\n1\n", {.scalar_targets = true}).code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(
      csv_error("1\n", {.header = false, .targets = {"a"}}).reason(),
      "there is no column \"a\" in " + (folder / "bad.csv").string() + ": there is no header");
  EXPECT_EQ(code_of([&] { return load_csv(folder / "none.csv"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { return load_csv(folder); }), ErrorCode::io_error);
}

TEST_F(Readers, csv_packed_by_gzip_is_unpacked_and_refused_when_torn) {
  std::string text = "x\n";
  double expected = 0;
  for (int i = 0; i < 50'000; ++i) {  // beyond the pieces in which it is read
    text += std::to_string(i % 977) + "\n";
    expected += i % 977;
  }
  const fs::path whole = packed("t.csv.gz", text);
  const Dataset data = load_csv(whole, {.input_dtype = DType::s32}).data;
  double total = 0;
  for (const int value : whole_batch(data).inputs[0].to_vector<int>()) total += value;
  EXPECT_EQ(total, expected);
  const std::string bytes = text_of(whole);
  const Error torn =
      error_of([&] { return load_csv(written("torn.csv.gz", bytes.substr(0, bytes.size() / 2))); });
  EXPECT_EQ(torn.code(), ErrorCode::io_error);
  EXPECT_EQ(torn.reason(), "the file is torn");
}

// An IDX header: type, then extents.
std::string idx(char type, const std::vector<int>& extents) {
  std::string text{'\0', '\0', type, static_cast<char>(extents.size())};
  for (const int extent : extents)
    for (const int shift : {24, 16, 8, 0}) text += static_cast<char>((extent >> shift) & 255);
  return text;
}

TEST_F(Readers, idx_images_and_labels_make_a_dataset) {
  const fs::path images = written("images", idx(8, {2, 2, 3}) +
                                                "\x01\x02\x03\x04\x05\x06\x07\x08"
                                                "\x09\x0a\x0b\xff"s);
  const fs::path labels = packed("labels.gz", idx(8, {2}) + "\x05\x00"s);
  const Dataset data = idx_dataset(images, labels);
  EXPECT_EQ(data.specs().inputs[0], (TensorSpec{DType::u8, {2, 3}}));
  const std::vector<std::int64_t> second{1};
  const Batch batch = to_batch(data.rows(second));
  expect_values<std::uint8_t>(batch.inputs[0], {1, 2, 3}, {7, 8, 9, 10, 11, 255});
  expect_values<std::uint8_t>(batch.targets[0], {1}, {0});
}

TEST_F(Readers, scaled_integers_become_f32_and_reshaped_ones_stay) {
  const fs::path pixels = written("pixels", idx(8, {2, 2, 2}) + "\x01\x02\x03\x04\xff\x06\x07\x08");
  const fs::path labels = written("labels", idx(8, {2}) + "\x05\x06");
  const Batch flat = whole_batch(idx_dataset(pixels, labels, {.shape = 4}));
  expect_values<std::uint8_t>(flat.inputs[0], {2, 4}, {1, 2, 3, 4, 255, 6, 7, 8});
  const Batch halves = whole_batch(idx_dataset(pixels, labels, {.scale = 0.5}));
  expect_values<float>(halves.inputs[0], {2, 2, 2}, {0.5, 1, 1.5, 2, 127.5, 3, 3.5, 4});
  expect_values<std::uint8_t>(halves.targets[0], {2}, {5, 6});
}

TEST_F(Readers, rows_have_at_least_one_extent) {
  const Dataset ones_of_one{zeros({2, 1}), zeros({2})};
  const std::vector<std::int64_t> none;
  const Error refused = error_of([&] { return with_row_options(ones_of_one, {.shape = none}); });
  EXPECT_EQ(refused.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(refused.reason(), "a row's shape has at least one extent, got none");
  EXPECT_EQ(refused.detail("parameter"), "shape");
  EXPECT_EQ(csv_error("a,b\n1,2\n", {.shape = none}).code(), ErrorCode::invalid_parameter);
  const Dataset as_read = with_row_options(ones_of_one, {.shape = {}});
  EXPECT_EQ(as_read.specs().inputs.at(0).shape, (Shape{1}));
}

TEST_F(Readers, shapes_and_scales_that_cannot_be_are_refused) {
  const std::string text = "a,b,c\n1,2,3\n";
  const Error shape = csv_error(text, {.shape = {2, 2}});
  EXPECT_EQ(shape.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(shape.reason(), "rows of [3] do not fill [2,2]");
  EXPECT_EQ(csv_error(text, {.shape = {-3}}).code(), ErrorCode::invalid_argument);
  const Error scale = csv_error(text, {.scale = std::numeric_limits<double>::infinity()});
  EXPECT_EQ(scale.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(scale.reason(), "scale: expected a finite number, got inf");
  const Dataset two{{zeros({2, 3}), zeros({2, 3})}, {zeros({2})}};
  const Error which = error_of([&] { return with_row_options(two, {.shape = 3}); });
  EXPECT_EQ(which.code(), ErrorCode::arity_mismatch);
  EXPECT_EQ(which.reason(), "a shape is for one input, the rows have 2");
  const Dataset complex{tensor({std::complex<float>{1, 2}}), tensor({1})};
  EXPECT_EQ(error_of([&] { return with_row_options(complex, {.scale = 2}); }).reason(),
            "scale: expected real inputs, got rows of c64[]");
}

TEST_F(Readers, idx_reads_every_type_big_endian) {
  expect_values<std::int8_t>(load_idx(written("s8", idx(9, {2}) + "\xff\x02"s)), {2}, {-1, 2});
  expect_values<std::int16_t>(load_idx(written("s16", idx(0xB, {2}) + "\x01\x02\xff\xfe"s)), {2},
                              {258, -2});
  expect_values<std::int32_t>(load_idx(written("s32", idx(0xC, {1}) + "\x00\x01\x00\x02"s)), {1},
                              {65538});
  expect_values<float>(load_idx(written("f32", idx(0xD, {1}) + "\xc0\x20\x00\x00"s)), {1}, {-2.5});
  expect_values<double>(load_idx(written("f64", idx(0xE, {1}) + "\x3f\xf8\0\0\0\0\0\0"s)), {1},
                        {1.5});
}

TEST_F(Readers, idx_refuses_torn_and_foreign_files) {
  const auto error = [&](const std::string& text) {
    return error_of([&] { return read_idx(written("bad", text)); });
  };
  EXPECT_EQ(error(idx(8, {3}) + "ab").reason(), "the file is torn: it ends before its array does");
  EXPECT_EQ(error(idx(8, {2000000000, 1000})).code(), ErrorCode::io_error) << "a claim of 2 TB";
  EXPECT_EQ(error(idx(8, {2}).substr(0, 6)).code(), ErrorCode::io_error);
  EXPECT_EQ(error("").code(), ErrorCode::io_error);
  EXPECT_EQ(error(idx(8, {1}) + "ab").reason(), "there are bytes behind the array");
  EXPECT_EQ(error(idx(0xA, {1}) + "a").code(), ErrorCode::io_error);
  EXPECT_EQ(error("\x89PNG").code(), ErrorCode::io_error);
  EXPECT_EQ(code_of([&] { return read_idx(folder / "none"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] {
              return idx_dataset(written("x", idx(8, {2}) + "ab"), written("y", idx(8, {1}) + "a"));
            }),
            ErrorCode::shape_mismatch);
}

TEST_F(Readers, npy_rows_are_read_from_their_files) {
  save_npy(folder / "x.npy", reshape(iota(Shape{12}, DType::f64), {4, 3}));
  save_npy(folder / "y.npy", tensor({true, false, true, true}));
  const Dataset data = npy_dataset({folder / "x.npy"}, {folder / "y.npy"});
  EXPECT_EQ(data.size(), 4);
  const std::vector<std::int64_t> indices{3, 1};
  const Batch batch = to_batch(data.rows(indices));
  expect_values<double>(batch.inputs[0], {2, 3}, {9, 10, 11, 3, 4, 5});
  expect_values<std::uint8_t>(batch.targets[0], {2}, {1, 0});
}

// Version 1.0 with a header as NumPy writes it.
std::string npy(std::string header, const std::string& bytes) {
  header.resize(117, ' ');
  return "\x93NUMPY\x01\x00"s + static_cast<char>(118) + '\0' + header + "\n" + bytes;
}

TEST_F(Readers, npy_of_the_other_byte_order_is_turned_and_fortran_order_refused) {
  const fs::path big = written(
      "big.npy", npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2, 1), }", "\0\1\1\0"s));
  const std::vector<std::int64_t> both{0, 1};
  expect_values<std::int16_t>(to_batch(npy_dataset({big}, {}).rows(both)).inputs[0], {2, 1},
                              {1, 256});
  const fs::path fortran = written(
      "f.npy", npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 1), }", "\0\1\1\0"s));
  EXPECT_EQ(code_of([&] { return npy_dataset({fortran}, {}); }), ErrorCode::unsupported);
}

TEST_F(Readers, npy_files_that_do_not_fit_are_refused) {
  save_npy(folder / "x.npy", zeros(Shape{4, 3}));
  save_npy(folder / "y.npy", zeros(Shape{3}));
  save_npy(folder / "scalar.npy", tensor(1.0));
  const Error rows = error_of([&] { return npy_dataset({folder / "x.npy"}, {folder / "y.npy"}); });
  EXPECT_EQ(rows.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(rows.reason(), "the file has 3 rows, the first input has 4");
  EXPECT_EQ(code_of([&] { return npy_dataset({folder / "scalar.npy"}, {}); }),
            ErrorCode::shape_mismatch);
  const std::string bytes = text_of(folder / "x.npy");
  EXPECT_EQ(code_of([&] {
              return npy_dataset({written("torn.npy", bytes.substr(0, bytes.size() - 1))}, {});
            }),
            ErrorCode::io_error);
  EXPECT_EQ(code_of([&] { return npy_dataset({folder / "none.npy"}, {}); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { return npy_dataset({}, {}); }), ErrorCode::invalid_argument);
}

TEST_F(Readers, npz_gives_arrays_by_name) {
  save_npz(folder / "d.npz", {{"x", tensor({{1.0}, {2.0}})}, {"y", tensor({5, 6})}});
  const Dataset data = npz_dataset(folder / "d.npz", {"x"}, {"y"});
  expect_values<std::int32_t>(whole_batch(data).targets[0], {2}, {5, 6});
  EXPECT_EQ(code_of([&] { return npz_dataset(folder / "d.npz", {"x"}, {"z"}); }),
            ErrorCode::not_found);
}

class Pictures : public Readers {
 protected:
  void save(const std::string& name, int width, int first) const {
    const fs::path path = folder / name;
    fs::create_directories(path.parent_path());
    std::vector<std::byte> pixels;
    for (int i = 0; i < width; ++i) pixels.push_back(static_cast<std::byte>(first + i));
    ASSERT_TRUE(save_image(path, {DType::u8, {1, width, 1}}, pixels).has_value());
  }
};

TEST_F(Pictures, folders_are_classes_and_files_are_rows_in_order) {
  save("rose/b.png", 2, 30);
  save("rose/a.png", 2, 20);
  save("daisy/z.png", 2, 10);
  written("daisy/notes.txt", "no picture");
  written("readme.txt", "no folder");
  const ImageFolder flowers = image_folder(folder);
  EXPECT_EQ(flowers.classes, (std::vector<std::string>{"daisy", "rose"}));
  EXPECT_EQ(flowers.files[1].filename(), "a.png");
  const Batch all = whole_batch(flowers.data);
  expect_values<std::uint8_t>(all.inputs[0], {3, 1, 2, 1}, {10, 11, 20, 21, 30, 31});
  expect_values<std::int32_t>(all.targets[0], {3}, {0, 1, 1});
}

TEST_F(Pictures, a_picture_of_another_size_is_named_when_its_row_is_read) {
  save("a/1.png", 2, 0);
  save("a/2.png", 3, 0);
  const ImageFolder both = image_folder(folder);
  const std::vector<std::int64_t> first{0};
  static_cast<void>(both.data.rows(first));
  const Error error = error_of([&] { return whole_batch(both.data); });
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(error.detail("file"), (folder / "a" / "2.png").string());
  EXPECT_EQ(error.reason(), "expected pictures of u8[1,2,1], as the first one, got u8[1,3,1]");
}

TEST_F(Pictures, damaged_and_missing_ones_are_named) {
  save("a/1.png", 2, 0);
  const std::string bytes = text_of(folder / "a" / "1.png");
  const fs::path torn = written("a/2.png", bytes.substr(0, bytes.size() / 2));
  const ImageFolder both = image_folder(folder);
  const Error error = error_of([&] { return whole_batch(both.data); });
  EXPECT_EQ(error.code(), ErrorCode::io_error);
  EXPECT_EQ(error.detail("file"), torn.string());
  EXPECT_EQ(code_of([&] { return image_folder(folder / "none"); }), ErrorCode::not_found);
  fs::create_directories(folder / "empty" / "class");
  EXPECT_EQ(code_of([&] { return image_folder(folder / "empty"); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stoker::nn
