#ifndef LOOKAHEAD_EMBEDDED_H
#define LOOKAHEAD_EMBEDDED_H

#include <stddef.h>

/// A file that is part of the program.
typedef struct {
  const char *_Nonnull name;
  const unsigned char *_Nonnull bytes;
  size_t count;
} EmbeddedFile;

/// The file with this name in the table of CEmbedded.c, or NULL.
const EmbeddedFile *_Nullable embedded_file(const char *_Nonnull name);

/// The file in this row of that table, from 0, or NULL after the last.
const EmbeddedFile *_Nullable embedded_file_at(size_t row);

#endif
