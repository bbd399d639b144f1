// What each value of one channel becomes: a group a channel, a thread a value.

shared uint sums[256];

void main() {
  uint channel = stoker_group();
  uint value = gl_LocalInvocationID.x;
  uint own = counts_load(256u * channel + value);
  sums[value] = own;
  barrier();
  // Sums of the counts up to each value, of twice as many in each round.
  for (uint reach = 1u; reach < 256u; reach *= 2u) {
    uint before = value >= reach ? sums[value - reach] : 0u;
    barrier();
    sums[value] += before;
    barrier();
  }
  uint sum = sums[value];
  // The first value that occurs: its sum is its own count.
  uint least = pixels;
  for (uint i = 0u; i < 256u; ++i) least = min(least, sums[i] != 0u ? sums[i] : pixels);
  bool is_kept = channel >= colours || least == pixels;
  float share = sum < least ? 0.0 : float(sum - least) / float(max(pixels - least, 1u));
  levels_store(256u * channel + value, is_kept ? value : uint(share * 255.0 + 0.5));
}
