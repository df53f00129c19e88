/* A C target needs a source file. Functions are in the header: valgrind 3.19 cannot read what clang tells
   debuggers of a C file. */
#include "CLinux.h"
