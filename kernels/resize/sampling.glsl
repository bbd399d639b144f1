// Where output pixels lie between those of the input, and what Keys' cubic convolution (a = -1/2) makes of
// distances in pixels.

struct Position {
  int index;       // the input pixel at or before it
  float fraction;  // from there to it
  int nearest;     // the pixel it lies in
};

// (i + 1/2) from / to - 1/2 with from = multiple · to + remainder, in integers: a float would be off by a
// thousandth of a pixel in a wide image.
Position position(uint i, uint from, uint to, uint multiple, uint remainder) {
  uint product = i * remainder;
  uint carry = product / to;
  int twice = int(2u * to);
  int numerator = int(2u * (product - carry * to)) + int(from) - int(to);
  int shift = numerator >= 0 ? numerator / twice : -1;
  int index = int(i * multiple + carry) + shift;
  int left = numerator - shift * twice;
  int nearest = clamp(2 * left >= twice ? index + 1 : index, 0, int(from) - 1);
  return Position(index, float(left) / float(twice), nearest);
}

// The weight at distances of at most 1, and from 1 to 2; numbers or vectors.
const float KEYS = -0.5;
#define KEYS_NEAR(d) (((KEYS + 2.0) * (d) - (KEYS + 3.0)) * (d) * (d) + 1.0)
#define KEYS_FAR(d) (((KEYS * (d) - 5.0 * KEYS) * (d) + 8.0 * KEYS) * (d) - 4.0 * KEYS)
