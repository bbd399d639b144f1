// Threefry-2x32 with 20 rounds: threefry.hpp says whence. Each thread computes four blocks: of
// counters that are the indices of the random words (layout.hpp says which block yields which
// elements), or with RAW of given counters and keys.
void turn(inout uvec4 x0, inout uvec4 x1, uint r) {
  x0 += x1;
  x1 = (x1 << r | x1 >> (32 - r)) ^ x0;
}

void even_turns(inout uvec4 x0, inout uvec4 x1) {
  turn(x0, x1, 13);
  turn(x0, x1, 15);
  turn(x0, x1, 26);
  turn(x0, x1, 6);
}

void odd_turns(inout uvec4 x0, inout uvec4 x1) {
  turn(x0, x1, 17);
  turn(x0, x1, 29);
  turn(x0, x1, 16);
  turn(x0, x1, 24);
}

void threefry(uvec4 k0, uvec4 k1, inout uvec4 x0, inout uvec4 x1) {
  uvec4 k2 = k0 ^ k1 ^ 0x1bd11bdau;
  x0 += k0;
  x1 += k1;
  even_turns(x0, x1);
  x0 += k1;
  x1 += k2 + 1;
  odd_turns(x0, x1);
  x0 += k2;
  x1 += k0 + 2;
  even_turns(x0, x1);
  x0 += k0;
  x1 += k1 + 3;
  odd_turns(x0, x1);
  x0 += k1;
  x1 += k2 + 4;
  even_turns(x0, x1);
  x0 += k2;
  x1 += k0 + 5;
}

// Stores the words of blocks 4 quad … 4 quad + count - 1 as pairs.
void store_pairs(uint quad, uint count, uvec4 a, uvec4 b) {
  if (count == 4) {
    y_store4(2 * quad, uvec4(a.x, b.x, a.y, b.y));
    y_store4(2 * quad + 1, uvec4(a.z, b.z, a.w, b.w));
  } else {
    for (uint i = 0; i < count; ++i) {
      y_store(2 * (4 * quad + i), a[i]);
      y_store(2 * (4 * quad + i) + 1, b[i]);
    }
  }
}

#if RAW
void main() {
  uint quad = stoker_index();
  uint first = quad * 4;
  if (first >= blocks) return;
  uint count = min(blocks - first, 4);
  uvec4 k0, k1, x0, x1;
  if (count == 4 && single_key == 0 && single_counter == 0) {
    uvec4 key_a = key_load4(2 * quad), key_b = key_load4(2 * quad + 1);
    uvec4 x_a = counter_load4(2 * quad), x_b = counter_load4(2 * quad + 1);
    k0 = uvec4(key_a.xz, key_b.xz);
    k1 = uvec4(key_a.yw, key_b.yw);
    x0 = uvec4(x_a.xz, x_b.xz);
    x1 = uvec4(x_a.yw, x_b.yw);
  } else {
    for (uint i = 0; i < 4; ++i) {
      uint at = 2 * min(first + i, blocks - 1);
      uint key_at = single_key != 0 ? 0 : at;
      uint counter_at = single_counter != 0 ? 0 : at;
      k0[i] = key_load(key_at);
      k1[i] = key_load(key_at + 1);
      x0[i] = counter_load(counter_at);
      x1[i] = counter_load(counter_at + 1);
    }
  }
  threefry(k0, k1, x0, x1);
  store_pairs(quad, count, x0, x1);
}
#else
void main() {
  uint quad = stoker_index();
  uint first = quad * 4;
  if (first >= blocks) return;
  uint count = min(blocks - first, 4);
  uvec4 x0 = first + uvec4(0, 1, 2, 3);
  uvec4 x1 = blocks + x0;
  // The odd word out is paired with a padding of 0.
  x1 = mix(x1, uvec4(0), greaterThanEqual(x1, uvec4(words)));
  threefry(uvec4(key_load(0)), uvec4(key_load(1)), x0, x1);
#if PAIRS
  // Elements of 8 bytes as two words, of which the low one comes first in memory.
  store_pairs(quad, count, x1, x0);
#else
  uint second = blocks + first;
  uint second_count = min(words - second, count);
  if (count == 4)
    y_store4(quad, x0);
  else
    for (uint i = 0; i < count; ++i) y_store(first + i, x0[i]);
  if (second % 4 == 0 && second_count == 4)
    y_store4(second / 4, x1);
  else
    for (uint i = 0; i < second_count; ++i) y_store(second + i, x1[i]);
#endif
}
#endif
