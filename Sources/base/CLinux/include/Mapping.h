/* Memory that is mapped from a file and survives the file being truncated: the pages that the file no longer has are
   zeros. */
#ifndef LOOKAHEAD_MAPPING_H
#define LOOKAHEAD_MAPPING_H

#include <stddef.h>
#include <sys/types.h>

/* mmap(2) and munmap(2) with this property. They replace those that SQLite calls. */
void *lookahead_map_file(void *, size_t, int, int, int, off_t);
int lookahead_unmap_file(void *, size_t);

/* Whether a part of the mapping that begins at `start` was missing from its file when it was accessed. */
int lookahead_was_cut_off(const void *start);

#endif
