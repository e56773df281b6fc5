// backend: what every kind of remote does. Names are paths below the remote, of letters, digits and
// "-_./" alone.
//
// KEEL_IO says that the remote as a whole failed; KEEL_UNSUPPORTED, that it does not offer this;
// KEEL_REFUSED, that it has no room; KEEL_CORRUPT, that what it sends is no good. Messages are
// sentences for people, without the remote's address.
//
// Threads: any, at the same time.
#ifndef KEEL_COURIER_BACKEND_H_
#define KEEL_COURIER_BACKEND_H_

#include "base/base.h"
#include "settings/remotes.h"

// Where bytes go as they come.
typedef struct sink_t {
    void *context;
    // False: no more is wanted, for `why`, which is a text of the context's.
    bool (*take)(void *context, const void *data, size_t size);
    // What came is all that was to come.
    bool (*is_whole)(void *context);
    const char *why;
} sink_t;

// Of a name that is there.
typedef struct facts_t {
    uint64_t size;
    uint64_t age; // nanoseconds since it was written; AGE_UNKNOWN
} facts_t;
#define AGE_UNKNOWN UINT64_MAX

typedef keel_status_t (*visit_t)(void *visitor, const char *name, const facts_t *facts);

typedef enum put {
    PUT_REPLACE,
    PUT_IF_ABSENT, // one of several that do so at the same time
} put_t;

// A name that one process at a time holds, among all that use the remote.
typedef struct lease_t {
    char token[33];   // of the holder alone
    char holder[256]; // for people
    uint64_t length;  // nanoseconds after it was claimed or last renewed until it ends
} lease_t;

// What a kind of remote does. `context` is the remote's own.
typedef struct backend_kind_t {
    // KEEL_NOT_FOUND: there is no such name. KEEL_CORRUPT: the sink wants no more, or the bytes end
    // too early.
    keel_status_t (*get)(void *context, const char *name, const sink_t *sink);
    // KEEL_NOT_FOUND: there is no such name.
    keel_status_t (*head)(void *context, const char *name, facts_t *out);
    // Both parts, one after the other. KEEL_INVALID: it is there already, with PUT_IF_ABSENT.
    keel_status_t (*put)(void *context, const char *name, put_t how, keel_bytes_t head,
                         keel_bytes_t rest);
    // Names that begin with `prefix`, which ends in a slash or is empty, in any order, and what is
    // being written not. A status from `visit` ends it and is returned.
    keel_status_t (*list)(void *context, const char *prefix, visit_t visit, void *visitor);
    // A missing name is no error.
    keel_status_t (*remove)(void *context, const char *name);
    // All three NULL: leases are made of the functions above. If another holds the name, *out_held
    // is false and *other what is known of it; its length is what is left of it.
    keel_status_t (*claim)(void *context, const char *name, const lease_t *mine, lease_t *other,
                           bool *out_held);
    // KEEL_NOT_FOUND: another may hold it by now.
    keel_status_t (*renew)(void *context, const char *name, const lease_t *mine);
    // Only what is still held.
    keel_status_t (*release)(void *context, const char *name, const lease_t *mine);
    void (*close)(void *context);
} backend_kind_t;

typedef struct backend_t {
    void *context;
    const backend_kind_t *kind;
} backend_t;

// The kind that the remote's address names. KEEL_UNSUPPORTED, with what is missing, if it cannot be
// used.
keel_status_t backend_open(const keel_remote_t *remote, backend_t *out) KEEL_MUST_CHECK;

keel_status_t backend_file(const keel_remote_t *remote, backend_t *out) KEEL_MUST_CHECK;
keel_status_t backend_http(const keel_remote_t *remote, backend_t *out) KEEL_MUST_CHECK;
keel_status_t backend_s3(const keel_remote_t *remote, backend_t *out) KEEL_MUST_CHECK;
keel_status_t backend_redis(const keel_remote_t *remote, backend_t *out) KEEL_MUST_CHECK;

#endif // KEEL_COURIER_BACKEND_H_
