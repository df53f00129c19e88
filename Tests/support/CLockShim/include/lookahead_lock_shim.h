/* A VFS (https://sqlite.org/vfs.html) around the system's that tells of every lock on the shared memory of
   write-ahead logs, and of the moment between a checkpoint's look at the log and its work. */
#ifndef LOOKAHEAD_LOCK_SHIM_H
#define LOOKAHEAD_LOCK_SHIM_H

/* What is told; either may be called from any thread, with the path of the database as SQLite has it and
   the connection's file. */
typedef struct {
  /* Locks of the shared memory were taken or given back: `count` from `first` on, and the flags of
     xShmLock. */
  void (*locked)(const char *path, const void *file, int first, int count, int flags);
  /* The pages that a connection may have mapped are let go of: a checkpoint does that between its look at
     the header of the log and its work, where the header is another than the last time. */
  void (*unfetched)(const char *path, const void *file);
} lookahead_lock_shim_observer;

/* Puts the VFS around the default one, once; SQLite's result code. */
int lookahead_lock_shim_install(lookahead_lock_shim_observer observer);

#endif
