// Pictures as inputs of models in scripts:
//
//     m:predict{input = image.load("cat.png")}
//     m:predict({input = photo}, {image = {input = {mean = 127, std = 128, size = {240, 320}, layout = "nchw"}}})
//
// A u8 buffer that looks like a picture is converted for the model if the input takes pictures without
// options (takes_picture() of api/data/image_input.hpp). If there are options for an input, its value must
// be a picture and is always converted; otherwise the call is refused.
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

/// The pictures of one prediction.
class ImageInputs {
 public:
  /// Reads the table {image = {NAME = {mean =, std =, size =, layout =, colours =}, …}} at `index`, if there is one.
  ImageInputs(lua_State* L, int index);

  /// The value for the input: the given one, or the converted picture.
  [[nodiscard]] expr::Value input(lua_State* L, const expr::Value& given,
                                  const ImageTarget& target);
  /// Called after the last input; raises for options whose input was not given.
  void check_used(lua_State* L) const;

 private:
  std::map<std::string, ImageOptions> unused_;
  std::vector<std::string> names_;  ///< of the given inputs
};

}  // namespace stoker::nn::script
