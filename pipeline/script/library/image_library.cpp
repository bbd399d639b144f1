// image.load(path) and image.save(buffer, path, {quality =}): PNG and JPEG files beneath the
// directories the script was allowed. Decoding and encoding run on the host's file thread; the
// script's process is parked meanwhile.

#include <algorithm>
#include <memory>

#include "stoker/pipeline/image/image_io.hpp"
#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/run/file_thread.hpp"

namespace stoker::script {
namespace {

namespace fs = std::filesystem;

/// The size of a file; 0 if it is no regular one, which reading refuses.
std::uintmax_t size_of_file(const fs::path& path) {
  std::error_code failure;
  const std::uintmax_t size = fs::file_size(path, failure);
  return failure ? 0 : size;
}

struct Encoded {
  std::vector<std::byte> file;
  TensorSpec spec;
};

Result<std::shared_ptr<const Encoded>> read_encoded(const fs::path& path,
                                                    const ImageLimits& limits) {
  Encoded encoded;
  STOKER_ASSIGN(encoded.file, read_image_file(path, limits));
  auto spec = image_spec(encoded.file);
  if (!spec) return spec.error().with("path", path.string());
  encoded.spec = *spec;
  return std::make_shared<const Encoded>(std::move(encoded));
}

/// Raises that something does not fit into the budget, with the file's name.
template <class T> T fits_or_raise(lua_State* L, Result<T> granted, const fs::path& path) {
  if (granted.has_error()) raise(L, granted.error().with("path", path.string()));
  if constexpr (!std::is_void_v<T>) return std::move(*granted);
}

/// Nothing of the picture's size is read or decoded before the budget has room for it.
int load(lua_State* L, Script& script) {
  const fs::path path = value_or_raise(L, script.paths().find("image.load", check_text(L, 1)));
  Evaluator& evaluator = script.evaluator();
  constexpr std::string_view op = "image.load";
  const auto size = on_file_thread<std::uintmax_t>(
      L, script, op, [path]() -> Result<std::uintmax_t> { return size_of_file(path); });
  const MemoryLoan loan = fits_or_raise(L, evaluator.lend(size), path);
  ImageLimits limits;
  limits.file_bytes = std::min(limits.file_bytes, static_cast<std::int64_t>(size));
  const auto encoded = on_file_thread<std::shared_ptr<const Encoded>>(
      L, script, op, [path, limits] { return read_encoded(path, limits); });
  spend(L, 1000 + encoded->spec.bytes() / 64);
  fits_or_raise(L, evaluator.room_for_buffer(encoded->spec.bytes()), path);

  using Picture = std::shared_ptr<const Image>;
  const auto decode = [encoded, path, stop = script.budget().cancel()]() -> Result<Picture> {
    auto image = decode_image(encoded->file, {}, stop);
    if (!image) return image.error().with("path", path.string());
    return std::make_shared<const Image>(*std::move(image));
  };
  const auto image = on_file_thread<Picture>(L, script, op, decode);
  push_buffer(L, value_or_raise(L, evaluator.constant(image->spec, image->bytes)));
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
  const expr::Value value = check_buffer(L, 1, "image.save");
  const fs::path path = value_or_raise(L, script.paths().resolve("image.save", check_text(L, 2)));
  const int quality = check_quality(L, 3);
  if (!image_format(path))
    raise(L, Error{"image.save",
                   ErrorCode::unsupported,
                   "the name must end in .png, .jpg or .jpeg",
                   {{"path", path.string()}}});
  spend(L, 1000 + value.spec().bytes() / 64);
  auto bytes = std::make_shared<const std::vector<std::byte>>(
      value_or_raise(L, script.evaluator().read(value, 0, value.spec().bytes())));
  on_file_thread<void>(L, script, "image.save",
                       [path, spec = value.spec(), bytes = std::move(bytes), quality,
                        stop = script.budget().cancel()] {
                         return save_image(path, spec, *bytes, {.quality = quality}, stop);
                       });
  if (script.options().observer) script.options().observer->on_saved(path, value.spec());
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
