#define _GNU_SOURCE
#include "courier/tls.h"

#ifdef KEEL_HAS_REDIS
#ifndef KEEL_HAS_CURL

keel_status_t tls_check(void) {
    return keel_status_make(KEEL_UNSUPPORTED,
                            "this Keel was built without libcurl, which rediss:// "
                            "needs for TLS; build it with libcurl");
}

keel_status_t tls_connect(const keel_remote_t *remote, uint64_t until, keel_redis_t **out) {
    (void)remote;
    (void)until;
    (void)out;
    return tls_check();
}

#else

#include <curl/curl.h>
#include <errno.h>

keel_status_t tls_check(void) {
    if (!curl_global_init(CURL_GLOBAL_DEFAULT)) return NULL;
    return keel_status_make(KEEL_UNSUPPORTED, "libcurl cannot be used here");
}

static ssize_t moved(CURLcode result, size_t size) {
    if (result == CURLE_OK) return (ssize_t)size;
    errno = result == CURLE_AGAIN ? EAGAIN : EIO;
    return -1;
}

static ssize_t send_some(void *context, const void *data, size_t size) {
    size_t sent = 0;
    CURLcode result = curl_easy_send(context, data, size, &sent);
    return moved(result, sent);
}

static ssize_t receive_some(void *context, void *data, size_t size) {
    size_t got = 0;
    CURLcode result = curl_easy_recv(context, data, size, &got);
    return moved(result, got);
}

static void close_one(void *context) {
    curl_easy_cleanup(context);
}

static keel_status_t reach(CURL *curl, const keel_remote_t *remote, uint64_t until) {
    char error[CURL_ERROR_SIZE] = "", *url;
    const keel_redis_address_t *address = &remote->redis;
    bool is_ipv6 = strchr(address->host, ':');
    uint64_t now = keel_clock_monotonic();
    KEEL_TRY(keel_path(&url, "https://%s%s%s:%u", is_ipv6 ? "[" : "", address->host,
                       is_ipv6 ? "]" : "", address->port));
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_ENABLE_ALPN, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                     until > now ? (long)((until - now) / 1000000) + 1 : 1L);
    if (*remote->ca) curl_easy_setopt(curl, CURLOPT_CAINFO, remote->ca);
    CURLcode result = curl_easy_perform(curl);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    keel_free(url);
    if (result == CURLE_OK) return NULL;
    const char *why = result == CURLE_OPERATION_TIMEDOUT ? "it does not answer in time"
                      : *error                           ? error
                                                         : curl_easy_strerror(result);
    return keel_status_make(KEEL_IO, "%s", why);
}

keel_status_t tls_connect(const keel_remote_t *remote, uint64_t until, keel_redis_t **out) {
    CURL *curl = curl_easy_init();
    curl_socket_t descriptor = CURL_SOCKET_BAD;
    if (!curl) return keel_status_make(KEEL_NO_MEMORY, "out of memory: curl");
    keel_status_t status = reach(curl, remote, until);
    if (status) {
        curl_easy_cleanup(curl);
        return status;
    }
    curl_easy_getinfo(curl, CURLINFO_ACTIVESOCKET, &descriptor);
    const keel_redis_stream_t stream = {curl, send_some, receive_some, close_one};
    return keel_redis_over(&stream, (int)descriptor, out);
}

#endif
#endif
