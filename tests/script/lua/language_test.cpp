#include "stoker/runtime/observe/log.hpp"
#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

class ScriptLanguage : public Scripts {};

TEST_F(ScriptLanguage, kernels_are_functions_of_buffers_and_options) {
  EXPECT_EQ(run("print(table.concat(read(relu(buffer{-1, 0.5, 2})), ' '))").text(),
            "0.0 0.5 2.0\n");
  EXPECT_EQ(run("print(table.concat(read(reduce_sum(buffer{{1, 2}, {3, 4}}, {axes = {1}})), ' '))")
                .text(),
            "3.0 7.0\n");
  EXPECT_EQ(run("print(read(reduce_sum(buffer{{1, 2}, {3, 4}}))[1])").text(), "10.0\n");
}

TEST_F(ScriptLanguage, kernels_are_methods_too) {
  EXPECT_EQ(run("print(buffer{{1, 2}}:matmul(buffer{{3}, {4}}):read()[1])").text(), "11.0\n");
}

TEST_F(ScriptLanguage, kernels_that_share_a_name_with_a_library_are_in_a_table) {
  EXPECT_EQ(run("print(kernels.relu == nil, kernels.nothing)").text(), "false\tnil\n");
}

TEST_F(ScriptLanguage, aliases_name_the_same_kernel) {
  EXPECT_EQ(run("print(read(add(buffer{1}, buffer{2}))[1])").text(), "3.0\n");
}

TEST_F(ScriptLanguage, operators_take_buffers_and_numbers) {
  EXPECT_EQ(run("local b = buffer{1, 2, 4}\n"
                "print(table.concat(read((b + 1) * b - 1), ' '))\n"
                "print(table.concat(read(2 / b), ' '))\n"
                "print(table.concat(read(-b), ' '))")
                .text(),
            "1.0 5.0 19.0\n2.0 1.0 0.5\n-1.0 -2.0 -4.0\n");
}

TEST_F(ScriptLanguage, a_number_takes_the_dtype_of_the_buffer) {
  EXPECT_EQ(
      run("local b = buffer({1, 2}, {dtype = 's32'})\nprint((b * 3).dtype, read(b * 3)[2])").text(),
      "s32\t6\n");
  const Error error = run("local b = buffer({1, 2}, {dtype = 's32'})\nreturn b * 0.5").error();
  EXPECT_EQ(error.code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(error.detail("line"), "2");
}

TEST_F(ScriptLanguage, buffers_know_their_shape_and_dtype) {
  EXPECT_EQ(run("local b = buffer({{1, 2, 3}, {4, 5, 6}}, {dtype = 'u8'})\n"
                "print(b.dtype, b.size, b.bytes, #b.shape, b.shape[1], b.shape[2])")
                .text(),
            "u8\t6\t6\t2\t2\t3\n");
}

TEST_F(ScriptLanguage, buffers_come_from_numbers_tables_and_bytes) {
  EXPECT_EQ(run("print(read(buffer(7))[1], #buffer(7).shape)").text(), "7.0\t0\n");
  EXPECT_EQ(run("print(buffer({1, 2, 3, 4}, {shape = {2, 2}}).shape[2])").text(), "2\n");
  EXPECT_EQ(run("print(read(buffer(string.pack('<i4i4', 5, -6), {dtype = 's32'}))[2])").text(),
            "-6\n");
  EXPECT_EQ(run("print(read(buffer({true, false}, {dtype = 'bool'}))[1])").text(), "true\n");
  EXPECT_EQ(run("print(buffer({}).size, #read(buffer({})))").text(), "0\t0\n");
}

TEST_F(ScriptLanguage, integers_keep_their_value) {
  EXPECT_EQ(run("print(read(buffer({math.maxinteger, math.mininteger}, {dtype = 's64'}))[1] == "
                "math.maxinteger)")
                .text(),
            "true\n");
  EXPECT_EQ(run("print(read(buffer({2^63}, {dtype = 'u64'}))[1])").text(), "9.2233720368548e+18\n");
}

TEST_F(ScriptLanguage, values_that_do_not_fit_are_refused) {
  EXPECT_EQ(run("buffer({300}, {dtype = 'u8'})").code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(run("buffer({1.5}, {dtype = 's32'})").code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(run("buffer({'x'})").code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(run("buffer({{1, 2}, {3}})").code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(run("buffer({{1, 2}, 3})").code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(run("buffer({1, 2, 3}, {shape = {2, 2}})").code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(run("buffer({1}, {dtype = 'f99'})").code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(run("buffer({1}, {type = 'f32'})").code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(run("buffer({1}, {shape = {-1}})").code(), ErrorCode::invalid_argument);
}

TEST_F(ScriptLanguage, printing_a_buffer_shows_dtype_shape_and_values) {
  EXPECT_EQ(run("print(buffer{{1, 2.5, -3}, {0.25, 4, 5}})").text(),
            "f32[2,3]\n"
            "[[   1  2.5   -3]\n"
            " [0.25    4    5]]\n");
  EXPECT_EQ(run("print(buffer(7))").text(), "f32[]\n7\n");
  EXPECT_EQ(run("print(buffer{})").text(), "f32[0]\n[]\n");
}

TEST_F(ScriptLanguage, printing_a_buffer_without_elements_shows_no_rows) {
  EXPECT_EQ(run("print(fill{shape = {2147483648, 0}})").text(), "f32[2147483648,0]\n[]\n");
}

TEST_F(ScriptLanguage, printing_a_large_buffer_shows_its_edges) {
  EXPECT_EQ(run("print(fill({shape = {2000}, value = 3}))").text(),
            "f32[2000]\n[3 3 3 ... 3 3 3]\n");
  EXPECT_EQ(run("print(fill({shape = {2000000}, value = 3}))").text(),
            "f32[2000000]\n[3 3 3 3 ... 3 3 3 3]\n");
}

TEST_F(ScriptLanguage, arguments_are_numbers_where_they_read_as_numbers) {
  ScriptOptions options;
  options.args = {{"radius", "3"}, {"scale", "0.5"}, {"name", "3 apples"}, {"hex", "0x10"}};
  EXPECT_EQ(run("print(math.type(args.radius), args.scale * 2, args.name, args.hex, args.absent)",
                options)
                .text(),
            "integer\t1.0\t3 apples\t16\tnil\n");
}

TEST_F(ScriptLanguage, the_device_describes_itself) {
  EXPECT_EQ(run("print(device().name, device().type)").text(), "cpu\tcpu\n");
}

TEST_F(ScriptLanguage, a_first_line_for_the_shell_is_skipped) {
  const Error error = run("#!/usr/bin/env -S stoker run\nerror('here')").error();
  EXPECT_EQ(error.detail("line"), "2");
}

TEST_F(ScriptLanguage, a_byte_order_mark_is_skipped) {
  EXPECT_EQ(run("\xef\xbb\xbfprint(1)").text(), "1\n");
  EXPECT_EQ(run("\xef\xbb\xbf#!/usr/bin/env -S stoker run\nprint(2)").text(), "2\n");
}

TEST_F(ScriptLanguage, printing_a_buffer_of_many_axes_shows_its_ends) {
  const std::string text = run("print(fill{shape = {8, 8, 8, 8, 8, 8}, value = 1})").text();
  EXPECT_LT(text.size(), 1000U);
  EXPECT_NE(text.find("[1 1 1 1 ... 1 1 1 1]"), std::string::npos) << text;
}

TEST_F(ScriptLanguage, coroutines_may_wait) {
  EXPECT_EQ(run("local step = coroutine.wrap(function(x)\n"
                "  while true do x = coroutine.yield(read(x + 1)[1]) end\n"
                "end)\n"
                "print(step(buffer{1}), step(buffer{5}))")
                .text(),
            "2.0\t6.0\n");
}

TEST_F(ScriptLanguage, coroutines_yield_across_pcall) {
  EXPECT_EQ(
      run("local co = coroutine.create(function() return pcall(function() coroutine.yield(1) "
          "error('x', 0) end) end)\n"
          "print(coroutine.resume(co))\nprint(coroutine.resume(co))\nprint(coroutine.resume(co))")
          .text(),
      "true\t1\ntrue\tfalse\tx\nfalse\tcannot resume dead coroutine\n");
}

TEST_F(ScriptLanguage, xpcall_asks_its_handler) {
  EXPECT_EQ(run("print(xpcall(error, function(e) return 'handled ' .. e end, 'x'))").text(),
            "false\thandled x\n");
  EXPECT_EQ(run("print(xpcall(math.max, print, 1, 5, 2))").text(), "true\t5\n");
}

TEST_F(ScriptLanguage, the_table_library_works_as_in_lua) {
  EXPECT_EQ(run("local t = {1, 2, 3}\n"
                "table.insert(t, 4) table.insert(t, 1, 0)\n"
                "print(table.remove(t), table.remove(t, 1), table.concat(t, ','))\n"
                "print(table.concat(table.move({1, 2, 3}, 1, 3, 2), ','))\n"
                "print(table.concat(table.move({1, 2, 3}, 2, 3, 1), ','))\n"
                "print(table.unpack({1, 2, 3}, 2))\n"
                "print(table.pack(1, nil, 3).n, table.remove({}), #table.pack())\n"
                "local s = {3, 1, 2} table.sort(s) print(table.concat(s, ','))\n"
                "table.sort(s, function(a, b) return a > b end) print(table.concat(s, ','))\n"
                "print(pcall(table.sort, {1, 'x'}))\n"
                "print(table.concat({}, ','), table.concat({1, 2, 3}, '-', 2, 3))\n"
                "print(pcall(table.insert, {1}, 5, 1))")
                .text(),
            "4\t0\t1,2,3\n1,1,2,3\n2,3,3\n2\t3\n3\tnil\t0\n1,2,3\n3,2,1\n"
            "false\tattempt to compare string with number\n\t2-3\n"
            "false\tbad argument #2 to 'table.insert' (position out of bounds)\n");
}

TEST_F(ScriptLanguage, sorting_keeps_equal_elements_in_their_order) {
  EXPECT_EQ(run("local t = {} for i = 1, 1000 do t[i] = {key = i * 7919 % 10, place = i} end\n"
                "table.sort(t, function(a, b) return a.key < b.key end)\n"
                "for i = 2, #t do local a, b = t[i - 1], t[i]\n"
                "assert(a.key < b.key or a.key == b.key and a.place < b.place) end\n"
                "print(#t, t[1].key, t[1000].key)")
                .text(),
            "1000\t0\t9\n");
}

TEST_F(ScriptLanguage, warn_goes_to_the_log_and_log_is_the_logarithm) {
  const LogCapture log;
  EXPECT_EQ(run("warn('@on') warn('careful') print(read(log(buffer{1}))[1])").text(), "0.0\n");
  EXPECT_TRUE(log.contains("a script warns script=test.lua warning=careful"));
}

TEST_F(ScriptLanguage, warnings_fill_no_log_and_pass_for_no_lines_of_others) {
  const LogCapture log;
  EXPECT_EQ(run("for i = 1, 10000 do warn('different\\nline ' .. i) end print('end')").text(),
            "end\n");
  // At most one more for each second that this takes.
  EXPECT_LT(log.lines().size(), 1000U);
  EXPECT_TRUE(log.contains("warning=\"different\\nline 1\""));
}

}  // namespace
}  // namespace stoker
