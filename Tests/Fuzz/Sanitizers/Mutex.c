// Shows the slow path of Swift's `Mutex` to the thread sanitizer; script/sanitize links it in.
//
// On Linux a `Mutex` that is free is taken by an atomic exchange, which is compiled into the
// program and which the sanitizer sees. One that is held is taken by the kernel (FUTEX_LOCK_PI),
// called from libswiftSynchronization, which is not instrumented (Swift 6.3). The sanitizer then
// knows of no order between the threads and reports a race in any program with a contended `Mutex`.
// No suppression can name that: the frames of such a report are those of the closure that holds the
// lock, so it would hide true races in the same closure.
//
// These functions stand before the library's of the same names, call them, and say what they do: a
// lock that was taken acquires what the one before released. Nothing else is changed or hidden.
// In a program without the sanitizer they do nothing more than call.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

// Methods of Swift take `self` in a register of its own.
#define SWIFT_METHOD __attribute__((swiftcall, visibility("default")))
#define SELF __attribute__((swift_context)) void *handle

// Synchronization._MutexHandle._lockSlow(UInt32) -> ()
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
// Synchronization._MutexHandle._tryLockSlow() -> Bool
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
// Synchronization._MutexHandle._unlockSlow() -> ()
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT_METHOD void lockSlow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT_METHOD bool tryLockSlow(SELF) __asm__(TRY_LOCK);
SWIFT_METHOD void unlockSlow(SELF) __asm__(UNLOCK);

SWIFT_METHOD void lockSlow(uint32_t thread, SELF) {
  __attribute__((swiftcall)) void (*original)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK);
  original(thread, handle);
  if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT_METHOD bool tryLockSlow(SELF) {
  __attribute__((swiftcall)) bool (*original)(SELF) = dlsym(RTLD_NEXT, TRY_LOCK);
  bool isTaken = original(handle);
  if (isTaken && __tsan_acquire) __tsan_acquire(handle);
  return isTaken;
}

SWIFT_METHOD void unlockSlow(SELF) {
  __attribute__((swiftcall)) void (*original)(SELF) = dlsym(RTLD_NEXT, UNLOCK);
  if (__tsan_release) __tsan_release(handle);
  original(handle);
}
