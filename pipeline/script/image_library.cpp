// image.load(path) and image.save(buffer, path, {quality =}): PNG and JPEG files beneath the
// directories the script was allowed. Decoding and encoding run on the host's file thread; the
// script's process is parked meanwhile.

#include <algorithm>
#include <functional>

#include "stoker/pipeline/image_io.hpp"
#include "stoker/pipeline/script/buffer_library.hpp"
#include "stoker/pipeline/script/script.hpp"

namespace stoker::script {
namespace {

/// Runs `work` on the file thread and waits for it; it may refer to the caller's stack. Errors are
/// `op`'s: the function that the script called.
template <class T>
Result<T> on_file_thread(Script& script, std::string_view op, std::function<Result<T>()> work) {
  Promise<T> promise;
  const Future<T> future = promise.future();
  script.services().files->post([&work, promise = std::move(promise)]() mutable {
    promise.set(detail::call_as_result<T>("image", work));
  });
  future.state()->observe();
  const Budget::Away away{script.budget()};
  future.state()->wait();
  script.budget().begin_turn();
  const Result<T>& result = future.state()->result();
  if (!result.has_error()) return result;
  const Error& error = result.error();
  return Error{std::string{op},
               error.code(),
               std::string{error.reason()},
               {error.details().begin(), error.details().end()}};
}

int load(lua_State* L, Script& script) {
  const std::filesystem::path path =
      value_or_raise(L, script.paths().resolve("image.load", check_text(L, 1)));
  check_budget(L);
  using Shared = std::shared_ptr<const Image>;
  const auto read = [&]() -> Result<Shared> {
    STOKER_ASSIGN(Image loaded, load_image(path));
    return std::make_shared<const Image>(std::move(loaded));
  };
  const Shared image = value_or_raise(L, on_file_thread<Shared>(script, "image.load", read));
  push_buffer(L, value_or_raise(L, script.evaluator().constant(image->spec, image->bytes)));
  if (script.options().observer) script.options().observer->on_loaded(path, image->spec);
  return 1;
}

int check_quality(lua_State* L, int index) {
  constexpr int usual = 90;
  if (lua_isnoneornil(L, index)) return usual;
  luaL_checktype(L, index, LUA_TTABLE);
  check_options(L, index, "image.save", {"quality"});
  lua_getfield(L, index, "quality");
  return static_cast<int>(std::clamp<lua_Integer>(luaL_optinteger(L, -1, usual), 0, 101));
}

int save(lua_State* L, Script& script) {
  const LazyPtr value = check_buffer(L, 1, "image.save");
  const std::filesystem::path path =
      value_or_raise(L, script.paths().resolve("image.save", check_text(L, 2)));
  const int quality = check_quality(L, 3);
  if (!image_format(path))
    raise(L, Error{"image.save",
                   ErrorCode::unsupported,
                   "the name must end in .png, .jpg or .jpeg",
                   {{"path", path.string()}}});
  const auto bytes = value_or_raise(L, script.evaluator().read(value, 0, value->spec.bytes()));
  value_or_raise(L, on_file_thread<void>(script, "image.save", [&] {
                   return save_image(path, value->spec, bytes, quality);
                 }));
  if (script.options().observer) script.options().observer->on_saved(path, value->spec);
  push_text(L, path.string());
  return 1;
}

}  // namespace

void open_images(lua_State* L) {
  lua_newtable(L);
  const luaL_Reg functions[] = {
      {"load", function<load>}, {"save", function<save>}, {nullptr, nullptr}};
  luaL_setfuncs(L, functions, 0);
  lua_setglobal(L, "image");
}

}  // namespace stoker::script
