// What kind of model a file holds.
#include "stoker/api/model/core/model_kind.hpp"

#include "stoker/tests/model/model_folder.hpp"

namespace stoker {
namespace {

using namespace std::string_view_literals;

class ModelKinds : public testing::Test {
 protected:
  void expect_looks(std::string_view content, const std::string& looks,
                    const std::string& name = "file.bin") const {
    const auto path = folder.write(name, content);
    const Error why = refusal_of([&] { static_cast<void>(kind_of_model(path)); });
    EXPECT_EQ(why.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string{why.reason()}.find(looks), std::string::npos) << why.what();
    EXPECT_EQ(why.detail("path"), path.string());
  }
  ModelFolder folder;
};

TEST_F(ModelKinds, are_found_by_content_whatever_the_name) {
  const System system;
  EXPECT_EQ(kind_of_model(folder.write_onnx("a.lua")), ModelKind::onnx);
  EXPECT_EQ(kind_of_model(folder.save_line("b.onnx", system.device("cpu"))), ModelKind::network);
}

TEST_F(ModelKinds, of_onnx_files_need_no_order_of_fields) {
  const std::string graph_first =
      onnx::Message{}
          .message(7, onnx::graph(onnx::node("Abs", {"x"}, {"y"}), {"x"}, {"y"}))
          .integer(1, 8)
          .bytes();
  EXPECT_EQ(kind_of_model(folder.write("a", graph_first)), ModelKind::onnx);
  // Longer than what is looked at.
  const std::string long_doc =
      onnx::Message{}.text(6, std::string(10'000, 'd')).integer(1, 8).bytes();
  EXPECT_EQ(kind_of_model(folder.write("b.onnx", long_doc)), ModelKind::onnx);
  const std::string long_graph =
      onnx::Message{}.integer(1, 8).text(7, std::string(10'000, 'g')).bytes();
  EXPECT_EQ(kind_of_model(folder.write("c", long_graph)), ModelKind::onnx);
}

TEST_F(ModelKinds, of_scripts_and_of_damaged_files_are_those_of_their_names) {
  EXPECT_EQ(kind_of_model(folder.write("a.lua", "return {}")), ModelKind::script);
  EXPECT_EQ(kind_of_model(folder.write("a.LUA", "return {}")), ModelKind::script);
  EXPECT_EQ(kind_of_model(folder.write("a.onnx", "\xff\xff\xff\xff")), ModelKind::onnx);
  EXPECT_EQ(kind_of_model(folder.write("a.safetensors", "\xff\xff\xff\xff")), ModelKind::network);
}

TEST_F(ModelKinds, that_are_unknown_say_what_they_look_like) {
  expect_looks("", "an empty file");
  expect_looks("PK\3\4rest"sv, "a ZIP archive");
  expect_looks("\x89HDF\r\n\x1a\nrest"sv, "an HDF5 file");
  expect_looks("GGUF\3\0\0\0"sv, "a GGUF file");
  expect_looks("\x1c\0\0\0TFL3"sv, "a TensorFlow Lite model");
  expect_looks("\x89PNG\r\n\x1a\n"sv, "a PNG picture", "picture.onnx");
  expect_looks("a,b\n1,2\n", "text that begins 'a,b\\n1,2\\n'");
  expect_looks("\1\2\3\4", "bytes that begin '\\x01\\x02\\x03\\x04'");
  expect_looks("\1\2", "bytes that begin '\\x01\\x02'", "binary.lua");
}

TEST_F(ModelKinds, of_what_is_no_file_are_refused) {
  EXPECT_EQ(
      refusal_of([&] { static_cast<void>(kind_of_model(folder.path / "absent.onnx")); }).code(),
      ErrorCode::not_found);
  EXPECT_EQ(refusal_of([&] { static_cast<void>(kind_of_model(folder.path)); }).code(),
            ErrorCode::io_error);
}

}  // namespace
}  // namespace stoker
