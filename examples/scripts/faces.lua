-- Faces found in a photo, and frames around them drawn into it. The model is not here: examples/data/README.md says
-- where it is.
--     stoker run examples/scripts/faces.lua model=version-RFB-320.onnx input=photo.jpg output=build/faces.png
local m = model.load(args.model)
local photo = image.load(args.input)
local high, wide = photo.shape[1], photo.shape[2]
local least_score, most_overlap = 0.7, 0.3

-- The model says the size that it takes, 240 by 320 pixels, and the layout; not how pixels are scaled.
local out = m:predict({input = photo}, {image = {input = {mean = 127, std = 128}}})
local count = out.scores.shape[2]
local scores, positions = out.scores:slice{{}, {}, {1, 2}}:reshape{shape = {count}}:top_k{k = math.min(256, count)}
local boxes = read(take(out.boxes, positions, {axis = 1}))
local best = read(scores)

local function area(b) return math.max(b[3] - b[1], 0) * math.max(b[4] - b[2], 0) end
local function overlap(a, b)
  local both = area{math.max(a[1], b[1]), math.max(a[2], b[2]), math.min(a[3], b[3]), math.min(a[4], b[4])}
  return both / (area(a) + area(b) - both)
end

-- The best first, without those that another one covers.
local faces = {}
for i, score in ipairs(best) do
  if score < least_score then break end
  local face = {table.unpack(boxes, 4 * i - 3, 4 * i)}
  local is_new = true
  for _, better in ipairs(faces) do is_new = is_new and overlap(better, face) <= most_overlap end
  if is_new then faces[#faces + 1] = face end
end

local line = math.max(wide // 200, 1)
local orange = buffer({255, 128, 0}, {dtype = "u8"})
local function bar(x, y, width, height)
  photo = overlay(photo, orange:broadcast{shape = {height, width, 3}}, {x = x, y = y})
end
local function pixels(share, all) return math.floor(math.max(math.min(share, 1), 0) * all) end
for _, face in ipairs(faces) do
  local x, y = pixels(face[1], wide), pixels(face[2], high)
  local width, height = math.max(pixels(face[3], wide) - x, 1), math.max(pixels(face[4], high) - y, 1)
  bar(x, y, width, line)
  bar(x, y + height - line, width, line)
  bar(x, y, line, height)
  bar(x + width - line, y, line, height)
  print(string.format("a face at %d, %d, %d by %d", x, y, width, height))
end
image.save(photo, args.output or "build/faces.png")
print(#faces .. (#faces == 1 and " face" or " faces"))
