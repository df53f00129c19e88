/* What Swift's Glibc module does not show of Linux: readiness, event and signal descriptors, time slices. */
#ifndef LOOKAHEAD_CLINUX_H
#define LOOKAHEAD_CLINUX_H

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

/* Declared only under _GNU_SOURCE, which would make other types differ from Glibc's module. */
extern int accept4(int, struct sockaddr *, socklen_t *, int);

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

/* struct epoll_event is packed on x86-64: its members are read and written here. */
static inline unsigned long long lookahead_epoll_data(const struct epoll_event *event) {
  return event->data.u64;
}

static inline unsigned int lookahead_epoll_events(const struct epoll_event *event) {
  return event->events;
}

/* How long the calling thread may work before one that waits for its core gets it, where that has not had
   its share (Linux 6.12 and later; earlier ones take note of nothing). 0 is the system's own choice. The
   error's number, or 0. */
int lookahead_set_time_slice(unsigned long long nanoseconds);

/* What was set; what the system says where nothing was. */
unsigned long long lookahead_time_slice(void);

#endif
