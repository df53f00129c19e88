/* Memory that is mapped from a file outlives that file being cut off: what the file no longer has is zeros. */
#ifndef LOOKAHEAD_MAPPING_H
#define LOOKAHEAD_MAPPING_H

#include <stddef.h>
#include <sys/types.h>

/* mmap(2) and munmap(2), beyond that. They take the place of those that SQLite calls. */
void *lookahead_map_file(void *, size_t, int, int, int, off_t);
int lookahead_unmap_file(void *, size_t);

/* Whether a part of the mapping that begins there was no longer in its file when it was used. */
int lookahead_was_cut_off(const void *start);

#endif
