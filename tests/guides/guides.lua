-- The examples of docs/scripts.md and docs/images.md; see guides_test.cpp.
do
  local photo = image.load(args.input or "photo.jpg")
  local soft  = gaussian_blur(grayscale(photo), {radius = 3})
  image.save(sobel(soft), "edges.png")
end

do
  local photo = image.load(args.input or "photo.jpg")
  local mask = photo:grayscale():threshold({value = 0.6, mode = "binary_inv"})
  local opened = mask:erode({radius = 2}):dilate({radius = 2})
  local turned = opened:rotate({angle = 30, expand = true})
  print(histogram(turned, {bins = 2}))
end

local x, scale, bias, y = buffer{{1, 2}, {3, 4}}, buffer{1, 1}, buffer{0, 0}
y = layer_norm(x, scale, bias, {epsilon = 1e-6})
y = x:reduce_sum({axes = {1}}):sqrt()
y = where(x:greater(2), atan2(x, y), x ^ 2)
y = iota{shape = {2, 2}} * mean(x, {axes = {0}}):broadcast{shape = {2, 2}}
assert(table.concat(read(y), " ") == "0.0 3.0 4.0 9.0")

do
  local function swish(x, beta) return x / (1 + exp(-beta * x)) end
  local smooth = swish(buffer{-1, 0, 1}, 2)  -- one kernel
  local blend = kernel{
    name = "blend",
    inputs = {"x", "mask"},
    params = {strength = 1.0},
    glsl = [[
      void main() {
        uint i = stoker_index();
        if (i >= n) return;
        float left = x(i == 0u ? 0u : i - 1u), right = x(min(i + 1u, n - 1u));
        y(i) = mix(x(i), 0.5 * (left + right), strength * mask(i));
      }]],
    cpu = function(x, mask, p)
      local last = x.size - 1
      local left = concatenate(x:slice{{0, 1}}, x:slice{{0, last}}, {axis = 0})
      local right = concatenate(x:slice{{1, nil}}, x:slice{{last, nil}}, {axis = 0})
      local share = p.strength * mask
      return x + share * ((left + right) / 2 - x)
    end,
  }
  local y = blend(buffer{0, 4, 8, 0}, buffer{1, 0, 1, 1}, {strength = 0.5}):relu()
  assert(read(smooth)[2] == 0)
  assert(table.concat(read(y), " ") == "1.0 4.0 5.0 2.0")
end

do
  local m = iota{shape = {3, 4}}
  local row, corner = m:slice{1}, m:slice{-1, 0}
  local columns = m:slice{{}, {1, 3}}
  local even = m:slice{{nil, nil, 2}}
  for i = 0, 2 do wait(m:slice{i} * i) end  -- compiled once
  assert(read(row)[1] == 4 and read(corner)[1] == 8)
  assert(columns.shape[2] == 2 and even.shape[1] == 2)
end

do
  local digits = model.load("digits.safetensors")
  local rows = iota{shape = {4, 8, 8, 1}}:cast{dtype = "f32"} / 256
  local shares = digits:predict{[digits.inputs[1].name] = rows}
  for name, buffer in pairs(shares) do print(name, argmax(softmax(buffer), {axis = 1})) end
  print(digits)
  assert(shares[digits.outputs[1].name].shape[2] == 10)
end

do
  local m = model.load("filter.onnx")
  local out = m:predict{input = image.load("cat.png")}
  local same = m:predict({input = image.load("cat.png")}, {image = {input = {mean = 127, std = {128, 128, 128}}}})
  print(out.output, same.output)
  assert(table.concat(read(out.output), " ") == "510.0 0.0 254.0")
  assert(table.concat(read(same.output), " ") == "2.0 -1.984375 0.0")
end

do
  local digits = nn.load("digits.safetensors")
  local rows = iota{shape = {4, 8, 8, 1}}:cast{dtype = "f32"} / 256
  local shares = digits:predict(rows):softmax()
  print(argmax(shares, {axis = 1}))
  assert(shares.shape[1] == 4 and shares.shape[2] == 10)
end

do
  local frames = stack(zeros{shape = {2, 3}}, ones{shape = {2, 3}}, {axis = 1})
  local spread = variance(frames, {axes = {1}, keepdims = true})
  local first, rest = split(frames, {size = 1})
  local key = random_key{seed = 42}
  local noise, next_key = random_normal(key, {shape = {2, 3}, deviation = 0.1})
  local limited = clip(ones{shape = {2, 3}} + noise, 0, 1)
  assert(read(spread)[1] == 0.25 and rest.shape[1] == 1 and first.shape[2] == 2)
  assert(limited.size == 6 and next_key.dtype == "u32")
end

local a, b = buffer{{1, 2}}, buffer{{1, 2}}
local ok, e = pcall(matmul, a, b)
if not ok and e.code == "shape_mismatch" then print(e.inputs, e) end
assert(not ok and e.code == "shape_mismatch")
