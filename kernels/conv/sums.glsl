// Adds up the parts of a product that tiled.glsl left as [part, output, pixel].

#include "conv/store.glsl"

void main() {
  uint at = stoker_index();
  if (at >= m * n) return;
  uint o = at / n;
  uint pixel = at - o * n;
  uint image = pixel / (out_h * out_w);
  uint rest = pixel - image * out_h * out_w;
  float sum = 0.0;
  for (uint part = 0u; part < parts; ++part) sum += x_load(part * m * n + at);
  STORE(image * y_image + o * y_output + rest / out_w * y_h + rest % out_w * y_w, sum);
}
