#pragma once
#include <curl/curl.h>

// libcurl sets options through variadic functions, which Swift can't call: one typed wrapper for each kind of value.

static inline CURLcode curl_set_text(CURL *handle, CURLoption option, const char *text) {
    return curl_easy_setopt(handle, option, text);
}

static inline CURLcode curl_set_number(CURL *handle, CURLoption option, long number) {
    return curl_easy_setopt(handle, option, number);
}

static inline CURLcode curl_set_list(CURL *handle, CURLoption option, struct curl_slist *list) {
    return curl_easy_setopt(handle, option, list);
}

static inline CURLcode curl_set_pointer(CURL *handle, CURLoption option, void *pointer) {
    return curl_easy_setopt(handle, option, pointer);
}

typedef size_t (*curl_reader)(char *buffer, size_t size, size_t count, void *context);
typedef int (*curl_debugger)(CURL *handle, curl_infotype type, char *data, size_t size, void *context);

static inline CURLcode curl_set_reader(CURL *handle, curl_reader reader) {
    return curl_easy_setopt(handle, CURLOPT_READFUNCTION, reader);
}

static inline CURLcode curl_set_writer(CURL *handle, curl_reader writer) {
    return curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, writer);
}

static inline CURLcode curl_set_debugger(CURL *handle, curl_debugger debugger) {
    return curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, debugger);
}

static inline CURLcode curl_set_progress(CURL *handle, curl_xferinfo_callback progress) {
    return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, progress);
}
