// A server that takes GET, HEAD and PUT: WebDAV, bazel-remote's kind, any that serves files.
//
// Answers that send elsewhere are not followed: a remote is the one that was named. Whether it is
// that one is a matter of TLS, and whether its entries may run a matter of their signatures.
#define _GNU_SOURCE
#include "courier/http.h"

#ifndef KEEL_HAS_CURL

keel_status_t backend_http(const keel_remote_t *remote, backend_t *out) {
    (void)remote;
    (void)out;
    return keel_status_make(KEEL_UNSUPPORTED, "this Keel was built without libcurl, which reaches "
                                              "http servers; build it with libcurl");
}

#else

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

// Bytes a second; bytes of an answer.
enum { SLOWEST = 16 << 10, IGNORED = 64 << 10 };

enum { CONDITIONAL_UNKNOWN, CONDITIONAL_YES, CONDITIONAL_NO };

// One request and its answer.
typedef struct exchange_t {
    CURL *curl;
    const sink_t *sink; // NULL: the body does not count
    struct curl_slist *headers;
    keel_bytes_t parts[2];
    size_t ignored;           // bytes
    char said[HTTP_SAID + 1]; // of an error
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
    if (is_sound && http->count < HTTP_KEPT) {
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
    const sink_t *sink = exchange->sink;
    if (code != 200 || !sink) {
        // What an error says is read so far that the connection can be used again.
        size_t room = exchange->ignored < HTTP_SAID ? HTTP_SAID - exchange->ignored : 0;
        memcpy(exchange->said + (HTTP_SAID - room), data, one * size < room ? one * size : room);
        exchange->ignored += one * size;
        return exchange->ignored <= IGNORED ? one * size : 0;
    }
    return sink->take(sink->context, data, one * size) ? one * size : 0;
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

// Text that came with an error may say more.
static keel_status_t told_by(const http_t *http, const exchange_t *exchange, long code) {
    const http_signer_t *signer = &http->signer;
    keel_status_t status =
        signer->told ? signer->told(signer->context, code, exchange->said) : NULL;
    return status ? status : told(code);
}

static keel_status_t failure(const http_t *http, const exchange_t *exchange, CURLcode result) {
    const sink_t *sink = exchange->sink;
    long code = 0;
    curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &code);
    if (result == CURLE_WRITE_ERROR && code && code != 200) return told_by(http, exchange, code);
    if (sink && *sink->why) return keel_status_make(KEEL_CORRUPT, "%s", sink->why);
    if (result == CURLE_PARTIAL_FILE)
        return keel_status_make(KEEL_CORRUPT, "what it sends ends too early");
    const char *why = *exchange->error ? exchange->error : curl_easy_strerror(result);
    if (result == CURLE_OPERATION_TIMEDOUT) why = "it does not answer in time";
    return keel_status_make(KEEL_IO, "%s", why);
}

static keel_status_t add_header(struct curl_slist **headers, const char *text) {
    struct curl_slist *longer = curl_slist_append(*headers, text);
    if (!longer) return keel_status_make(KEEL_NO_MEMORY, "out of memory: curl");
    *headers = longer;
    return NULL;
}

static keel_status_t perform_at(http_t *http, exchange_t *exchange, const char *url) {
    const http_signer_t *signer = &http->signer;
    if (signer->sign) KEEL_TRY(signer->sign(signer->context, exchange->curl, &exchange->headers));
    curl_easy_setopt(exchange->curl, CURLOPT_URL, url);
    curl_easy_setopt(exchange->curl, CURLOPT_HTTPHEADER, exchange->headers);
    CURLcode result = curl_easy_perform(exchange->curl);
    return result == CURLE_OK ? NULL : failure(http, exchange, result);
}

// *out_code: of an answer.
static keel_status_t perform(http_t *http, exchange_t *exchange, const char *name, long *out_code) {
    char *url;
    *out_code = 0;
    KEEL_TRY(keel_path(&url, "%s%s%s", http->base, *name == '?' ? "" : "/", name));
    keel_status_t status = perform_at(http, exchange, url);
    curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, out_code);
    curl_slist_free_all(exchange->headers);
    exchange->headers = NULL;
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

keel_status_t http_get(void *context, const char *name, const sink_t *sink) {
    http_t *http = context;
    exchange_t exchange = {.sink = sink};
    long code;
    KEEL_TRY(begin(http, &exchange));
    keel_status_t status = perform(http, &exchange, name, &code);
    if (!status && code != 200) status = told_by(http, &exchange, code);
    bool is_sound =
        status ? keel_status_code(status) == KEEL_NOT_FOUND : sink->is_whole(sink->context);
    give_handle(http, exchange.curl, is_sound);
    return status;
}

static uint64_t age_of(CURL *curl, uint64_t now) {
    curl_off_t written = -1;
    curl_easy_getinfo(curl, CURLINFO_FILETIME_T, &written);
    if (written < 0) return AGE_UNKNOWN;
    uint64_t then = (uint64_t)written * 1000000000u;
    return now > then ? now - then : 0;
}

keel_status_t http_head(void *context, const char *name, facts_t *out) {
    http_t *http = context;
    exchange_t exchange = {.sink = NULL};
    curl_off_t size = -1;
    long code;
    KEEL_TRY(begin(http, &exchange));
    curl_easy_setopt(exchange.curl, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(exchange.curl, CURLOPT_FILETIME, 1L);
    keel_status_t status = perform(http, &exchange, name, &code);
    if (!status && code != 200) status = told_by(http, &exchange, code);
    curl_easy_getinfo(exchange.curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &size);
    *out = (facts_t){size > 0 ? (uint64_t)size : 0, age_of(exchange.curl, keel_clock_wall())};
    give_handle(http, exchange.curl, !status || keel_status_code(status) == KEEL_NOT_FOUND);
    return status;
}

// Some servers answer late to a request whether they want the body.
static keel_status_t send_body(http_t *http, exchange_t *exchange, const char *name, put_t how,
                               long *out_code) {
    // libcurl would sign a header that is not sent.
    keel_status_t status = http->signer.sign ? NULL : add_header(&exchange->headers, "Expect:");
    if (!status && how == PUT_IF_ABSENT)
        status = add_header(&exchange->headers, "If-None-Match: *");
    if (status) {
        curl_slist_free_all(exchange->headers);
        return status;
    }
    curl_off_t size = (curl_off_t)(exchange->parts[0].size + exchange->parts[1].size);
    curl_easy_setopt(exchange->curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(exchange->curl, CURLOPT_INFILESIZE_LARGE, size);
    curl_easy_setopt(exchange->curl, CURLOPT_READFUNCTION, give_body);
    curl_easy_setopt(exchange->curl, CURLOPT_READDATA, exchange);
    return perform(http, exchange, name, out_code);
}

// KEEL_INVALID: it is there already, and the server looked.
static keel_status_t put_once(http_t *http, const char *name, put_t how,
                              const keel_bytes_t parts[2], long *out_code) {
    exchange_t exchange = {.parts = {parts[0], parts[1]}};
    KEEL_TRY(begin(http, &exchange));
    keel_status_t status = send_body(http, &exchange, name, how, out_code);
    bool is_stored = *out_code >= 200 && *out_code < 300;
    bool is_there = how == PUT_IF_ABSENT && *out_code == 412;
    if (!status && is_there) status = keel_status_make(KEEL_INVALID, "it is there already");
    if (!status && !is_stored) status = told_by(http, &exchange, *out_code);
    if (keel_status_code(status) == KEEL_NOT_FOUND) {
        keel_status_ignore(status);
        status = keel_status_make(KEEL_IO, "it has no place for entries (%ld)", *out_code);
    }
    give_handle(http, exchange.curl, !status || is_there);
    return status;
}

// *out_status: what an answer that is none of success means.
static keel_status_t ask_simple(http_t *http, const char *name, const char *method, long *out_code,
                                keel_status_t *out_status) {
    exchange_t exchange = {.sink = NULL};
    KEEL_TRY(begin(http, &exchange));
    curl_easy_setopt(exchange.curl, CURLOPT_CUSTOMREQUEST, method);
    keel_status_t status = perform(http, &exchange, name, out_code);
    bool is_good = *out_code >= 200 && *out_code < 300;
    *out_status = status || is_good ? NULL : told_by(http, &exchange, *out_code);
    give_handle(http, exchange.curl, !status);
    return status;
}

// The folders above a name. Those that are there already are refused, which is no failure.
static keel_status_t make_folders(http_t *http, const char *name) {
    keel_status_t status = NULL, ignored;
    long code;
    for (const char *slash = strchr(name, '/'); slash && !status; slash = strchr(slash + 1, '/')) {
        char *folder;
        KEEL_TRY(keel_path(&folder, "%.*s/", (int)(slash - name), name));
        status = ask_simple(http, folder, "MKCOL", &code, &ignored);
        if (!status) keel_status_ignore(ignored);
        keel_free(folder);
    }
    return status;
}

// WebDAV servers answer 409 if the folder is not there.
static keel_status_t put(http_t *http, const char *name, put_t how, keel_bytes_t head,
                         keel_bytes_t rest) {
    const keel_bytes_t parts[2] = {head, rest};
    long code;
    keel_status_t status = put_once(http, name, how, parts, &code);
    if (code != 409 || http->signer.sign) return status;
    keel_status_ignore(status);
    KEEL_TRY(make_folders(http, name));
    return put_once(http, name, how, parts, &code);
}

keel_status_t http_remove(void *context, const char *name) {
    keel_status_t status;
    long code;
    KEEL_TRY(ask_simple(context, name, "DELETE", &code, &status));
    bool is_refused = code == 405 || code == 501;
    if (code != 404 && code != 410 && !is_refused) return status;
    keel_status_ignore(status);
    if (!is_refused) return NULL;
    return keel_status_make(KEEL_UNSUPPORTED, "it removes nothing (%ld)", code);
}

// Whether the second of two is refused.
static keel_status_t put_twice(http_t *http, const char *name) {
    const keel_bytes_t text = keel_bytes("keel\n", 5), nothing = keel_bytes("", 0);
    KEEL_TRY(put(http, name, PUT_IF_ABSENT, text, nothing));
    keel_status_t again = put(http, name, PUT_IF_ABSENT, text, nothing);
    keel_status_t removed = http_remove(http, name);
    bool is_refused = keel_status_code(again) == KEEL_INVALID;
    keel_status_t failed = is_refused ? removed : again;
    keel_status_ignore(is_refused ? again : removed);
    if (failed || is_refused) return failed;
    return keel_status_make(KEEL_UNSUPPORTED, "it does not keep to If-None-Match");
}

// A server is asked once.
static keel_status_t find_out(http_t *http, const char *beside) {
    char *name;
    uint64_t chance;
    const char *slash = strrchr(beside, '/');
    if (getrandom(&chance, sizeof chance, 0) != sizeof chance) chance = keel_clock_wall();
    KEEL_TRY(keel_path(&name, "%.*sprobe-%016llx", slash ? (int)(slash - beside + 1) : 0, beside,
                       (unsigned long long)chance));
    keel_status_t status = put_twice(http, name);
    keel_free(name);
    if (!status) atomic_store(&http->conditional, CONDITIONAL_YES);
    if (keel_status_code(status) == KEEL_UNSUPPORTED)
        atomic_store(&http->conditional, CONDITIONAL_NO);
    return status;
}

static keel_status_t check_conditional(http_t *http, const char *beside) {
    int known = atomic_load(&http->conditional);
    if (known == CONDITIONAL_UNKNOWN) return find_out(http, beside);
    if (known == CONDITIONAL_YES) return NULL;
    return keel_status_make(KEEL_UNSUPPORTED, "it does not keep to If-None-Match");
}

keel_status_t http_put(void *context, const char *name, put_t how, keel_bytes_t head,
                       keel_bytes_t rest) {
    http_t *http = context;
    if (how == PUT_IF_ABSENT) KEEL_TRY(check_conditional(http, name));
    return put(http, name, how, head, rest);
}

static keel_status_t http_list(void *context, const char *prefix, visit_t visit, void *visitor) {
    (void)context;
    (void)prefix;
    (void)visit;
    (void)visitor;
    return keel_status_make(KEEL_UNSUPPORTED, "a plain http server does not list what it has");
}

void http_close(void *context) {
    http_t *http = context;
    for (size_t i = 0; i < http->count; ++i)
        curl_easy_cleanup(http->kept[i]);
    if (http->signer.close) http->signer.close(http->signer.context);
    pthread_mutex_destroy(&http->lock);
    keel_free(http->base);
    keel_free(http);
}

keel_status_t http_create(const keel_remote_t *remote, const char *base, http_t **out) {
    void *memory;
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return keel_status_make(KEEL_UNSUPPORTED, "libcurl cannot be used here");
    KEEL_TRY(keel_calloc(1, sizeof(http_t), &memory));
    http_t *http = memory;
    http->remote = remote;
    pthread_mutex_init(&http->lock, NULL);
    keel_status_t status = keel_strdup(keel_str(base), &http->base);
    if (status)
        http_close(http);
    else
        *out = http;
    return status;
}

keel_status_t backend_http(const keel_remote_t *remote, backend_t *out) {
    static const backend_kind_t kind = {.get = http_get,
                                        .head = http_head,
                                        .put = http_put,
                                        .list = http_list,
                                        .remove = http_remove,
                                        .close = http_close};
    http_t *http;
    KEEL_TRY(http_create(remote, remote->url, &http));
    *out = (backend_t){http, &kind};
    return NULL;
}

#endif
