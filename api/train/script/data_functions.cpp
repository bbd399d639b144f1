// Data sets of scripts: readers, nn.rows, nn.split, nn.normalize, nn.one_hot.
#include "stoker/api/data/checks.hpp"
#include "stoker/api/data/csv.hpp"
#include "stoker/api/data/idx.hpp"
#include "stoker/api/data/image_folder.hpp"
#include "stoker/api/data/normalize.hpp"
#include "stoker/api/data/npy_rows.hpp"
#include "stoker/api/data/split.hpp"
#include "stoker/api/train/script/handles.hpp"
#include "stoker/api/train/script/option_table.hpp"
#include "stoker/api/train/script/prepared_rows.hpp"
#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/library/buffer_values.hpp"

namespace stoker::nn::script {
namespace {

RowOptions row_options(lua_State* L, const OptionTable& options) {
  RowOptions made;
  if (auto extents = options.integers("shape")) {
    if (extents->empty()) refuse(L, "shape", "a row's shape has at least one extent, got none");
    (void)lua::value_or_raise(L, Shape::try_make(*extents, "nn"));
    made.shape = std::move(*extents);
  }
  made.scale = options.real("scale");
  return made;
}

/// Pushes data of `read`, changed and checked as the options say.
int push_rows(lua_State* L, const OptionTable& options, bool check, std::function<Dataset()> read) {
  check = options.flag("check").value_or(check);
  push_data(L, [read = std::move(read), changes = row_options(L, options), check] {
    const Dataset data = read();
    if (check) check_rows(data);
    return with_row_options(data, changes);
  });
  return 1;
}

std::vector<CsvColumn> columns(lua_State* L, const OptionTable& options, const char* name) {
  std::vector<CsvColumn> made;
  if (!options.push(name)) return made;
  const auto add = [&](int index) {
    int whole = 0;
    const lua_Integer place = lua_tointegerx(L, index, &whole);
    if (lua_type(L, index) == LUA_TSTRING)
      made.emplace_back(std::string{lua::check_text(L, index)});
    else if (whole != 0 && std::in_range<int>(place))
      made.emplace_back(static_cast<int>(place));
    else
      options.refuse_value(name, "a column's name or place, or a list of such");
  };
  if (lua_istable(L, -1)) {
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, -1));
    for (lua_Integer i = 1; i <= count; ++i) {
      lua::spend(L, 2);
      lua_rawgeti(L, -1, i);
      add(-1);
      lua_pop(L, 1);
    }
  } else {
    add(-1);
  }
  lua_pop(L, 1);
  return made;
}

/// nn.csv(path, {label = | targets =, inputs =, header =, delimiter =, skip_lines =, missing =})
int csv(lua_State* L, lua::Script&) {
  const std::filesystem::path path = check_path(L, 1, "csv");
  const OptionTable options{L,
                            2,
                            "csv",
                            {"label", "targets", "inputs", "header", "delimiter", "skip_lines",
                             "missing", "shape", "scale", "check"}};
  CsvOptions form;
  form.header = options.flag("header").value_or(true);
  form.skip_lines = options.integer("skip_lines").value_or(0);
  const std::string delimiter = options.text("delimiter").value_or(",");
  if (delimiter.size() != 1) refuse(L, "csv", "delimiter must be one character");
  form.delimiter = delimiter[0];
  const std::string missing = options.text("missing").value_or("refused");
  if (missing != "refused" && missing != "nan")
    refuse(L, "csv", "missing must be \"refused\" or \"nan\", not '" + missing + "'");
  form.missing = missing == "nan" ? MissingValue::nan : MissingValue::refused;
  form.finite = options.flag("check").value_or(true);
  form.inputs = columns(L, options, "inputs");
  form.targets = columns(L, options, "label");
  const bool label = !form.targets.empty();
  if (label) {
    form.target_dtype = DType::s32;
    form.scalar_targets = true;
  }
  const std::vector<CsvColumn> targets = columns(L, options, "targets");
  if (label && (!targets.empty() || form.targets.size() > 1))
    refuse(L, "csv", "label is one column of class indices, targets are several of numbers");
  if (!label) form.targets = targets;
  if (form.targets.empty())
    refuse(L, "csv", "say which column is the label, or which ones are targets");
  return push_rows(L, options, true, [path, form] { return load_csv(path, form).data; });
}

/// nn.idx(inputs, labels)
int idx(lua_State* L, lua::Script&) {
  const std::filesystem::path inputs = check_path(L, 1, "idx");
  const std::filesystem::path targets = check_path(L, 2, "idx");
  const OptionTable options{L, 3, "idx", {"shape", "scale", "check"}};
  return push_rows(L, options, true, [=] { return idx_dataset(inputs, targets); });
}

std::vector<std::filesystem::path> paths_at(lua_State* L, int index, std::string_view op) {
  if (!lua_istable(L, index)) return {check_path(L, index, op)};
  std::vector<std::filesystem::path> paths;
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, index));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua::spend(L, 2);
    lua_rawgeti(L, index, i);
    paths.push_back(check_path(L, lua_gettop(L), op));
    lua_pop(L, 1);
  }
  return paths;
}

/// nn.npy(inputs, targets): a path or a list of them, each
int npy(lua_State* L, lua::Script&) {
  const auto inputs = paths_at(L, 1, "npy");
  const auto targets = paths_at(L, 2, "npy");
  const OptionTable options{L, 3, "npy", {"shape", "scale", "check"}};
  return push_rows(L, options, true, [=] { return npy_dataset(inputs, targets); });
}

/// nn.npz(path, {inputs = "x", targets = "y"})
int npz(lua_State* L, lua::Script&) {
  const std::filesystem::path path = check_path(L, 1, "npz");
  const OptionTable options{L, 2, "npz", {"inputs", "targets", "shape", "scale", "check"}};
  const std::vector<std::string> inputs = options.texts("inputs");
  const std::vector<std::string> targets = options.texts("targets");
  if (inputs.empty() || targets.empty())
    refuse(L, "npz", "say which arrays are inputs and which are targets");
  return push_rows(L, options, true, [=] { return npz_dataset(path, inputs, targets); });
}

/// nn.image_folder(path)
int folder(lua_State* L, lua::Script&) {
  const std::filesystem::path path = check_path(L, 1, "image_folder");
  const OptionTable options{L, 2, "image_folder", {"shape", "scale", "check"}};
  // Bytes are never NaN, so the pictures are not decoded just to look.
  return push_rows(L, options, false, [=] { return image_folder(path).data; });
}

HostArray array_of(lua_State* L, const OptionTable& options, const char* name, DType dtype) {
  if (!options.push(name)) return {};
  lua::Elements elements = lua::read_elements(L, lua_gettop(L), dtype);
  lua_pop(L, 1);
  if (elements.shape.rank() == 0) refuse(L, "rows", std::string{name} + " must be a table");
  charge(L, elements.bytes.size());
  return {{dtype, elements.shape}, std::move(elements.bytes)};
}

/// nn.rows{inputs = {{…}, …}, labels = {…}} or targets = {{…}, …}: numbers of the script's own
int rows(lua_State* L, lua::Script&) {
  const OptionTable options{
      L, 1, "rows", {"inputs", "labels", "targets", "shape", "scale", "check"}};
  const HostArray inputs = array_of(L, options, "inputs", DType::f32);
  const HostArray labels = array_of(L, options, "labels", DType::s32);
  const HostArray targets = array_of(L, options, "targets", DType::f32);
  if (inputs.bytes.empty() || labels.bytes.empty() == targets.bytes.empty())
    refuse(L, "rows", "expected inputs, and labels (class indices) or targets (numbers)");
  const HostArray& wanted = labels.bytes.empty() ? targets : labels;
  const std::int64_t count = inputs.spec.shape[0];
  if (wanted.spec.shape[0] != count)
    refuse(L, "rows",
           std::to_string(count) + " inputs, but " + std::to_string(wanted.spec.shape[0]) +
               (labels.bytes.empty() ? " targets" : " labels"));
  return push_rows(L, options, true, [=] {
    return dataset_from_memory({count, {inputs}, {wanted}});
  });
}

/// nn.split(data, share, {seed =, shuffle =}): two sets; `share` of the rows are in the second
int split_rows(lua_State* L, lua::Script&) {
  const DataPtr data = check_data(L, 1, "split");
  SplitOptions how;
  if (lua_type(L, 2) != LUA_TNUMBER)
    refuse(L, "split", "expected the share of rows to hold out, such as 0.2, got " + type_at(L, 2));
  how.val_split = lua_tonumber(L, 2);
  if (!(how.val_split >= 0 && how.val_split <= 1))
    refuse(L, "split", "the share of rows to hold out is from 0 to 1");
  const OptionTable options{L, 3, "split", {"seed", "shuffle"}};
  how.seed = options.seed();
  how.shuffle = options.flag("shuffle").value_or(true);
  // Both halves must come from one shuffle, also where no seed is given.
  struct Halves {
    std::optional<Split> made;
  };
  const auto halves = [halves = std::make_shared<Halves>(), data, how]() -> const Split& {
    if (!halves->made) halves->made = split(data->read(), how);
    return *halves->made;
  };
  push_data(L, [halves] { return halves().train; });
  push_data(L, [halves] { return halves().validation; });
  return 2;
}

/// nn.normalize(data, {method =, axes =, like =}): inputs on a common scale, measured on `like`
int normalize_rows(lua_State* L, lua::Script&) {
  const DataPtr data = check_data(L, 1, "normalize");
  const OptionTable options{L, 2, "normalize", {"method", "axes", "like"}};
  NormalizeOptions how;
  how.method = options.word("method", normalize_methods).value_or(how.method);
  if (const auto axes = options.integers("axes")) how.axes = Axes(axes->begin(), axes->end());
  DataPtr like = data;
  if (options.push("like")) like = check_data(L, lua_gettop(L), "normalize");
  push_data(L, [data, like, how] { return normalized(data->read(), like->read(), how); });
  return 1;
}

/// nn.one_hot(data, classes): class indices as vectors
int one_hot_rows(lua_State* L, lua::Script&) {
  const DataPtr data = check_data(L, 1, "one_hot");
  int whole = 0;
  const lua_Integer classes = lua_tointegerx(L, 2, &whole);
  if (whole == 0) refuse(L, "one_hot", "expected the number of classes, got " + type_at(L, 2));
  if (classes < 1)
    refuse(L, "one_hot",
           "expected a number of classes of at least 1, got " + std::to_string(classes));
  push_data(L, [data, classes] { return with_one_hot_targets(data->read(), classes); });
  return 1;
}

}  // namespace

void open_data(lua_State* L) {
  const luaL_Reg functions[] = {{"csv", lua::function<csv>},
                                {"idx", lua::function<idx>},
                                {"npy", lua::function<npy>},
                                {"npz", lua::function<npz>},
                                {"image_folder", lua::function<folder>},
                                {"rows", lua::function<rows>},
                                {"split", lua::function<split_rows>},
                                {"normalize", lua::function<normalize_rows>},
                                {"one_hot", lua::function<one_hot_rows>},
                                {nullptr, nullptr}};
  luaL_setfuncs(L, functions, 0);
}

}  // namespace stoker::nn::script
