// Where the sanitizers write their reports: compiled in by script/sanitize, since the tests start
// programs with an environment of their own.
const char *__asan_default_options(void) { return "log_path=" REPORTS; }

// More history than by default, so that a report shows both of its sides.
const char *__tsan_default_options(void) { return "history_size=4:log_path=" REPORTS; }
