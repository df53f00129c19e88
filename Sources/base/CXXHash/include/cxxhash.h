// XXH3 as inline functions: nothing to link, and nothing to install on the machine that runs the program.
#ifndef LOOKAHEAD_CXXHASH_H
#define LOOKAHEAD_CXXHASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

/// The 128-bit XXH3 of some bytes, as two halves.
typedef struct {
  uint64_t low;
  uint64_t high;
} lookahead_hash128;

static inline lookahead_hash128 lookahead_xxh3_128(const void *bytes, size_t count) {
  XXH128_hash_t hash = XXH3_128bits(bytes, count);
  lookahead_hash128 result = {hash.low64, hash.high64};
  return result;
}

#endif
