#ifndef LOOKAHEAD_CURL_H
#define LOOKAHEAD_CURL_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// Swift cannot call variadic functions: there is one function for each type of an option's value.

static inline CURLcode lookahead_curl_text(CURL *curl, CURLoption option, const char *value) {
  return curl_easy_setopt(curl, option, value);
}

static inline CURLcode lookahead_curl_number(CURL *curl, CURLoption option, long value) {
  return curl_easy_setopt(curl, option, value);
}

static inline CURLcode lookahead_curl_size(CURL *curl, CURLoption option, long long value) {
  return curl_easy_setopt(curl, option, (curl_off_t)value);
}

static inline CURLcode lookahead_curl_fields(CURL *curl, struct curl_slist *fields) {
  return curl_easy_setopt(curl, CURLOPT_HTTPHEADER, fields);
}

static inline CURLcode lookahead_curl_errors(CURL *curl, char *buffer) {
  return curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, buffer);
}

typedef size_t (*lookahead_curl_bytes)(char *, size_t, size_t, void *);
typedef int (*lookahead_curl_seek)(void *, curl_off_t, int);
typedef int (*lookahead_curl_progress)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

// Sets the functions that curl calls during a request, all with the same last (or first) argument.
static inline void lookahead_curl_callbacks(
    CURL *curl, lookahead_curl_bytes head, lookahead_curl_bytes body, lookahead_curl_bytes upload,
    lookahead_curl_seek seek, lookahead_curl_progress progress, void *user) {
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, head);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, user);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, user);
  curl_easy_setopt(curl, CURLOPT_READFUNCTION, upload);
  curl_easy_setopt(curl, CURLOPT_READDATA, user);
  curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, seek);
  curl_easy_setopt(curl, CURLOPT_SEEKDATA, user);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, user);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

static inline CURLcode lookahead_curl_start(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

#endif
