#include <algorithm>

#include "stoker/tests/script/script_runner.hpp"

#include "stoker/api/kernel.hpp"
#include "stoker/api/kernel_spec.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/runtime/observe/trace.hpp"

namespace stoker {
namespace {

class Evaluation : public Scripts {};

std::vector<std::string> kernels_of(const Outcome& outcome) {
  std::vector<std::string> names;
  for (const ScriptCommand& command : outcome.seen->commands) names.push_back(command.kernel);
  return names;
}

/// How many kernels did the work of calls of this function.
std::ptrdiff_t kernels_with(const Outcome& outcome, std::string_view function) {
  return std::ranges::count_if(kernels_of(outcome), [&](const std::string& name) {
    return name.find(function) != std::string::npos;
  });
}

TEST_F(Evaluation, nothing_runs_before_it_is_needed) {
  const Outcome outcome = run("local b = relu(buffer{1}) + 1");
  EXPECT_EQ(outcome.text(), "");
  EXPECT_EQ(outcome.result->commands, 0U);
}

TEST_F(Evaluation, a_chain_of_single_elements_runs_as_one_kernel) {
  const Outcome outcome = run("print(read(sqrt(abs(buffer{-4} * 4)))[1])");
  EXPECT_EQ(outcome.text(), "4.0\n");
  EXPECT_EQ(outcome.result->evaluations, 1U);
  EXPECT_EQ(kernels_of(outcome), (std::vector<std::string>{"multiply+abs+sqrt"}));
}

TEST_F(Evaluation, a_chain_of_eight_steps_is_one_pass_over_memory) {
  const Outcome outcome =
      run("local x, y = buffer{0.5, -2}, buffer{1, 3}\n"
          "local b = kernels.abs(tanh(sigmoid(relu(x + y) * y) - x) * x)\n"
          "print(#read(b))");
  EXPECT_EQ(outcome.text(), "2\n");
  EXPECT_EQ(outcome.result->commands, 1U);
  EXPECT_EQ(kernels_of(outcome), std::vector<std::string>{"add+relu+multiply+sigmoid+4 more"});
}

TEST_F(Evaluation, reductions_and_products_run_with_what_is_beside_them) {
  EXPECT_EQ(kernels_of(run("wait(reduce_sum(exp(buffer{1, 2}) * 2))")),
            std::vector<std::string>{"exp+multiply+reduce_sum"});
  EXPECT_EQ(kernels_of(run("wait(relu(matmul(buffer{{1, 2}}, buffer{{3}, {4}}) + 1))")),
            (std::vector<std::string>{"matmul+add+relu"}));
}

TEST_F(Evaluation, images_stand_between_what_fuses) {
  const Outcome outcome =
      run("local b = fill{shape = {8, 8, 1}, value = 0.5}\n"
          "print(read(kernels.abs(gaussian_blur(b * 2 - 3) + 1))[1])");
  EXPECT_EQ(outcome.text(), "1.0\n");
  EXPECT_EQ(kernels_of(outcome),
            (std::vector<std::string>{"multiply+subtract", "gaussian_blur", "add+abs"}));
}

TEST_F(Evaluation, equal_structures_are_compiled_once) {
  const Outcome outcome =
      run("for i = 1, 4 do\n"
          "  local b = relu(buffer{i, i} * 2)\n"
          "  print(read(b + i)[1])\n"  // also where i is 2, too
          "end");
  EXPECT_EQ(outcome.text(), "3.0\n6.0\n9.0\n12.0\n");
  EXPECT_EQ(outcome.result->evaluations, 4U);
  EXPECT_EQ(outcome.result->pipelines_compiled, 1U);
}

TEST_F(Evaluation, a_loop_is_compiled_once_whatever_numbers_stand_in_it) {
  for (const char* body :
       {"b * i + i ^ 2 - i // 3", "fill{shape = {4}, value = i} + b", "b:slice{{i, i + 2}}",
        "b:slice{i} * 2", "where(less(b, i), b, i)", "b:pow(i):max(i)"}) {
    const Outcome outcome =
        run("local b = buffer{1, 2, 3, 4}\nfor i = 0, 2 do wait(" + std::string{body} + ") end");
    EXPECT_EQ(outcome.result->evaluations, 3U) << body;
    EXPECT_EQ(outcome.result->pipelines_compiled, 1U) << body;
  }
}

TEST_F(Evaluation, what_another_script_had_compiled_costs_the_same) {
  const std::string code = "local b = buffer{1, 2}\nwait(tanh(b) - cosh(b) * 0.125)";
  const auto first = run(code).result.value();
  const auto second = run(code).result.value();
  EXPECT_EQ(first.instructions, second.instructions);
  EXPECT_EQ(second.pipelines_compiled, 1U);
}

TEST_F(Evaluation, other_shapes_and_parameters_are_other_structures) {
  const Outcome outcome =
      run("for i = 1, 3 do print(reduce_sum(fill{shape = {i}, value = 2}).size) end\n"
          "for i = 1, 3 do print(read(reduce_sum(fill{shape = {i}, value = 2}))[1]) end");
  EXPECT_EQ(outcome.text(), "1\n1\n1\n2.0\n4.0\n6.0\n");
  EXPECT_EQ(outcome.result->pipelines_compiled, 3U);
}

TEST_F(Evaluation, parameters_differ_to_the_last_bit) {
  EXPECT_EQ(run("for _, x in ipairs{0.3, 0.1 + 0.2} do\n"
                "  print(read(fill{shape = {1}, value = x, dtype = 'f64'})[1] == x)\n"
                "end")
                .text(),
            "true\ntrue\n");
}

TEST_F(Evaluation, a_value_in_between_is_computed_at_most_twice) {
  const Outcome outcome =
      run("local h = exp(buffer{0})\n"
          "for i = 1, 4 do print(read(h + i)[1]) end");
  EXPECT_EQ(outcome.text(), "2.0\n3.0\n4.0\n5.0\n");
  EXPECT_EQ(kernels_with(outcome, "exp"), 2);
}

TEST_F(Evaluation, a_value_that_was_asked_for_is_computed_once) {
  const Outcome outcome =
      run("local h = exp(buffer{0}) wait(h)\n"
          "for i = 1, 4 do print(read(h + i)[1]) end\nprint(read(h)[1])");
  EXPECT_EQ(outcome.text(), "2.0\n3.0\n4.0\n5.0\n1.0\n");
  EXPECT_EQ(kernels_with(outcome, "exp"), 1);
}

TEST_F(Evaluation, values_asked_for_together_share_what_they_share) {
  const Outcome outcome =
      run("local h = exp(buffer{0})\nlocal a, b = h + 1, h + 2\nwait(a, b)\nprint(read(a)[1], "
          "read(b)[1])");
  EXPECT_EQ(outcome.text(), "2.0\t3.0\n");
  EXPECT_EQ(kernels_with(outcome, "exp"), 1);
  EXPECT_EQ(outcome.result->evaluations, 1U);
}

TEST_F(Evaluation, a_view_of_a_value_in_between_keeps_the_value) {
  const Outcome outcome =
      run("local h = exp(buffer{{0, 0}})\nlocal t = h:transpose()\n"
          "for i = 1, 4 do print(read(t + i)[1]) end");
  EXPECT_EQ(outcome.text(), "2.0\n3.0\n4.0\n5.0\n");
  EXPECT_EQ(kernels_with(outcome, "exp"), 2);
}

TEST_F(Evaluation, a_diamond_is_one_graph) {
  const Outcome outcome =
      run("local b = buffer{3}\nfor i = 1, 20 do b = b + b end\nprint(read(b)[1])");
  EXPECT_EQ(outcome.text(), "3145728.0\n");
  EXPECT_EQ(outcome.result->commands, 1U);
}

TEST_F(Evaluation, long_chains_are_cut) {
  const Outcome outcome =
      run("local b = buffer{0}\nfor i = 1, 2000 do b = b + 1 end\nprint(read(b)[1])");
  EXPECT_EQ(outcome.text(), "2000.0\n");
  EXPECT_LT(outcome.result->commands, 200U);
  EXPECT_GT(outcome.result->evaluations, 5U);
  EXPECT_LE(outcome.result->pipelines_compiled, 3U);
}

TEST_F(Evaluation, wide_graphs_are_cut) {
  // A tree of 2048 leaves: more than one program takes, with values that cross the cuts.
  const Outcome outcome =
      run("local level = {}\n"
          "for i = 1, 2048 do level[i] = relu(buffer{i % 7}) end\n"
          "while #level > 1 do\n"
          "  local next = {}\n"
          "  for i = 1, #level, 2 do next[#next + 1] = level[i] + level[i + 1] end\n"
          "  level = next\n"
          "end\n"
          "local sum = 0 for i = 1, 2048 do sum = sum + i % 7 end\n"
          "print(read(level[1])[1] == sum)");
  EXPECT_EQ(outcome.text(), "true\n");
  EXPECT_LT(outcome.result->commands, 4095U);
  EXPECT_GT(outcome.result->evaluations, 1U);
}

TEST_F(Evaluation, many_views_at_once_are_cut_as_well) {
  const Outcome outcome =
      run("local t = {}\n"
          "for i = 1, 1500 do\n"
          "  t[i] = iota{shape = {4}, dtype = 's32'}:broadcast{shape = {i, 4}}:slice{{nil, 1}}\n"
          "end\n"
          "wait(table.unpack(t))\n"
          "print(read(t[1500])[4])");
  EXPECT_EQ(outcome.text(), "3\n");
  EXPECT_GE(outcome.result->evaluations, 3U) << "512 results at most in one program";
}

TEST_F(Evaluation, long_rows_of_views_are_cut_as_well) {
  // Little is computed, but what the sums stand on are more views than one program reads.
  const Outcome outcome =
      run("local sum = iota{shape = {2, 1}, dtype = 's32'}\n"
          "for i = 1, 128 do\n"
          "  local x = iota{shape = {2, 1}, dtype = 's32'}\n"
          "  for k = 1, 40 do x = x:transpose():reshape{shape = {2, 1}} end\n"
          "  sum = sum + x\n"
          "end\n"
          "print(read(sum)[2])");
  EXPECT_EQ(outcome.text(), "129\n");
  ASSERT_TRUE(outcome.result);
  EXPECT_GT(outcome.result->evaluations, 1U);
}

TEST_F(Evaluation, many_structures_do_not_accumulate) {
  EXPECT_EQ(run("for i = 1, 200 do wait(fill{shape = {i}} + 1) end print('done')").text(),
            "done\n");
}

TEST_F(Evaluation, buffers_that_became_garbage_give_their_memory_back) {
  // Each buffer is 4 MiB.
  const Outcome outcome = run("for i = 1, 60 do wait(fill{shape = {1 << 20}, value = i}) end");
  EXPECT_EQ(outcome.text(), "");
  EXPECT_LT(device.stats().memory.peak, std::uint64_t{100} << 20);
}

TEST_F(Evaluation, results_without_elements_are_fine) {
  EXPECT_EQ(run("local b = relu(buffer{})\nprint(b.size, #read(b))\nprint(read(reduce_sum(b))[1])")
                .text(),
            "0\t0\n0.0\n");
}

TEST_F(Evaluation, commands_are_told_with_line_shape_and_time) {
  system.trace().enable();
  const Outcome outcome =
      run("local b = softmax(fill{shape = {100, 100}, value = 2})\n\nwait(relu(b) + 1)");
  ASSERT_EQ(outcome.seen->commands.size(), 3U);
  EXPECT_EQ(outcome.seen->commands[0].line, 1);
  EXPECT_EQ(outcome.seen->commands[1].line, 1);
  EXPECT_EQ(outcome.seen->commands[2].line, 3);
  EXPECT_EQ(outcome.seen->commands[2].kernel, "relu+add");
  EXPECT_EQ(outcome.seen->commands[1].output.to_string(), "f32[100,100]");
  EXPECT_GT(outcome.seen->commands[1].duration.count(), 0);
}

TEST_F(Evaluation, wait_without_arguments_waits_for_everything) {
  EXPECT_EQ(run("local t = {} for i = 1, 100 do t[i] = relu(buffer{i}) + i wait(t[i]) end wait() "
                "print(read(t[100])[1])")
                .text(),
            "200.0\n");
}

class OnVulkan : public Scripts {
 protected:
  OnVulkan() : Scripts{"vulkan"} {}
};

TEST_F(OnVulkan, what_the_gpu_lacks_runs_between_what_it_computes) {
  const LogCapture quiet;
  const Outcome outcome =
      run("local x = buffer{{4, 2}, {2, 3}} * 1\n\n"
          "local l = cholesky(x)\n"
          "print(read(l * 2 + 1)[1], read(l)[3])");
  EXPECT_EQ(outcome.text(), "5.0\t1.0\n");
  EXPECT_EQ(kernels_with(outcome, "cholesky"), 2);
  const auto told = std::ranges::find(outcome.seen->commands, "cholesky", &ScriptCommand::kernel);
  ASSERT_NE(told, outcome.seen->commands.end());
  EXPECT_EQ(told->line, 3);
  EXPECT_EQ(told->output.to_string(), "f32[2,2]");
}

TEST_F(OnVulkan, failures_of_what_another_device_computes_reach_who_reads) {
  const LogCapture quiet;
  CppKernelSpec spec;
  spec.name = "failing";
  spec.run = [](const CppCall&, std::size_t, std::size_t) { throw std::runtime_error{"no"}; };
  system.add_kernel(std::move(spec));
  ScriptHost own{device.client(), system.executor(), system.kernels()};
  const auto caught =
      own.start({"caught", "assert(not pcall(read, failing(buffer{1} + 1) * 2))"}, {});
  EXPECT_TRUE(caught.done.wait().has_value());
  const auto seen = own.start({"seen", "local b = failing(buffer{1})\nwait(b + 1)"}, {});
  EXPECT_EQ(seen.done.wait().error().code(), ErrorCode::handler_failed);
}

class OnNull : public Scripts {
 protected:
  OnNull() : Scripts{"null"} {}
};

TEST_F(OnNull, scripts_run_without_computing) {
  const Outcome outcome = run(
      "local b = fill{shape = {64, 64}}\nfor i = 1, 300 do b = relu(b) + 1 end\nprint(#read(b))");
  EXPECT_EQ(outcome.text(), "4096\n");
  EXPECT_GT(outcome.result->commands, 10U);
}

}  // namespace
}  // namespace stoker
