-- A poster: the photo, enlarged and sharpened, with a bright, mirrored thumbnail laid over it.
local photo = image.load(args.input or "examples/data/china.jpg")
local height, width = photo.shape[1], photo.shape[2]

local large = resize(photo, {width = 2 * width, height = 2 * height, mode = "bicubic"})
local crisp = sharpen(large, {strength = 0.8})

local thumb = resize(photo, {width = width // 2, height = height // 2, mode = "bilinear"})
thumb = flip(brightness_contrast(thumb, {brightness = 0.1, contrast = 1.2}), {axis = "horizontal"})

local poster = overlay(crisp, thumb, {x = 24, y = 24, alpha = 0.9})
image.save(poster, args.output or "build/poster.png")
print(poster)
