// Models in scripts: model.load() and predict(), within what a script may use.
#include "stoker/api/model/script/model_table.hpp"

#include "stoker/tests/model/model_folder.hpp"
#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

class ModelTables : public Scripts {
 protected:
  [[nodiscard]] Outcome run_with_models(const std::string& code, ScriptOptions options = {}) {
    options.extension = std::make_shared<ModelTable>();
    options.directory = folder.path;
    options.allowed_directories = {folder.path};
    return run(code, std::move(options));
  }
  void expect_refused(const std::string& code, ErrorCode kind, const std::string& part) {
    SCOPED_TRACE(code);
    const Error found = run_with_models("\n" + code).error();
    EXPECT_EQ(found.code(), kind) << found.what();
    EXPECT_EQ(found.detail("line"), "2") << found.what();
    EXPECT_NE(std::string{found.what()}.find(part), std::string::npos) << found.what();
  }

  ModelFolder folder;
};

constexpr const char* show = R"(
  local function show(infos)
    for _, one in ipairs(infos) do
      local shape = {}
      for i, extent in ipairs(one.shape or {}) do shape[i] = tostring(extent) end
      print(one.name, one.dtype, table.concat(shape, ","), one.optional)
    end
  end
)";

TEST_F(ModelTables, predict_from_onnx_files) {
  folder.write_onnx("abs.onnx");
  const Outcome outcome = run_with_models(std::string{show} + R"(
    local m = model.load("abs.onnx")
    show(m.inputs)
    show(m.outputs)
    local out = m:predict{x = buffer{1, -2} * 3}
    print(read(out.y)[1], read(out.y + 1)[2])
    print(m)
  )");
  EXPECT_EQ(outcome.text(),
            "x\tf32\t2\tnil\ny\tf32\t2\tnil\n3.0\t7.0\nmodel abs.onnx: x float[2] -> y float[2]\n");
}

TEST_F(ModelTables, predict_from_networks) {
  folder.save_line("line.safetensors", device);
  const Outcome outcome = run_with_models(std::string{show} + R"(
    local m = model.load("line.safetensors")
    show(m.inputs)
    show(m.outputs)
    print(read(m:predict{rows = buffer{{1, 2}}}.line)[1], read(m:predict(buffer{{0, 1}}))[1])
  )");
  EXPECT_EQ(outcome.text(), "rows\tf32\tbatch,2\tnil\nline\tf32\tbatch,1\tnil\n9.0\t4.0\n");
}

TEST_F(ModelTables, predict_from_scripts) {
  folder.write_script("product.lua");
  const Outcome outcome = run_with_models(std::string{show} + R"(
    local m = model.load("product.lua")
    show(m.inputs)
    local out = m:predict{x = buffer{{1, 2}}, factor = buffer{{4}}}
    print(read(out.product)[2], read(out.total)[1])
  )");
  EXPECT_EQ(outcome.text(), "x\tf32\trows,2\tnil\nfactor\tf32\trows,1\tnil\n8.0\t12.0\n");
}

TEST_F(ModelTables, chain_models_within_a_model) {
  folder.write_onnx("abs.onnx");
  folder.save_line("line.safetensors", device);
  folder.write("both.lua", R"(
    local size, line = model.load("abs.onnx"), model.load("line.safetensors")
    return {
      inputs = {{name = "x", shape = {2}}},
      outputs = {"y"},
      predict = function(given)
        return line:predict(size:predict{x = given.x}.y:reshape{shape = {1, 2}})
      end,
    })");
  EXPECT_EQ(run_with_models("print(read(model.load('both.lua'):predict{x = buffer{-1, -2}}.y)[1])")
                .text(),
            "9.0\n");
}

TEST_F(ModelTables, take_lists_of_strings_as_memory_of_the_script) {
  const onnx::Message any = onnx::tensor_type(onnx::ElementType::string, {onnx::Message{}});
  onnx::Message graph;
  graph.messages(1, onnx::node("Identity", {"x"}, {"y"}).all);
  graph.message(11, onnx::value_info("x", any)).message(12, onnx::value_info("y", any));
  folder.write("texts.onnx", onnx::model(graph).bytes());
  const std::string load = "local m = model.load('texts.onnx') ";
  EXPECT_EQ(run_with_models(load + "print(m:predict{x = {'a', 'b'}}.y[2])").text(), "b\n");
  expect_refused(load + "m:predict{x = {'a', 2}}", ErrorCode::invalid_argument, "of which 2 is 2");
  expect_refused(load + "m:predict{x = {a = 'a'}}", ErrorCode::invalid_argument, "got a table");
  // One long string many times.
  const Error why = run_with_models(load + R"(
    local long, list = ("x"):rep(1 << 20), {}
    for i = 1, 4096 do list[i] = long end
    m:predict{x = list})")
                        .error();
  EXPECT_EQ(why.code(), ErrorCode::budget_exceeded) << why.what();
}

TEST_F(ModelTables, give_maps_as_tables) {
  const auto zipped = [&](const std::string& name, const onnx::Message& labels) {
    onnx::Message graph;
    graph.messages(1, onnx::node("ZipMap", {"x"}, {"maps"}, {labels}, "ai.onnx.ml").all);
    graph.message(11, onnx::floats("x")).message(12, onnx::Message{}.text(1, "maps"));
    folder.write(name, onnx::model(graph).message(8, onnx::opset("ai.onnx.ml", 1)).bytes());
    return "local map = model.load('" + name + "'):predict{x = buffer{0.25, -2}}.maps[1] ";
  };
  const std::string by_word =
      zipped("words.onnx",
             onnx::Message{}.text(1, "classlabels_strings").texts(9, {"no", "yes"}).integer(20, 8));
  EXPECT_EQ(run_with_models(by_word + "print(map.no, map.yes)").text(), "0.25\t-2.0\n");
  const std::string by_number =
      zipped("numbers.onnx",
             onnx::Message{}.text(1, "classlabels_int64s").packed(8, {7, 3}).integer(20, 7));
  EXPECT_EQ(run_with_models(by_number + "print(map[7], map[3])").text(), "0.25\t-2.0\n");
}

TEST_F(ModelTables, refuse_what_does_not_fit) {
  folder.write_onnx("abs.onnx");
  folder.write_script("product.lua");
  folder.write("text.txt", "hello");
  const std::string load = "local m = model.load('abs.onnx') ";
  expect_refused("model.load('absent.onnx')", ErrorCode::not_found, "there is no such file");
  expect_refused("model.load('../abs.onnx')", ErrorCode::permission_denied, "");
  expect_refused("model.load('text.txt')", ErrorCode::unsupported, "it looks like text");
  expect_refused(load + "m:predict{z = buffer{1, 2}}", ErrorCode::not_found, "no input 'z'");
  expect_refused(load + "m:predict{}", ErrorCode::invalid_argument,
                 "input 'x' (float[2]) is missing");
  expect_refused(load + "m:predict{x = buffer{1, 2, 3}}", ErrorCode::shape_mismatch,
                 "expected float[2], came float[3]");
  expect_refused(load + "m:predict{x = 3}", ErrorCode::invalid_argument,
                 "expected a buffer, got 3");
  expect_refused(load + "m:predict(buffer{1, 2})", ErrorCode::invalid_argument,
                 "inputs are given by name");
  expect_refused(load + "print(m.input)", ErrorCode::not_found, "did you mean 'inputs'");
  expect_refused(load + "m.inputs = 3", ErrorCode::script_error, "cannot be changed");
  folder.save_line("line.safetensors", device);
  const std::string network = "local m = model.load('line.safetensors') ";
  expect_refused(network + "local x = buffer{{1, 2}} m:predict{rows = x, rovs = x}",
                 ErrorCode::not_found, "did you mean 'rows'");
  expect_refused(network + "m:predict{}", ErrorCode::not_found, "rows");
  expect_refused(network + "m:predict{buffer{{1, 2}}}", ErrorCode::invalid_argument,
                 "inputs are given by name");
  expect_refused(network + "m:predict{rows = 3}", ErrorCode::invalid_argument, "buffer");
  expect_refused(network + "print(m.input)", ErrorCode::not_found, "m.inputs and m.outputs");
  const std::string script = "local m = model.load('product.lua') ";
  expect_refused(script + "m:predict{y = buffer{1}}", ErrorCode::not_found, "no input 'y'");
  const std::string x = "x = buffer{{1, 2}}";
  expect_refused(script + "m:predict{" + x + "}", ErrorCode::invalid_argument,
                 "input 'factor' (float[rows,1]) is missing");
  expect_refused(script + "m:predict{" + x + ", factor = 3}", ErrorCode::invalid_argument,
                 "input 'factor': expected a buffer, got 3");
  expect_refused(script + "m:predict{" + x + ", buffer{1}}", ErrorCode::invalid_argument,
                 "there is no name");
  expect_refused(script + "m:predict{" + x + ", factor = buffer{{1}, {2}}}",
                 ErrorCode::shape_mismatch, "rows was 1 in input 'x'");
  expect_refused(script + "m:predict{x = cast(buffer{{1, 2}}, {dtype = 's64'})}",
                 ErrorCode::dtype_mismatch, "expected float[rows,2], came int64[1,2]");
}

TEST_F(ModelTables, are_bounded_by_the_memory_of_the_script) {
  folder.write("large.onnx",
               onnx::model(onnx::graph(onnx::node("Add", {"x", "w"}, {"y"}), {"x"}, {"y"},
                                       {onnx::float_tensor("w", std::vector<float>(1 << 19))}))
                   .bytes());
  const std::string code = "local m = model.load('large.onnx') print(m.inputs[1].name)";
  EXPECT_EQ(run_with_models(code, limited(0, 16)).text(), "x\n");
  EXPECT_EQ(run_with_models(code, limited(0, 1)).code(), ErrorCode::budget_exceeded);
  ScriptOptions few_buffers;
  few_buffers.limits.buffer_bytes = 1 << 20;
  EXPECT_EQ(run_with_models(code, few_buffers).code(), ErrorCode::budget_exceeded);
  // What a script drops it may use again.
  EXPECT_EQ(
      run_with_models("for i = 1, 50 do model.load('large.onnx') end print('done')", limited(0, 16))
          .text(),
      "done\n");
}

TEST_F(ModelTables, that_load_themselves_come_to_an_end) {
  folder.write("self.lua", "return model.load('self.lua')");
  EXPECT_TRUE(run_with_models("model.load('self.lua')").result.has_error());
}

TEST_F(ModelTables, have_no_external_data) {
  const auto external = [](std::string_view key, std::string_view value) {
    return onnx::Message{}.text(1, key).text(2, value);
  };
  onnx::Message weight = onnx::empty_tensor("w", onnx::ElementType::f32, {2});
  weight.message(13, external("location", "weights.bin")).integer(14, 1);
  folder.write("weights.bin", std::string(8, '\0'));
  folder.write("outside.onnx", onnx::model(onnx::graph(onnx::node("Add", {"x", "w"}, {"y"}), {"x"},
                                                       {"y"}, {weight}))
                                   .bytes());
  expect_refused("model.load('outside.onnx')", ErrorCode::invalid_argument, "");
}

}  // namespace
}  // namespace stoker
