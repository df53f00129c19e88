/* Parts of Linux that Swift's Glibc module does not have: readiness, event and signal descriptors, time slices,
   options of the heap. */
#ifndef LOOKAHEAD_CLINUX_H
#define LOOKAHEAD_CLINUX_H

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "Child.h"
#include "Mapping.h"

/* Declared only under _GNU_SOURCE, with which other types would differ from Glibc's module. */
extern int accept4(int, struct sockaddr *, socklen_t *, int);
extern int dup3(int, int, int);

static const unsigned long lookahead_output_queue = SIOCOUTQ;
static const int lookahead_tcp_notsent_lowat = TCP_NOTSENT_LOWAT;

static const unsigned int lookahead_epoll_in = EPOLLIN;
static const unsigned int lookahead_epoll_out = EPOLLOUT;
static const unsigned int lookahead_epoll_hangup = EPOLLHUP | EPOLLERR;

static inline int lookahead_epoll_control(
    int poll, int operation, int descriptor, unsigned int events, unsigned long long data) {
  struct epoll_event event = {.events = events, .data = {.u64 = data}};
  return epoll_ctl(poll, operation, descriptor, &event);
}

/* struct epoll_event is packed on x86-64, so its members are read and written in C. */
static inline unsigned long long lookahead_epoll_data(const struct epoll_event *event) {
  return event->data.u64;
}

static inline unsigned int lookahead_epoll_events(const struct epoll_event *event) {
  return event->events;
}

/* sched_setattr(2), first version. The C library declares it only from 2.41 on. */
struct lookahead_scheduling {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};

/* Sets how long the calling thread may run before a thread that waits for its core, and has not had its share, gets
   the core (Linux 6.12 and later; earlier releases ignore it). 0 is the system's own choice. Also raises the nice
   value; it never lowers it, which takes a privilege. Returns the error's number, or 0. */
static inline int lookahead_set_scheduling(unsigned long long slice_nanoseconds, int nice) {
  struct lookahead_scheduling scheduling = {0};
  if (syscall(SYS_sched_getattr, 0, &scheduling, sizeof scheduling, 0) != 0) return errno;
  scheduling.size = sizeof scheduling;
  scheduling.runtime = slice_nanoseconds;
  if (nice > scheduling.nice) scheduling.nice = nice;
  return syscall(SYS_sched_setattr, 0, &scheduling, 0) == 0 ? 0 : errno;
}

/* The scheduling that was set, or the system's if none was. */
static inline struct lookahead_scheduling lookahead_get_scheduling(void) {
  struct lookahead_scheduling scheduling = {0};
  syscall(SYS_sched_getattr, 0, &scheduling, sizeof scheduling, 0);
  return scheduling;
}

#endif
