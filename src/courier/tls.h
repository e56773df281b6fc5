// tls: a connection to Redis through libcurl, which checks certificates as it does for https.
//
// Threads: any.
#ifndef KEEL_COURIER_TLS_H_
#define KEEL_COURIER_TLS_H_

#include "redis/redis.h"
#include "settings/remotes.h"

#ifdef KEEL_HAS_REDIS

// KEEL_UNSUPPORTED if this Keel was built without libcurl.
keel_status_t tls_check(void) KEEL_MUST_CHECK;
keel_status_t tls_connect(const keel_remote_t *remote, uint64_t until,
                          keel_redis_t **out) KEEL_MUST_CHECK;

#endif
#endif // KEEL_COURIER_TLS_H_
