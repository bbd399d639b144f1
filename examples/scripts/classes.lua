-- No image at all: one layer of a classifier by hand, and its probabilities.
local features = buffer({1.0, 0.5, -1.0, 0.25, 2.0, -0.5}, {shape = {2, 3}})
local weights = buffer({0.2, -0.4, 0.1, 0.7, 0.3, -0.6, 0.5, 0.9, -0.2}, {shape = {3, 3}})
local bias = buffer({0.1, 0.0, -0.1})

local scores = matmul(features, weights) + bias
local probabilities = softmax(scores)
print("probabilities", probabilities)

for row = 0, 1 do
  local sum = 0
  local values = read(probabilities)
  for column = 1, 3 do sum = sum + values[3 * row + column] end
  print(string.format("row %d sums to %.6f", row + 1, sum))
end
