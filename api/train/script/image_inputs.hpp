// Pictures as inputs of models in scripts:
//
//     m:predict{input = image.load("cat.png")}
//     m:predict({input = photo}, {image = {input = {mean = 127, std = 128, size = {240, 320}, layout = "nchw"}}})
//
// A u8 buffer that is like a picture becomes what the model takes, where the input takes a picture unasked
// (takes_picture() of api/data/image_input.hpp). With options for an input, every picture does so, or the
// call is refused.
//
// Threads: the script's process. Nothing runs until values are needed, and the limits count it. Errors are raised:
// invalid_argument; not_found for options of an input that is not given, with the nearest.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stoker/api/data/image_input.hpp"
#include "stoker/pipeline/script/lua/lua_glue.hpp"
#include "stoker/pipeline/tensor/graph/value.hpp"

namespace stoker::nn::script {

/// Of one prediction.
class ImageInputs {
 public:
  /// Reads the table {image = {NAME = {mean =, std =, size =, layout =, colours =}, …}} at `index`, if there is one.
  ImageInputs(lua_State* L, int index);

  /// What the input gets: what was given, or what it becomes as a picture.
  [[nodiscard]] expr::Value input(lua_State* L, const expr::Value& given,
                                  const ImageTarget& target);
  /// After the last input: raises for options whose input was not there.
  void check_used(lua_State* L) const;

 private:
  std::map<std::string, ImageOptions> unused_;
  std::vector<std::string> names_;  ///< of inputs that came
};

}  // namespace stoker::nn::script
