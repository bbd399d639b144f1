// A thread takes four pixels, the last one those that are left. The text before has
// void four_pixels(uint quad), which takes pixels 4 quad … 4 quad + 3, and void one_pixel(uint pixel).
void main() {
  uint quad = stoker_index();
  if (4u * quad + 4u <= pixels) {
    four_pixels(quad);
  } else {
    for (uint pixel = 4u * quad; pixel < pixels; ++pixel) one_pixel(pixel);
  }
}
