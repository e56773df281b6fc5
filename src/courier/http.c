// A server that takes GET, HEAD and PUT: WebDAV, bazel-remote's kind, any that serves files.
//
// Answers that send elsewhere are not followed: a remote is the one that was named. Whether it is
// that one is a matter of TLS, and whether its entries may run a matter of their signatures.
#define _GNU_SOURCE
#include "courier/backend.h"

#ifndef KEEL_HAS_CURL

keel_status_t backend_http(const keel_remote_t *remote, backend_t *out) {
    (void)remote;
    (void)out;
    return keel_status_make(KEEL_UNSUPPORTED, "this Keel was built without libcurl, which reaches "
                                              "http servers; build it with libcurl");
}

#else

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

// Connections; bytes a second; bytes of an answer.
enum { KEPT = 8, SLOWEST = 16 << 10, IGNORED = 64 << 10 };

typedef struct http_t {
    const keel_remote_t *remote;
    pthread_mutex_t lock; // for what follows
    CURL *kept[KEPT];
    size_t count;
} http_t;

// One request and its answer.
typedef struct exchange_t {
    CURL *curl;
    arrival_t *arrival; // NULL: the body does not count
    keel_bytes_t parts[2];
    size_t ignored; // bytes
    char error[CURL_ERROR_SIZE];
} exchange_t;

// ---- handles -----------------------------------------------------------------------------------

static CURL *take_handle(http_t *http) {
    CURL *curl = NULL;
    pthread_mutex_lock(&http->lock);
    if (http->count) curl = http->kept[--http->count];
    pthread_mutex_unlock(&http->lock);
    if (!curl) return curl_easy_init();
    curl_easy_reset(curl); // its connection stays
    return curl;
}

// What a server sends behind its answer would be taken for the next one: its connection is used
// again only if the answer was as it should be.
static void give_handle(http_t *http, CURL *curl, bool is_sound) {
    pthread_mutex_lock(&http->lock);
    if (is_sound && http->count < KEPT) {
        http->kept[http->count++] = curl;
        curl = NULL;
    }
    pthread_mutex_unlock(&http->lock);
    if (curl) curl_easy_cleanup(curl);
}

// ---- one exchange ------------------------------------------------------------------------------

static size_t take_body(char *data, size_t one, size_t size, void *context) {
    exchange_t *exchange = context;
    long code = 0;
    curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &code);
    if (code != 200 || !exchange->arrival) {
        // What an error says is read so far that the connection can be used again.
        exchange->ignored += one * size;
        return exchange->ignored <= IGNORED ? one * size : 0;
    }
    return arrival_take(exchange->arrival, data, one * size) ? one * size : 0;
}

static size_t give_body(char *data, size_t one, size_t size, void *context) {
    exchange_t *exchange = context;
    size_t given = 0, most = one * size;
    for (int i = 0; i < 2 && given < most; ++i) {
        keel_bytes_t *part = &exchange->parts[i];
        size_t taken = part->size < most - given ? part->size : most - given;
        if (taken) memcpy(data + given, part->data, taken);
        *part = keel_bytes(part->data + taken, part->size - taken);
        given += taken;
    }
    return given;
}

static void set_up(const keel_remote_t *remote, exchange_t *exchange) {
    CURL *curl = exchange->curl;
    long milliseconds = (long)(remote->timeout / 1000000);
    const char *netrc = getenv("NETRC");
    *exchange->error = 0;
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, exchange->error);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "keel/" KEEL_VERSION);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, milliseconds);
    // One that sends less for as long as the timeout is as good as silent.
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)SLOWEST);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, milliseconds / 1000 ? milliseconds / 1000 : 1L);
    curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
    if (netrc && *netrc) curl_easy_setopt(curl, CURLOPT_NETRC_FILE, netrc);
    if (*remote->ca) curl_easy_setopt(curl, CURLOPT_CAINFO, remote->ca);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
}

// What an HTTP status means, if it is not one of success.
static keel_status_t told(long code) {
    if (code == 404 || code == 410) return keel_status_make(KEEL_NOT_FOUND, "not there");
    if (code >= 300 && code < 400)
        return keel_status_make(KEEL_IO,
                                "it sends Keel elsewhere (%ld), which is not followed; name that "
                                "address instead",
                                code);
    if (code == 401 || code == 403 || code == 407)
        return keel_status_make(
            KEEL_IO, "it refuses access (%ld); ~/.netrc has the user and the password", code);
    if (code == 405 || code == 501)
        return keel_status_make(KEEL_IO, "it does not take this kind of request (%ld)", code);
    return keel_status_make(KEEL_IO, "it answers with an error (%ld)", code);
}

static keel_status_t failure(const exchange_t *exchange, CURLcode result) {
    const arrival_t *arrival = exchange->arrival;
    long code = 0;
    curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &code);
    if (result == CURLE_WRITE_ERROR && code && code != 200) return told(code);
    if (arrival && *arrival->why) return keel_status_make(KEEL_CORRUPT, "%s", arrival->why);
    if (result == CURLE_PARTIAL_FILE)
        return keel_status_make(KEEL_CORRUPT, "what it sends ends too early");
    const char *why = *exchange->error ? exchange->error : curl_easy_strerror(result);
    if (result == CURLE_OPERATION_TIMEDOUT) why = "it does not answer in time";
    return keel_status_make(KEEL_IO, "%s", why);
}

// *out_code: of an answer.
static keel_status_t perform(http_t *http, exchange_t *exchange, const char *name, long *out_code) {
    char *url;
    *out_code = 0;
    KEEL_TRY(keel_path(&url, "%s/%s", http->remote->url, name));
    curl_easy_setopt(exchange->curl, CURLOPT_URL, url);
    CURLcode result = curl_easy_perform(exchange->curl);
    keel_status_t status = result == CURLE_OK ? NULL : failure(exchange, result);
    curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, out_code);
    keel_free(url);
    return status;
}

static keel_status_t begin(http_t *http, exchange_t *exchange) {
    exchange->curl = take_handle(http);
    if (!exchange->curl) return keel_status_make(KEEL_NO_MEMORY, "out of memory: curl");
    set_up(http->remote, exchange);
    return NULL;
}

// ---- the backend -------------------------------------------------------------------------------

static keel_status_t http_get(void *context, const char *name, arrival_t *arrival) {
    http_t *http = context;
    exchange_t exchange = {.arrival = arrival};
    long code;
    KEEL_TRY(begin(http, &exchange));
    keel_status_t status = perform(http, &exchange, name, &code);
    if (!status && code != 200) status = told(code);
    bool is_whole = arrival->size && arrival->have == arrival->size;
    give_handle(http, exchange.curl,
                status ? keel_status_code(status) == KEEL_NOT_FOUND : is_whole);
    return status;
}

static keel_status_t http_has(void *context, const char *name, bool *out) {
    http_t *http = context;
    exchange_t exchange = {.arrival = NULL};
    long code;
    *out = false;
    KEEL_TRY(begin(http, &exchange));
    curl_easy_setopt(exchange.curl, CURLOPT_NOBODY, 1L);
    keel_status_t status = perform(http, &exchange, name, &code);
    if (!status && code != 200) status = told(code);
    bool is_missing = keel_status_code(status) == KEEL_NOT_FOUND;
    give_handle(http, exchange.curl, !status || is_missing);
    *out = !status;
    if (!is_missing) return status;
    keel_status_ignore(status);
    return NULL;
}

// Some servers answer late to a request whether they want the body.
static keel_status_t send_body(http_t *http, exchange_t *exchange, const char *name,
                               long *out_code) {
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
    if (!headers) return keel_status_make(KEEL_NO_MEMORY, "out of memory: curl");
    curl_off_t size = (curl_off_t)(exchange->parts[0].size + exchange->parts[1].size);
    curl_easy_setopt(exchange->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(exchange->curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(exchange->curl, CURLOPT_INFILESIZE_LARGE, size);
    curl_easy_setopt(exchange->curl, CURLOPT_READFUNCTION, give_body);
    curl_easy_setopt(exchange->curl, CURLOPT_READDATA, exchange);
    keel_status_t status = perform(http, exchange, name, out_code);
    curl_slist_free_all(headers);
    return status;
}

static keel_status_t http_put(void *context, const char *name, keel_bytes_t head,
                              keel_bytes_t rest) {
    http_t *http = context;
    exchange_t exchange = {.parts = {head, rest}};
    long code;
    KEEL_TRY(begin(http, &exchange));
    keel_status_t status = send_body(http, &exchange, name, &code);
    bool is_stored = code >= 200 && code < 300;
    if (!status && !is_stored) status = told(code);
    if (keel_status_code(status) == KEEL_NOT_FOUND) {
        keel_status_ignore(status);
        status = keel_status_make(KEEL_IO, "it has no place for entries (%ld)", code);
    }
    give_handle(http, exchange.curl, !status);
    return status;
}

static void http_close(void *context) {
    http_t *http = context;
    for (size_t i = 0; i < http->count; ++i)
        curl_easy_cleanup(http->kept[i]);
    pthread_mutex_destroy(&http->lock);
    keel_free(http);
}

keel_status_t backend_http(const keel_remote_t *remote, backend_t *out) {
    void *memory;
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return keel_status_make(KEEL_UNSUPPORTED, "libcurl cannot be used here");
    KEEL_TRY(keel_calloc(1, sizeof(http_t), &memory));
    http_t *http = memory;
    http->remote = remote;
    pthread_mutex_init(&http->lock, NULL);
    *out = (backend_t){http, http_get, http_has, http_put, http_close};
    return NULL;
}

#endif
