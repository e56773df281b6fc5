// backend: what every kind of remote does. Names are paths below the remote, of letters, digits and
// "-_./" alone.
//
// KEEL_IO and KEEL_UNSUPPORTED say that the remote as a whole failed; KEEL_CORRUPT, that what it
// sends is no good. Messages are sentences for people, without the remote's address.
//
// Threads: any, at the same time.
#ifndef KEEL_COURIER_BACKEND_H_
#define KEEL_COURIER_BACKEND_H_

#include "courier/arrival.h"
#include "settings/remotes.h"

typedef struct backend_t {
    void *context;
    // Gives the bytes to the arrival as they come. KEEL_NOT_FOUND: there is no such name.
    // KEEL_CORRUPT: the arrival wants no more, or they end too early.
    keel_status_t (*get)(void *context, const char *name, arrival_t *arrival);
    keel_status_t (*has)(void *context, const char *name, bool *out);
    // Both parts, one after the other. What is there is replaced.
    keel_status_t (*put)(void *context, const char *name, keel_bytes_t head, keel_bytes_t rest);
    void (*close)(void *context);
} backend_t;

keel_status_t backend_file(const keel_remote_t *remote, backend_t *out) KEEL_MUST_CHECK;
// KEEL_UNSUPPORTED, with what is missing, if this Keel was built without libcurl.
keel_status_t backend_http(const keel_remote_t *remote, backend_t *out) KEEL_MUST_CHECK;

#endif // KEEL_COURIER_BACKEND_H_
