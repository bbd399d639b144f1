-- A model that is a script: y = 2 x + 1, for rows of two numbers.
--
--     stoker serve line=examples/scripts/line_model.lua
return {
  inputs = {{name = "x", shape = {"rows", 2}}},
  outputs = {{name = "y", shape = {"rows", 2}}},
  predict = function(given)
    return {y = given.x * 2 + 1}
  end,
}
