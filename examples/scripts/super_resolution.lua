-- A part of a photo three times as large: the light through a network, the colours by plain bicubic, and beside it
-- plain bicubic for all of it.
--     stoker run examples/scripts/super_resolution.lua input=examples/data/china.jpg output=build/larger.png
local m = model.load((args.data or "examples/data") .. "/super_resolution.onnx")
local photo = image.load(args.input or "examples/data/china.jpg")
local size = 224  -- what the network takes
local x, y = args.x or 208, args.y or 100
local part = crop(photo, {x = x, y = y, width = size, height = size})

local colours = convert_color(part:cast{dtype = "f32"} / 255, {from = "rgb", to = "ycbcr"})
local large = resize(colours, {width = 3 * size, height = 3 * size, mode = "bicubic"})
local light = colours:slice{{}, {}, {0, 1}}:reshape{shape = {1, 1, size, size}}
local sharp = m:predict{input = light}.output:reshape{shape = {3 * size, 3 * size, 1}}
local joined = concatenate(sharp, large:slice{{}, {}, {1, 3}}, {axis = 2})

local function rgb(b) return convert_color(max(min(b, 1), 0), {from = "ycbcr", to = "rgb"}) end
local beside = concatenate(rgb(joined), rgb(large), {axis = 1})
image.save(beside, args.output or "build/larger.png")
print(beside.shape[1], beside.shape[2])
