/* A C target needs a source file. The functions are in the header, because valgrind 3.19 cannot read clang's debug
   information of a C file. */
#include "CLinux.h"
