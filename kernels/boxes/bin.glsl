// The bin that a thread pools, for shaders that boxes/boxes.hpp declares.
#if T_IS_f64
#define REAL double
#else
#define REAL float
#endif

// A bin of a box from (x1, y1) to (x2, y2), of one channel, whose pixels lie in x from `plane` on.
struct Bin {
  uint row, column;
  uint plane;
  REAL x1, y1, x2, y2;
};

// The bin of element i of y.
Bin bin_at(uint i) {
  uint channel = i / (width * height) % channels;
  uint box = i / (width * height * channels);
  uint image = uint(clamp(int(images_load(box)), 0, int(batch) - 1));
  return Bin(i / width % height, i % width, (image * channels + channel) * rows * columns,
             REAL(boxes_load(4 * box)), REAL(boxes_load(4 * box + 1)),
             REAL(boxes_load(4 * box + 2)), REAL(boxes_load(4 * box + 3)));
}
