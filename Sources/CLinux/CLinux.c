#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* sched_setattr(2), first version. The C library declares it from 2.41 on only. */
struct attributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};

static int get_attributes(struct attributes *attributes) {
  return (int)syscall(SYS_sched_getattr, 0, attributes, sizeof *attributes, 0);
}

int lookahead_set_time_slice(unsigned long long nanoseconds) {
  struct attributes attributes = {0};
  if (get_attributes(&attributes) != 0) return errno;
  attributes.size = sizeof attributes;
  attributes.runtime = nanoseconds;
  return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0 ? 0 : errno;
}

unsigned long long lookahead_time_slice(void) {
  struct attributes attributes = {0};
  return get_attributes(&attributes) == 0 ? attributes.runtime : 0;
}
