/* An access to a page of a mapping that its file no longer has raises SIGBUS, which ends the process. The handler
   here replaces such a page by zeros, and records it. SQLite's index of the WAL has a checksum, so that SQLite does
   not take zeros for an index; code that asks whether a part was cut off writes nothing more.

   The handler reads only atomics, and mmap(2) is a system call: neither takes a lock that the thread may hold. */
#define _GNU_SOURCE
#include "Mapping.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { mapping_limit = 4096 };

static struct {
  _Atomic uintptr_t start;
  _Atomic size_t bytes;
  atomic_int is_cut;
} mappings[mapping_limit];
static atomic_int mapping_count;
static uintptr_t page_bytes;
static struct sigaction before;

static void exchange_page(int number, siginfo_t *info, void *context) {
  (void)context;
  uintptr_t address = (uintptr_t)info->si_addr;
  int count = atomic_load(&mapping_count);
  for (int index = 0; index < count; index++) {
    uintptr_t start = atomic_load(&mappings[index].start);
    if (start == 0 || address < start || address - start >= atomic_load(&mappings[index].bytes)) continue;
    void *page = (void *)(address & ~(page_bytes - 1));
    if (mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == page) {
      atomic_store(&mappings[index].is_cut, 1);
      return;
    }
  }
  /* The address belongs to no mapping of ours: the fault occurs again, with the action that was set before. */
  sigaction(number, &before, NULL);
}

static void handle(void) {
  page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
  struct sigaction action = {.sa_sigaction = exchange_page, .sa_flags = SA_SIGINFO};
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &before);
}

void *lookahead_map_file(void *wish, size_t bytes, int access, int flags, int file, off_t offset) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, handle);
  void *start = mmap(wish, bytes, access, flags, file, offset);
  if (start == MAP_FAILED) return start;
  for (int index = 0; index < mapping_limit; index++) {
    uintptr_t none = 0;
    /* 1 means that the entry is taken; no mapping has this address. */
    if (!atomic_compare_exchange_strong(&mappings[index].start, &none, 1)) continue;
    atomic_store(&mappings[index].is_cut, 0);
    atomic_store(&mappings[index].bytes, bytes);
    atomic_store(&mappings[index].start, (uintptr_t)start);
    int count = atomic_load(&mapping_count);
    while (count <= index && !atomic_compare_exchange_weak(&mapping_count, &count, index + 1)) {}
    break;
  }
  /* Beyond the limit, the file is mapped as by the system alone. */
  return start;
}

int lookahead_unmap_file(void *start, size_t bytes) {
  int count = atomic_load(&mapping_count);
  for (int index = 0; index < count; index++) {
    if (atomic_load(&mappings[index].start) == (uintptr_t)start) atomic_store(&mappings[index].start, 0);
  }
  return munmap(start, bytes);
}

int lookahead_was_cut_off(const void *start) {
  int count = atomic_load(&mapping_count);
  for (int index = 0; index < count; index++) {
    if (atomic_load(&mappings[index].start) == (uintptr_t)start) return atomic_load(&mappings[index].is_cut);
  }
  return 0;
}
