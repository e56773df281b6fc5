// http: a server that takes GET, HEAD, PUT and DELETE, and what a kind of store adds to that: who
// asks, and what its errors say.
//
// Threads: any.
#ifndef KEEL_COURIER_HTTP_H_
#define KEEL_COURIER_HTTP_H_

#include "courier/backend.h"

#ifdef KEEL_HAS_CURL

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>

// Connections that are kept; bytes of an error that are read.
enum { HTTP_KEPT = 8, HTTP_SAID = 2048 };

// All NULL: nothing is added.
typedef struct http_signer_t {
    void *context;
    // Puts into a request who asks.
    keel_status_t (*sign)(void *context, CURL *curl, struct curl_slist **headers);
    // What an error's text means; NULL if it says nothing that is known.
    keel_status_t (*told)(void *context, long code, const char *text);
    void (*close)(void *context);
} http_signer_t;

typedef struct http_t {
    const keel_remote_t *remote;
    char *base; // the address that names are below
    http_signer_t signer;
    atomic_int conditional; // whether it keeps to If-None-Match
    pthread_mutex_t lock;   // for what follows
    CURL *kept[HTTP_KEPT];
    size_t count;
} http_t;

// Closed with http_close.
keel_status_t http_create(const keel_remote_t *remote, const char *base,
                          http_t **out) KEEL_MUST_CHECK;

// The functions of a backend (backend.h), whose context is an http_t. A name that begins with "?"
// is a question to the store itself.
keel_status_t http_get(void *context, const char *name, const sink_t *sink) KEEL_MUST_CHECK;
keel_status_t http_head(void *context, const char *name, facts_t *out) KEEL_MUST_CHECK;
keel_status_t http_put(void *context, const char *name, put_t how, keel_bytes_t head,
                       keel_bytes_t rest) KEEL_MUST_CHECK;
keel_status_t http_remove(void *context, const char *name) KEEL_MUST_CHECK;
void http_close(void *context);

#endif
#endif // KEEL_COURIER_HTTP_H_
