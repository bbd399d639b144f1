// The operations of tensors as scripts call them, and kernels that have become such operations.
#include <cmath>
#include <set>

#include "stoker/api/kernel.hpp"
#include "stoker/api/kernel_spec.hpp"
#include "stoker/pipeline/tensor/graph/op.hpp"
#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

class Operations : public Scripts {
 protected:
  /// The elements that an expression of the script's gives, as it prints them.
  [[nodiscard]] std::string values(const std::string& expression) {
    return run("print(table.concat(read(" + expression + "), ' '))").text();
  }
};

TEST_F(Operations, of_tensors_are_all_there) {
  // Leaves, what stands for functions of the program, gradients and order: nothing to call.
  const std::set<std::string> none = {
      "computed_after", "cond",      "constant", "custom_gradient", "hook",      "host_call",
      "kernel_call",    "known",     "scan",     "stop_gradient",   "parameter", "variable",
      "transpose_copy", "while_loop"};
  for (const expr::Op* op : expr::op_table().list())
    EXPECT_EQ(run("print(kernels." + op->name + " ~= nil)").text(),
              none.contains(op->name) ? "false\n" : "true\n")
        << op->name;
}

TEST_F(Operations, are_functions_and_methods) {
  EXPECT_EQ(values("floor(buffer{1.5, -1.5})"), "1.0 -2.0\n");
  EXPECT_EQ(values("buffer{1, 4}:rsqrt():round()"), "1.0 1.0\n");
  EXPECT_EQ(values("max(buffer{1, 5}, 3)"), "3.0 5.0\n");
  EXPECT_EQ(values("sum(buffer{{1, 2}, {3, 4}}, {axes = {0}})"), "4.0 6.0\n");
  EXPECT_EQ(values("mean(buffer{1, 2, 6})"), "3.0\n");
  EXPECT_EQ(values("reverse(buffer{{1, 2}, {3, 4}}, {axes = {-1}})"), "2.0 1.0 4.0 3.0\n");
  EXPECT_EQ(values("reverse(buffer{1, 2, 3})"), "3.0 2.0 1.0\n");
  EXPECT_EQ(values("broadcast(buffer{1, 2}, {shape = {2, 2}})"), "1.0 2.0 1.0 2.0\n");
  EXPECT_EQ(values("broadcast(buffer{1, 2}, {shape = {2, 2}, axes = {0}})"), "1.0 1.0 2.0 2.0\n");
  EXPECT_EQ(values("iota{shape = {2, 2}, dtype = 's32'}"), "0 1 2 3\n");
  EXPECT_EQ(values("iota{shape = {2, 2}, axis = 0}"), "0.0 0.0 1.0 1.0\n");
}

TEST_F(Operations, compare_and_choose) {
  EXPECT_EQ(values("less(buffer{1, 2, 3}, 2)"), "1 0 0\n");
  EXPECT_EQ(values("buffer{1, 2, 3}:greater_equal(2)"), "0 1 1\n");
  EXPECT_EQ(values("where(equal(buffer{1, 2}, buffer{1, 3}), 1, 0.5)"), "1.0 0.5\n");
  EXPECT_EQ(values("where(buffer{0, 0.25}, buffer({7, 8}, {dtype = 's32'}), -1)"), "-1 8\n");
  EXPECT_EQ(values("logical_and(buffer{1, 0}, buffer{1, 1}):any()"), "1\n");
}

TEST_F(Operations, that_compare_are_no_operators_of_lua) {
  const auto reason = [&](const std::string& code) {
    const Error error = run("local x = buffer{1, 2}\n" + code).error();
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_EQ(error.detail("line"), "2");
    return std::string{error.reason()};
  };
  for (const std::string code : {"print(x > 2)", "print(x < 2)", "print(2 < x)", "print(x < x)"})
    EXPECT_NE(reason(code).find("write less(a, b) or greater(a, b)"), std::string::npos) << code;
  for (const std::string code : {"print(x >= 2)", "print(x <= 2)", "print(2 <= x)"})
    EXPECT_NE(reason(code).find("write less_equal(a, b) or greater_equal(a, b)"), std::string::npos)
        << code;
}

TEST_F(Operations, of_operators_are_those_of_lua) {
  for (const char* dtype : {"f32", "s32"})
    EXPECT_EQ(run("local n, m = {7, -7, 7, -7, 6}, {2, 2, -2, -2, 3}\n"
                  "local a = buffer(n, {dtype = '" +
                  std::string{dtype} +
                  "'})\n"
                  "local b = buffer(m, {dtype = '" +
                  std::string{dtype} +
                  "'})\n"
                  "local q, r = read(a // b), read(a % b)\n"
                  "for i = 1, #n do assert(q[i] == n[i] // m[i] and r[i] == n[i] % m[i]) end\n"
                  "print(read(a // 4)[2], read(20 % a)[1])")
                  .text(),
              dtype[0] == 'f' ? "-2.0\t6.0\n" : "-2\t6\n");
  EXPECT_EQ(values("buffer{2, 3} ^ 2"), "4.0 9.0\n");
  EXPECT_EQ(values("2 ^ buffer({1, 5}, {dtype = 's64'})"), "2 32\n");
  EXPECT_EQ(run("local b = buffer({12, 10}, {dtype = 'u8'})\n"
                "print(read(b & 6)[1], read(b | 1)[2], read(b ~ 2)[2], read(~b)[1], "
                "read(b << 1)[1], read(b >> 1)[2])")
                .text(),
            "4\t11\t8\t243\t24\t5\n");
  EXPECT_EQ(values("buffer({7}, {dtype = 'u8'}) // 2 + buffer({7}, {dtype = 'u8'}) % 4"), "6\n");
  EXPECT_EQ(values("buffer({7}, {dtype = 's32'}) // 0 + buffer({7}, {dtype = 's32'}) % 0"), "0\n");
}

TEST_F(Operations, say_what_is_wrong_as_kernels_do) {
  const Error dtypes = run("\nlogical_and(1, buffer{1}, 2)").error();
  EXPECT_EQ(dtypes.op(), "logical_and");
  EXPECT_EQ(dtypes.code(), ErrorCode::arity_mismatch);
  EXPECT_EQ(dtypes.detail("line"), "2");
  const Error error = run("atan2(buffer{1, 2}, buffer{1, 2, 3})").error();
  EXPECT_EQ(error.op(), "atan2");
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(error.detail("kernel"), "atan2");
  EXPECT_EQ(error.detail("inputs"), "f32[2], f32[3]");
  EXPECT_EQ(run("local b = buffer{1} // buffer({1}, {dtype = 'u8'})").error().op(), "floor_divide");
  EXPECT_EQ(run("sum(buffer{1}, {axis = 0})").code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(run("sum(buffer{1}, {axes = {1}})").error().op(), "sum");
  EXPECT_EQ(run("iota{shape = {2}, axis = 1}").code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(run("sin(buffer({1}, {dtype = 's32'}))").code(), ErrorCode::dtype_mismatch);
}

TEST_F(Operations, are_made_of_complex_numbers_too) {
  EXPECT_EQ(values("view_as_real(view_as_complex(buffer{{1, 2}}) * 2)"), "2.0 4.0\n");
}

TEST_F(Operations, that_were_kernels_give_what_the_kernels_give) {
  for (const DType dtype :
       {DType::f32, DType::f64, DType::f16, DType::s8, DType::s32, DType::u64}) {
    const std::string options = "{dtype = '" + std::string{to_string(dtype)} + "'}";
    const std::string a = "buffer({0, 1, 7, 100, 3}, " + options + ")";
    const std::string b = "buffer({3, 0, 2, 7, 1}, " + options + ")";
    for (const char* name : {"add", "sub", "mul", "div"}) {
      if (is_float(dtype) && std::string_view{name} == "div") continue;  // 1 / 0 prints by sign
      const Outcome outcome =
          run("print(table.concat(read(" + std::string{name} + "(" + a + ", " + b + ")), ' '))\n" +
              // An image of one pixel in between, and nothing fuses with what is not a number.
              "print(table.concat(read(copy(" + a + "):" + name + "(copy(" + b + "))), ' '))");
      const std::string& text = outcome.seen->text;
      EXPECT_EQ(text.substr(0, text.size() / 2), text.substr(text.size() / 2)) << name << text;
    }
  }
  EXPECT_EQ(values("buffer({-7, 7, 5}, {dtype = 's32'}) / buffer({2, 0, -2}, {dtype = 's32'})"),
            "-3 0 -2\n");
  EXPECT_EQ(values("relu(buffer{-1, 0 / 0, 2}):is_nan()"), "0 1 0\n");
  EXPECT_EQ(values("reshape(buffer{{1, 2}, {3, 4}}, {shape = {-1}})"), "1.0 2.0 3.0 4.0\n");
  EXPECT_EQ(values("transpose(buffer{{1, 2}, {3, 4}})"), "1.0 3.0 2.0 4.0\n");
  EXPECT_EQ(values("transpose(buffer{{{1, 2}}, {{3, 4}}}, {axes = {-1, 0, 1}})"),
            "1.0 3.0 2.0 4.0\n");
  EXPECT_EQ(values("cast(buffer{300, -1.5}, {dtype = 'u8'})"), "255 0\n");
  EXPECT_EQ(values("fill(buffer({1, 2}, {dtype = 's64'}), {value_int = 1 << 60})"),
            "1152921504606846976 1152921504606846976\n");
  EXPECT_EQ(run("fill{shape = {2}, value = 0.5, dtype = 'u8'}").code(),
            ErrorCode::invalid_parameter);
}

TEST_F(Operations, stand_beside_kernels_of_the_program) {
  CppKernelSpec spec;
  spec.name = "plus_index";
  spec.run = [](const CppCall& call, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      call.out<float>(0)[i] = call.in<float>(0)[i] + static_cast<float>(i);
  };
  system.add_kernel(std::move(spec));
  ScriptHost own{device.client(), system.executor(), system.kernels()};
  const auto seen = std::make_shared<Recorder>();
  ScriptOptions options;
  options.observer = seen;
  const auto done =
      own.start({"own.lua", "print(read(plus_index(buffer{1, 2} * 2) + 1)[2])"}, options)
          .done.wait();
  EXPECT_TRUE(done.has_value());
  EXPECT_EQ(seen->text, "6.0\n");
}

TEST_F(Operations, that_the_device_refuses_later_are_named_with_their_line) {
  Kernel kernel;
  kernel.name = "picky";
  kernel.family = "test";
  kernel.summary = "fits every rule and no device";
  kernel.dtypes = {DType::f32};
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    return std::vector{call.inputs[0]};
  };
  kernel.cpu = [](const KernelCall&, std::span<const TensorSpec>) -> Result<CpuPlan> {
    return Error{"picky", ErrorCode::limit_exceeded, "not on this device"};
  };
  system.add_kernel(std::move(kernel));
  ScriptHost own{device.client(), system.executor(), system.kernels()};
  const auto done =
      own.start({"own.lua", "local b = picky(buffer{1} * 2)\n\nwait(b + 1)"}, {}).done.wait();
  ASSERT_TRUE(done.has_error());
  EXPECT_EQ(done.error().code(), ErrorCode::limit_exceeded);
  EXPECT_EQ(done.error().detail("kernel"), "picky");
  EXPECT_EQ(done.error().detail("inputs"), "f32[1]");
  EXPECT_EQ(done.error().detail("line"), "1");
}

TEST_F(Operations, do_not_stand_in_for_a_kernel_of_the_hosts_own_with_a_built_in_name) {
  CppKernelSpec spec;
  spec.name = "relu";
  spec.run = [](const CppCall& call, std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i)
      call.out<float>()[i] = 100 * call.in<float>(0)[i];
  };
  const auto own = std::make_shared<const Kernel>(cpp_kernel(std::move(spec)));
  ScriptHost other{device.client(), system.executor(), {own}};
  const auto seen = std::make_shared<Recorder>();
  ScriptOptions options;
  options.observer = seen;
  const ScriptRun started = other.start({"test.lua", "print(read(relu(buffer{-2}))[1])"}, options);
  EXPECT_TRUE(started.done.wait()) << started.done.wait().error().what();
  EXPECT_EQ(seen->text, "-200.0\n");
}

}  // namespace
}  // namespace stoker
