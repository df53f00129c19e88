/* Whoever touches a page of a mapping that its file no longer has gets SIGBUS, which ends the process: here such a
   page is exchanged for one of zeros, and noted. SQLite's index of the WAL has a check sum, so that zeros are no index
   to it; who asks whether something was cut off writes nothing more.

   What the handler reads are atomics, and mmap(2) is a system call: neither takes a lock that the thread may hold. */
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
  /* Another's: it comes again, and is what it would have been. */
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
    /* 1 is taken, and nobody's address. */
    if (!atomic_compare_exchange_strong(&mappings[index].start, &none, 1)) continue;
    atomic_store(&mappings[index].is_cut, 0);
    atomic_store(&mappings[index].bytes, bytes);
    atomic_store(&mappings[index].start, (uintptr_t)start);
    int count = atomic_load(&mapping_count);
    while (count <= index && !atomic_compare_exchange_weak(&mapping_count, &count, index + 1)) {}
    break;
  }
  /* Beyond the limit it is mapped as by the system alone. */
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
