-- A model that is no network: what it takes, what it gives, and how.
--     stoker predict examples/scripts/edges_model.lua --input photo=examples/data/china.jpg
return {
  inputs = {{name = "photo", dtype = "u8", shape = {"rows", "columns", 3}}},
  outputs = {"edges", {name = "light", dtype = "f32", shape = {}}},
  predict = function(x)
    local grey = grayscale(x.photo)
    local light = mean(grey:cast{dtype = "f32"}) / 255
    return {edges = sobel(gaussian_blur(grey, {radius = 2})), light = light}
  end,
}
