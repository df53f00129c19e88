// What the sanitizers are told, compiled in by script/sanitize, since the tests start programs with
// an environment of their own. REPORTS is where reports go.

// A leak that is suppressed is no report.
const char *__asan_default_options(void) { return "print_suppressions=0:log_path=" REPORTS; }

// More history than by default, so that a report shows both of its sides.
const char *__tsan_default_options(void) { return "history_size=4:log_path=" REPORTS; }

// Leaks of others, of Swift 6.3 and swift-argument-parser 1.8; none is of ours.
const char *__lsan_default_suppressions(void) {
  return
      // Its list of suites, and of arguments, for as long as it runs.
      "leak:libXCTest.so\n"
      // The buffer of a file whose size is not known before it is read: 4 KiB a file.
      "leak:20FoundationEssentials17readBytesFromFile\n"
      // A weak reference to the run loop, once a process that is started.
      "leak:10Foundation7ProcessC3run\n"
      // The path of an option, where the program ends by `exit` while it is being made.
      "leak:14ArgumentParser8InputKeyV8fullPath\n";
}
