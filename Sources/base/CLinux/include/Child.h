/* Starts another program with fewer rights than this one. */
#ifndef LOOKAHEAD_CHILD_H
#define LOOKAHEAD_CHILD_H

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Declared only under _GNU_SOURCE. */
extern int pipe2(int[2], int);
#ifndef SCHED_IDLE
#define SCHED_IDLE 5
#endif

struct lookahead_child {
  const char *path;
  char *const *arguments;
  char *const *environment;
  /* The descriptors that become its standard streams. */
  int input, output, errors;
  unsigned long long memory_bytes;
  unsigned long long processor_seconds;
  /* Whether it may open sockets. */
  int has_network;
  /* The maximum size of a file that it writes, and the maximum number of its open files. */
  unsigned long long file_bytes;
  unsigned long long open_files;
  /* The minimum nice value; at 19 it has a processor only while no other process wants it. */
  int nice;
};

static inline void lookahead_limit(int resource, unsigned long long soft, unsigned long long hard) {
  struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
  setrlimit(resource, &limit);
}

/* Prevents the process from creating sockets, by system call or ring (seccomp(2)); on a system without seccomp it
   changes nothing. All calls of x32 and of other architectures are refused, since they have other numbers. */
static inline void lookahead_leave_network(void) {
#if defined(__x86_64__)
  const unsigned int architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  const unsigned int architecture = AUDIT_ARCH_AARCH64;
#endif
#if defined(__x86_64__) || defined(__aarch64__)
  const unsigned int refuse = SECCOMP_RET_ERRNO | EACCES;
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, architecture, 0, 4),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 1, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, refuse),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
#endif
}

/* What the child does before it becomes the other program: only calls that the child of a process with threads may
   make (signal-safety(7)). Returns the error's number if it does not become the program. */
static inline int lookahead_become(const struct lookahead_child *child, pid_t parent) {
  /* The child ends with the thread that started it, which waits for it. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);
  /* Moves the descriptors out of each other's way first: any of them may be 0, 1 or 2. */
  int input = fcntl(child->input, F_DUPFD_CLOEXEC, 3);
  int output = fcntl(child->output, F_DUPFD_CLOEXEC, 3);
  int errors = fcntl(child->errors, F_DUPFD_CLOEXEC, 3);
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(errors, 2) < 0) return errno;
#ifdef SYS_close_range
  /* CLOSE_RANGE_CLOEXEC: for descriptors that other code opened without marking them. */
  syscall(SYS_close_range, 3, ~0U, 4);
#endif
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  lookahead_limit(RLIMIT_AS, child->memory_bytes, child->memory_bytes);
  lookahead_limit(RLIMIT_CPU, child->processor_seconds, child->processor_seconds + 1);
  lookahead_limit(RLIMIT_CORE, 0, 0);
  /* Usually it writes to pipes, and to no file except one that is given to it. */
  lookahead_limit(RLIMIT_FSIZE, child->file_bytes, child->file_bytes);
  lookahead_limit(RLIMIT_NOFILE, child->open_files, child->open_files);
  if (child->nice > getpriority(PRIO_PROCESS, 0)) setpriority(PRIO_PROCESS, 0, child->nice);
  if (child->nice >= 19) {
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_IDLE, &none);
  }
  if (chdir("/") != 0) return errno;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && !child->has_network) lookahead_leave_network();
  execve(child->path, child->arguments, child->environment);
  return errno;
}

/* Starts the program in a process group of its own, whose number is `process`. Returns the error's number, or 0. */
static inline int lookahead_start_child(const struct lookahead_child *child, pid_t *process) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return errno;
  /* Blocks all signals, so that no handler of this program runs in the child. */
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t parent = getpid();
  pid_t number = fork();
  int failure = number < 0 ? errno : 0;
  if (number == 0) {
    failure = lookahead_become(child, parent);
    ssize_t written = write(report[1], &failure, sizeof failure);
    _exit(written == sizeof failure ? 127 : 126);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(report[1]);
  if (number > 0) {
    /* The other end closes when the child becomes the program. */
    ssize_t count;
    do count = read(report[0], &failure, sizeof failure);
    while (count < 0 && errno == EINTR);
    if (count != sizeof failure) failure = 0;
    if (failure != 0)
      while (waitpid(number, NULL, 0) < 0 && errno == EINTR) {}
  }
  close(report[0]);
  *process = number;
  return failure;
}

/* A descriptor that becomes readable when the process ends (pidfd_open(2)), and that other programs do not inherit;
   or -1. */
static inline int lookahead_process_descriptor(pid_t process) {
  return (int)syscall(SYS_pidfd_open, process, 0);
}

#endif
