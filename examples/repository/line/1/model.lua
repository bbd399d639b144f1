-- Version 1 of a model in a repository: y = 2 x + 1, for rows of two numbers.
--
--     stoker serve --repository examples/repository
return {
  inputs = {{name = "x", shape = {"rows", 2}}},
  outputs = {{name = "y", shape = {"rows", 2}}},
  predict = function(given)
    return {y = given.x * 2 + 1}
  end,
}
