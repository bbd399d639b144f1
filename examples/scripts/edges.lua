-- The main job: the edges of a photo.
--     stoker run examples/scripts/edges.lua input=photo.jpg output=edges.png radius=2
local photo = image.load(args.input or "examples/data/china.jpg")
local grey = grayscale(photo)
local soft = gaussian_blur(grey, {radius = args.radius or 2})
local edges = sobel(soft)
-- Nothing has run yet: buffers are lazy. Saving runs the chain as one pipeline.
image.save(edges, args.output or "build/edges.png")
print(edges)
