// kernel{…}: kernels that a script defines, in GLSL for GPUs, beside a function of Lua's for the CPU.
//
// A definition is a KernelSpec, as a program writes it. Its name belongs to its script: the kernel is called by what
// kernel{} returns and as a method of buffers, and no catalog knows it. Scripts that define the same share one kernel.

#include <map>
#include <mutex>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/script.hpp"
#include "stoker/api/script/kernel_table.hpp"
#include "stoker/device/commands/command_scheduler.hpp"
#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/run/file_thread.hpp"
#include "stoker/runtime/process/process.hpp"
#include "stoker/runtime/settings.hpp"

namespace stoker::script {
namespace {

constexpr std::size_t most_kernels = 64;
// About as long as compiling one dtype takes, in instructions.
constexpr std::uint64_t steps_per_variant = 1'000'000;
constexpr std::uint64_t steps_per_byte = 1000;
// What the compiler usually holds for each byte of text while it compiles. Nothing holds it to that.
constexpr std::size_t bytes_while_compiling = 64;
// What GlslCompiler::try_compile_bounded() may take, and what lies below it.
constexpr std::size_t compiler_stack = std::size_t{65} << 20;
// A definition beside its texts.
constexpr std::size_t bytes_of_kernel = 8192;

using KernelPtr = std::shared_ptr<const Kernel>;

/// In a script `line` is the script's, so that of the GLSL is another detail.
Error with_glsl_line(const Error& error) {
  if (error.code() != ErrorCode::compile_failed) return error;
  std::vector<Detail> details;
  for (const Detail& one : error.details())
    if (one.key != "file")
      details.push_back({one.key == "line" ? "glsl_line" : one.key, one.value});
  const std::string_view line = error.detail("line");
  return {std::string{error.op()}, error.code(),
          (line.empty() ? "its GLSL does not compile: "
                        : "line " + std::string{line} + " of its GLSL does not compile: ") +
              std::string{error.detail("message")},
          std::move(details)};
}

/// The kernels that scripts have defined, for as long as somebody holds them: a device's programs do, which the next
/// run of a script then finds. Threads: any.
class KnownKernels : public std::enable_shared_from_this<KnownKernels> {
 public:
  [[nodiscard]] KernelPtr find(const std::string& identity) {
    const std::scoped_lock lock{mutex_};
    const auto known = kernels_.find(identity);
    return known == kernels_.end() ? nullptr : known->second.lock();
  }
  /// The kernel, or the one that another script has added meanwhile.
  KernelPtr add(const std::string& identity, KernelPtr kernel) {
    const std::scoped_lock lock{mutex_};
    std::erase_if(kernels_, [](const auto& one) { return one.second.expired(); });
    std::weak_ptr<const Kernel>& known = kernels_[identity];
    if (KernelPtr earlier = known.lock()) return earlier;
    known = kernel;
    return kernel;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const Kernel>> kernels_;
};
using KnownKernelsPtr = std::shared_ptr<KnownKernels>;

Result<KernelPtr> compiled(const KernelTable& table, KnownKernels& known,
                           const CancelToken& cancel) {
  auto kernel = try_make_kernel(table.spec, cache_directory(), cancel);
  if (kernel.has_error()) return with_glsl_line(kernel.error());
  return known.add(table.identity, std::make_shared<const Kernel>(std::move(*kernel)));
}

/// Compiles away from the executor's threads, on a stack that the compiler does not overflow.
Future<KernelPtr> compile(Script& script, KernelTable table, KnownKernelsPtr known) {
  return Process::spawn(
      script.services().compiler(),
      [table = std::move(table), known = std::move(known), cancel = script.budget().cancel()] {
        return compiled(table, *known, cancel);
      },
      {.stack_bytes = compiler_stack, .name = "compiles a kernel"});
}

std::size_t bytes_of(const Kernel& kernel, const KernelSpec& spec) {
  std::size_t bytes = bytes_of_kernel + 2 * spec.glsl.text().size() + spec.summary.size();
  for (const auto& shader : kernel.shaders)
    for (const ShaderVariant& variant : shader->variants)
      bytes += variant.spirv.size() * sizeof(std::uint32_t);
  return bytes;
}

void check_name(lua_State* L, const std::string& name) {
  if (!is_taken(L, name)) return;
  raise(L, Error{define_op,
                 ErrorCode::already_exists,
                 "there is a function of buffers, or a field, of this name already: " + name,
                 {{"kernel", name}}});
}

const Script::Own& own_upvalue(lua_State* L) {
  return *static_cast<const Script::Own*>(lua_touserdata(L, lua_upvalueindex(1)));
}

void push_params(lua_State* L, const ParamSet& params) {
  lua_newtable(L);
  for (std::size_t i = 0; i < params.schema().size(); ++i) {
    const ParamSpec& spec = params.schema()[i];
    switch (spec.type) {
      case ParamType::boolean: lua_pushboolean(L, params.flag(spec.name) ? 1 : 0); break;
      case ParamType::integer: lua_pushinteger(L, params.integer(spec.name)); break;
      default: lua_pushnumber(L, params.real(spec.name)); break;
    }
    lua_setfield(L, -2, spec.name.c_str());
  }
}

/// What the script's function returned, from stack index `first` on, instead of `expected`.
void check_returned(lua_State* L, const std::string& name, int first,
                    const std::vector<expr::Value>& expected) {
  const auto refuse = [&](ErrorCode code, std::string what, std::string wanted, std::string got) {
    raise(L, Error{name,
                   code,
                   "its function `cpu` returned " + std::move(what),
                   {{"expected", std::move(wanted)}, {"got", std::move(got)}}});
  };
  const auto count = static_cast<std::size_t>(lua_gettop(L) - first + 1);
  if (count != expected.size())
    refuse(ErrorCode::arity_mismatch, "another number of values than the kernel has outputs",
           std::to_string(expected.size()), std::to_string(count));
  for (std::size_t i = 0; i < count; ++i) {
    const int index = first + static_cast<int>(i);
    const std::string wanted = expected[i].spec().to_string();
    const expr::Value* value = test_buffer(L, index);
    if (value == nullptr)
      refuse(ErrorCode::invalid_argument, "something that is no buffer", wanted,
             luaL_typename(L, index));
    if (value->dtype() != expected[i].dtype())
      refuse(ErrorCode::dtype_mismatch, "a buffer of another dtype than the kernel's output",
             wanted, value->spec().to_string());
    if (value->shape() != expected[i].shape())
      refuse(ErrorCode::shape_mismatch, "a buffer of another shape than the kernel's output",
             wanted, value->spec().to_string());
  }
}

/// Instead of the GLSL: the function of Lua's. The call is checked as that of the kernel is.
int call_function(lua_State* L, const Operation& operation, const CallArguments& arguments) {
  const std::vector<expr::Value> expected = make_call(L, operation, arguments);
  const ParamSet params =
      value_or_raise(L, ParamSet::resolve(operation.name, operation.params, arguments.options));
  lua_settop(L, 0);
  const int count = static_cast<int>(arguments.inputs.size()) + 1;
  luaL_checkstack(L, count + 4, "a kernel's function");
  lua_pushvalue(L, lua_upvalueindex(2));
  push_outputs(L, arguments.inputs);
  push_params(L, params);
  lua_call(L, count, LUA_MULTRET);
  check_returned(L, operation.name, 1, expected);
  return lua_gettop(L);
}

/// Whether a GPU lacks what the kernel needs in this call. What else is wrong with the call is not said here.
bool is_lacking(Script& script, const Script::Own& own, const CallArguments& arguments) {
  const auto params =
      ParamSet::resolve(own.operation.name, own.operation.params, arguments.options);
  if (params.has_error()) return false;
  std::vector<TensorSpec> inputs;
  for (const expr::Value& input : arguments.inputs) inputs.push_back(input.spec());
  const auto there =
      script.services().device->scheduler().executables().get(own.kernel, inputs, *params);
  return there.has_error() && there.error().code() == ErrorCode::unsupported;
}

int call_own_kernel(lua_State* L, Script& script) {
  const Script::Own& own = own_upvalue(L);
  const DeviceInfo& device = script.services().device->info();
  const bool has_function = !lua_isnil(L, lua_upvalueindex(2));
  const bool on_cpu = device.type == DeviceType::cpu;
  if (on_cpu && !has_function)
    raise(L, Error{own.operation.name,
                   ErrorCode::unsupported,
                   "this kernel has GLSL only, which a CPU does not run: give its definition "
                   "`cpu = function(x, …, params)` of operations, or run the script on a GPU",
                   {{"kernel", own.operation.name}, {"device", device.name}}});
  const CallArguments arguments = check_arguments(L, own.operation, 1);
  if (has_function && (on_cpu || is_lacking(script, own, arguments)))
    return call_function(L, own.operation, arguments);
  return push_outputs(L, make_call(L, own.operation, arguments));
}

int define_kernel(lua_State* L, Script& script) {
  KernelTable table = check_kernel_table(L, 1);
  const KernelSpec spec = table.spec;
  lua_settop(L, 1);
  lua_pushstring(L, "cpu");
  const int type = lua_rawget(L, 1);
  if (type != LUA_TNIL && type != LUA_TFUNCTION)
    raise(L, Error{define_op,
                   ErrorCode::invalid_parameter,
                   "cpu must be a function of the inputs and a table of the parameters",
                   {{"parameter", "cpu"}, {"got", lua_typename(L, type)}}});
  check_name(L, spec.name);
  if (script.own_operations().size() == most_kernels)
    raise(L, Error{define_op,
                   ErrorCode::limit_exceeded,
                   "a script may define " + std::to_string(most_kernels) + " kernels",
                   {{"limit", std::to_string(most_kernels)}}});
  const std::size_t text = spec.glsl.text().size();
  // As much each time, known or not.
  spend(L, spec.dtypes.size() * (steps_per_variant + steps_per_byte * text));
  const KernelPtr kernel = [&] {
    const MemoryLoan compiling =
        value_or_raise(L, script.evaluator().lend(bytes_while_compiling * text));
    auto* const known = static_cast<KnownKernels*>(lua_touserdata(L, lua_upvalueindex(1)));
    if (KernelPtr there = known->find(table.identity)) return there;
    return await_work(L, script, spec.name,
                      compile(script, std::move(table), known->shared_from_this()));
  }();
  MemoryLoan loan = value_or_raise(L, script.evaluator().lend(bytes_of(*kernel, spec)));
  const Script::Own& own =
      script.keep({kernel_operation(spec.name, kernel), kernel, std::move(loan)});
  lua_pushlightuserdata(L, const_cast<Script::Own*>(&own));
  lua_insert(L, -2);
  lua_pushcclosure(L, function<call_own_kernel>, 2);
  add_method(L, spec.name);
  return 1;
}

class KernelLibrary final : public ScriptExtension {
 public:
  void open(lua_State* L) override {
    lua_pushlightuserdata(L, known_.get());
    lua_pushcclosure(L, function<define_kernel>, 1);
    lua_setglobal(L, define_op);
  }
  void on_returned(lua_State*, int) override {}

 private:
  const KnownKernelsPtr known_ = std::make_shared<KnownKernels>();
};

}  // namespace
}  // namespace stoker::script

namespace stoker {

std::shared_ptr<ScriptExtension> script_kernels() {
  return std::make_shared<script::KernelLibrary>();
}

}  // namespace stoker
