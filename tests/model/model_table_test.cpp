// Models in scripts: model.load() and predict(), within what a script may use.
#include "stoker/api/model/script/model_table.hpp"

#include "stoker/api/image.hpp"
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

TEST_F(ModelTables, take_pictures_as_their_inputs_want_them) {
  folder.write_image_model("neg.onnx", "Neg", {1, 3, 1, 2});
  std::vector<std::byte> pixels;
  for (int i = 0; i < 4 * 8; ++i)
    for (const int colour : {10, 20, 30}) pixels.push_back(static_cast<std::byte>(colour));
  image::save(folder.path / "cat.png", Image{{DType::u8, {4, 8, 3}}, pixels});
  const std::string load = "local m = model.load('neg.onnx') ";
  const auto shown = [&](const std::string& given) {
    return run_with_models(load + "print(table.concat(read(m:predict" + given + ".output), ' '))")
        .text();
  };
  EXPECT_EQ(shown("{input = image.load('cat.png')}"), "-10.0 -10.0 -20.0 -20.0 -30.0 -30.0\n");
  EXPECT_EQ(shown("({input = image.load('cat.png')}, {image = {input = {mean = 20, std = 5, "
                  "size = {1, 2}, layout = 'nchw', colours = 'bgr'}}})"),
            "-2.0 -2.0 -0.0 -0.0 2.0 2.0\n");
  EXPECT_EQ(shown("({input = image.load('cat.png')}, {image = {input = {mean = {10, 20, 30}}}})"),
            "-0.0 -0.0 -0.0 -0.0 -0.0 -0.0\n");
  // What is computed of a picture is one, too.
  EXPECT_EQ(shown("{input = flip(image.load('cat.png'))}"),
            "-10.0 -10.0 -20.0 -20.0 -30.0 -30.0\n");
  // Floats are a picture only if they are called one.
  EXPECT_EQ(shown("({input = image.load('cat.png'):cast{dtype = 'f32'} + 1}, {image = {input = "
                  "{}}})"),
            "-11.0 -11.0 -21.0 -21.0 -31.0 -31.0\n");
  expect_refused(load + "m:predict{input = image.load('cat.png'):cast{dtype = 'f32'}}",
                 ErrorCode::shape_mismatch, "expected float[1,3,1,2]");
}

TEST_F(ModelTables, of_networks_and_scripts_take_pictures_too) {
  {
    const DeviceScope scope{device};
    const nn::Node input = nn::input("photo", {2, 2, 3});
    nn::Model flat{nn::Network{nn::flatten(input)}, {.device = device}};
    flat.save(folder.path / "flat.safetensors");
  }
  folder.write("double.lua", R"(
    return {inputs = {{name = "photo", shape = {1, 3, 1, 1}}}, outputs = {"twice"},
            predict = function(x) return x.photo * 2 end})");
  const std::string load = R"(
    local photo = buffer({10, 20, 30}, {dtype = "u8"}):broadcast{shape = {4, 8, 3}}
    local function show(m, options)
      for name, out in pairs(m:predict({photo = photo}, options)) do
        print(name, table.concat(read(out), " "))
      end
    end
    local m = )";
  EXPECT_EQ(run_with_models(load + "model.load('double.lua') show(m)").text(),
            "twice\t20.0 40.0 60.0\n");
  EXPECT_EQ(
      run_with_models(load + "model.load('double.lua') show(m, {image = {photo = {std = 10}}})")
          .text(),
      "twice\t2.0 4.0 6.0\n");
  const std::string flat = run_with_models(load + "model.load('flat.safetensors') show(m)").text();
  EXPECT_NE(flat.find("\t10.0 20.0 30.0 10.0 20.0 30.0 10.0 20.0 30.0 10.0 20.0 30.0\n"),
            std::string::npos)
      << flat;
  const std::string centred =
      run_with_models(load +
                      "model.load('flat.safetensors') show(m, {image = {photo = {mean = "
                      "{10, 20, 30}, std = 2}}})")
          .text();
  EXPECT_NE(centred.find("\t0.0 0.0 0.0 0.0"), std::string::npos) << centred;
}

TEST_F(ModelTables, refuse_pictures_that_do_not_fit) {
  folder.write_image_model("neg.onnx", "Neg", {1, 3, 1, 2});
  folder.write_image_model("many.onnx", "Neg", {1, 64, 1, 2});
  const std::string load =
      "local p = cast(iota{shape = {2, 2, 3}}, {dtype = 'u8'}) local m = model.load('neg.onnx') ";
  const auto refused = [&](const std::string& options, ErrorCode code, const std::string& part) {
    expect_refused(load + "m:predict({input = p}, " + options + ")", code, part);
  };
  const ErrorCode invalid = ErrorCode::invalid_argument;
  refused("{image = {inpt = {}}}", ErrorCode::not_found, "did you mean 'input'");
  refused("{image = {input = {mean = 'x'}}}", invalid, "mean is a number or a list");
  refused("{image = {input = {mean = {1, true, 3}}}}", invalid, "mean is a number or a list");
  refused("{image = {input = {mean = {1, 2}}}}", invalid, "2 numbers for 3 colours");
  refused("{image = {input = {std = 0}}}", invalid, "std is not 0");
  refused("{image = {input = {size = {3}}}}", invalid, "size is rows and columns");
  refused("{image = {input = {size = {1.5, 5}}}}", invalid, "input 'input': size is rows");
  refused("{image = {input = {size = 5}}}", invalid, "size is rows and columns");
  refused("{image = {input = {size = {0, 5}}}}", invalid, "not 0");
  refused("{image = {input = {size = {5, 5}}}}", ErrorCode::shape_mismatch, "float[1,3,1,2]");
  refused("{image = {input = {layout = 'ncwh'}}}", invalid, "layout is one of nchw");
  refused("{image = {input = {colour = 'bgr'}}}", ErrorCode::invalid_parameter, "colour");
  refused("{image = {input = 3}}", invalid, "a table such as");
  refused("{image = {{}}}", invalid, "there is no name");
  refused("{images = {}}", ErrorCode::invalid_parameter, "images");
  refused("3", invalid, "what follows the inputs");
  expect_refused(load + "m:predict({input = p:reshape{shape = {12}}}, {image = {input = {}}})",
                 invalid, "a picture is [rows, columns, 1, 3 or 4 colours]");
  // A picture stays what it is where the model takes none.
  expect_refused(load + "model.load('many.onnx'):predict{input = p}", ErrorCode::dtype_mismatch,
                 "expected float[1,64,1,2]");
}

TEST_F(ModelTables, count_what_becomes_of_a_picture_among_the_scripts_buffers) {
  folder.write_image_model("small.onnx", "Neg", {1, 3, 10, 100});
  folder.write_image_model("large.onnx", "Neg", {1, 3, 60'000, 1000});
  ScriptOptions few;
  few.limits.buffer_bytes = 1 << 20;
  const auto with = [&](const std::string& name) {
    return run_with_models(
        "local p = cast(iota{shape = {2, 2, 3}}, {dtype = 'u8'}) "
        "print(model.load('" +
            name + "'):predict{input = p}.output.size)",
        few);
  };
  EXPECT_EQ(with("small.onnx").text(), "3000\n");
  EXPECT_EQ(with("large.onnx").error().code(), ErrorCode::budget_exceeded);
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

TEST_F(ModelTables, refuse_shapes_that_were_not_warmed_up_where_the_script_says_so) {
  folder.write_onnx("abs.onnx");
  const std::string load = "local m = model.load('abs.onnx', {on_new_shape = 'refuse'}) ";
  expect_refused(load + "m:predict{x = buffer{1, -2}}", ErrorCode::not_found, "x float[2]");
  EXPECT_EQ(run_with_models(load + R"(
    local x = buffer{1, -2}
    m:warm_up{x = x}
    print(read(m:predict{x = x}.y)[2])
  )")
                .text(),
            "2.0\n");
  EXPECT_EQ(run_with_models("local m = model.load('abs.onnx', {on_new_shape = 'trace'}) "
                            "print(read(m:predict{x = buffer{1, -2}}.y)[2])")
                .text(),
            "2.0\n");
  expect_refused(load + "m:warm_up{x = buffer{1, 2, 3}}", ErrorCode::shape_mismatch,
                 "expected float[2], came float[3]");
}

TEST_F(ModelTables, keep_no_plan_that_takes_more_bytes_than_the_script_says) {
  // The plan holds the zeros.
  folder.write("zeros.onnx",
               onnx::model(onnx::graph(onnx::Nodes{}
                                           .add("Shape", {"x"}, {"extents"})
                                           .add("ConstantOfShape", {"extents"}, {"zeros"})
                                           .add("Add", {"x", "zeros"}, {"y"}),
                                       {"x"}, {"y", "zeros"}))
                   .bytes());
  const auto code = [](int bytes) {
    return "local m = model.load('zeros.onnx', {on_new_shape = 'refuse', max_plan_bytes = " +
           std::to_string(bytes) +
           "}) local x = buffer{1, -2} m:warm_up{x = x} print(read(m:predict{x = x}.y)[2])";
  };
  EXPECT_EQ(run_with_models(code(4096)).text(), "-2.0\n");
  expect_refused(code(4), ErrorCode::not_found, "");
}

TEST_F(ModelTables, count_what_a_warm_up_computes_like_what_predict_does) {
  onnx::Message tiled =
      onnx::graph(onnx::node("Tile", {"x", "often"}, {"y"}), {"x"}, {},
                  {onnx::raw_tensor("often", onnx::ElementType::s64, {1},
                                    onnx::raw(std::vector{std::int64_t{1} << 20}))});
  tiled.message(
      12, onnx::value_info("y", onnx::tensor_type(onnx::ElementType::f32, {onnx::Message{}})));
  folder.write("tiled.onnx", onnx::model(tiled).bytes());
  ScriptOptions few_buffers;
  few_buffers.limits.buffer_bytes = 1 << 20;
  for (const char* const call : {"predict", "warm_up"}) {
    const std::string code = std::string{"local m = model.load('tiled.onnx') m:"} + call +
                             "{x = buffer{1, 2}} print('done')";
    EXPECT_EQ(run_with_models(code).text(), "done\n");
    EXPECT_EQ(run_with_models(code, few_buffers).code(), ErrorCode::budget_exceeded) << call;
  }
}

TEST_F(ModelTables, refuse_options_of_loading_that_do_not_exist) {
  folder.write_onnx("abs.onnx");
  folder.save_line("line.safetensors", device);
  const auto load = [](const std::string& options) {
    return "model.load('abs.onnx', " + options + ")";
  };
  expect_refused(load("{on_new_shape = 'stop'}"), ErrorCode::invalid_parameter,
                 "on_new_shape must be \"trace\" or \"refuse\"");
  expect_refused(load("{on_new_shape = 1}"), ErrorCode::invalid_parameter, "on_new_shape");
  expect_refused(load("{max_plan_bytes = -1}"), ErrorCode::invalid_parameter,
                 "max_plan_bytes must be a whole number, 0 or more");
  expect_refused(load("{max_plan_bytes = '4'}"), ErrorCode::invalid_parameter, "max_plan_bytes");
  expect_refused(load("{max_plan_byte = 4}"), ErrorCode::invalid_parameter, "max_plan_bytes");
  expect_refused("model.load('line.safetensors', {on_new_shape = 'refuse'})",
                 ErrorCode::unsupported, "this is a Stoker network");
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
