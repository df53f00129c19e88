#include "lookahead_lock_shim.h"

#include <sqlite3.h>
#include <string.h>

typedef struct {
  sqlite3_file base;
  /* The database's path; NULL for any other file. */
  const char *path;
  /* The system's file, which lies behind this. */
  sqlite3_file *real;
} shim_file;

static lookahead_lock_shim_observer observer;
static sqlite3_vfs *real_vfs;
static sqlite3_vfs shim_vfs;

static sqlite3_file *real(sqlite3_file *file) { return ((shim_file *)file)->real; }

static int shim_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }
static int shim_read(sqlite3_file *file, void *to, int count, sqlite3_int64 at) {
  return real(file)->pMethods->xRead(real(file), to, count, at);
}
static int shim_write(sqlite3_file *file, const void *from, int count, sqlite3_int64 at) {
  return real(file)->pMethods->xWrite(real(file), from, count, at);
}
static int shim_truncate(sqlite3_file *file, sqlite3_int64 size) {
  return real(file)->pMethods->xTruncate(real(file), size);
}
static int shim_sync(sqlite3_file *file, int flags) {
  return real(file)->pMethods->xSync(real(file), flags);
}
static int shim_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}
static int shim_lock(sqlite3_file *file, int level) {
  return real(file)->pMethods->xLock(real(file), level);
}
static int shim_unlock(sqlite3_file *file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}
static int shim_check_lock(sqlite3_file *file, int *result) {
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}
static int shim_control(sqlite3_file *file, int operation, void *argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
static int shim_sector(sqlite3_file *file) {
  return real(file)->pMethods->xSectorSize(real(file));
}
static int shim_device(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}
static int shim_map(sqlite3_file *file, int page, int size, int extend, void volatile **memory) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, memory);
}
static int shim_shm_lock(sqlite3_file *file, int first, int count, int flags) {
  int result = real(file)->pMethods->xShmLock(real(file), first, count, flags);
  shim_file *shim = (shim_file *)file;
  if (result == SQLITE_OK && shim->path) observer.locked(shim->path, file, first, count, flags);
  return result;
}
static void shim_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }
static int shim_unmap(sqlite3_file *file, int deletes) {
  return real(file)->pMethods->xShmUnmap(real(file), deletes);
}
static int shim_fetch(sqlite3_file *file, sqlite3_int64 at, int count, void **memory) {
  return real(file)->pMethods->xFetch(real(file), at, count, memory);
}
static int shim_unfetch(sqlite3_file *file, sqlite3_int64 at, void *memory) {
  shim_file *shim = (shim_file *)file;
  if (!memory && shim->path) observer.unfetched(shim->path, file);
  return real(file)->pMethods->xUnfetch(real(file), at, memory);
}

static const sqlite3_io_methods shim_methods = {
  3, shim_close, shim_read, shim_write, shim_truncate, shim_sync, shim_size, shim_lock, shim_unlock,
  shim_check_lock, shim_control, shim_sector, shim_device, shim_map, shim_shm_lock, shim_barrier,
  shim_unmap, shim_fetch, shim_unfetch,
};

static int shim_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *opened) {
  (void)vfs;
  shim_file *shim = (shim_file *)file;
  shim->path = flags & SQLITE_OPEN_MAIN_DB ? path : NULL;
  shim->real = (sqlite3_file *)(shim + 1);
  memset(shim->real, 0, real_vfs->szOsFile);
  int result = real_vfs->xOpen(real_vfs, path, shim->real, flags, opened);
  /* Where the system's could not be opened and has no methods, SQLite must not close this. */
  file->pMethods = shim->real->pMethods ? &shim_methods : NULL;
  return result;
}

int lookahead_lock_shim_install(lookahead_lock_shim_observer given) {
  if (real_vfs) return SQLITE_OK;
  observer = given;
  real_vfs = sqlite3_vfs_find(NULL);
  if (!real_vfs) return SQLITE_ERROR;
  /* All but opening files is the system's: those functions do not look at the VFS that they are given. */
  shim_vfs = *real_vfs;
  shim_vfs.zName = "lookahead-lock-shim";
  shim_vfs.pNext = NULL;
  shim_vfs.szOsFile = (int)sizeof(shim_file) + real_vfs->szOsFile;
  shim_vfs.xOpen = shim_open;
  return sqlite3_vfs_register(&shim_vfs, 1);
}
