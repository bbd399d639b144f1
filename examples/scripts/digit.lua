-- Which digit is in a picture? An ONNX model of others says so.
--     stoker run examples/scripts/digit.lua picture=examples/data/three.png
local data = args.data or "examples/data"
local m = model.load(data .. "/mnist.onnx")
local picture = image.load(args.picture or data .. "/three.png")
-- The model wants pixels from 0 to 255, white on black, and gets them in the size and layout that it declares.
local scores = m:predict{[m.inputs[1].name] = picture}[m.outputs[1].name]
local digit = read(argmax(scores, {axis = 1}))[1]
print("a " .. digit)
