// redis: a connection to a Redis server, for the rooms that have something there.
//
// hiredis connects, and reads answers from bytes. The bytes are sent and received here, because its
// own limit of time begins again with each byte that comes, and because a connection may lead
// through something else, such as TLS.
//
// Messages are sentences for people, without the server's address. If Keel was built without
// hiredis, there is nothing here.
//
// Threads: a connection belongs to one at a time.
#ifndef KEEL_REDIS_REDIS_H_
#define KEEL_REDIS_REDIS_H_

#ifdef KEEL_HAS_REDIS

#include <hiredis.h>
#include <sys/types.h>

#include "base/base.h"
#include "settings/address.h"

// What bytes go through, if not a socket alone. As send and recv, without waiting: -1, with EAGAIN,
// if nothing can be moved now.
typedef struct keel_redis_stream_t {
    void *context;
    ssize_t (*send)(void *context, const void *data, size_t size);
    ssize_t (*receive)(void *context, void *data, size_t size);
    void (*close)(void *context);
} keel_redis_stream_t;

typedef struct keel_redis_t {
    int descriptor;        // to wait for
    redisContext *context; // owns the descriptor; NULL: a stream does
    redisReader *reader;
    keel_redis_stream_t stream;
    bool is_lost; // the connection is of no use any more
} keel_redis_t;

// How long one waits, and what one takes.
typedef struct keel_redis_limits_t {
    uint64_t until; // of keel_clock_monotonic
    double seconds; // that it is from the start of it, for messages
    size_t most;    // bytes of an answer
    size_t items;   // of a list in an answer: 9 or 9999
    size_t halved;  // the number of a word, from 1, whose second half is the next one; 0: none
} keel_redis_limits_t;

keel_status_t keel_redis_connect(const keel_redis_address_t *address,
                                 const keel_redis_limits_t *limits,
                                 keel_redis_t **out) KEEL_MUST_CHECK;
// Takes over the stream, also on failure.
keel_status_t keel_redis_over(const keel_redis_stream_t *stream, int descriptor,
                              keel_redis_t **out) KEEL_MUST_CHECK;
// The password may be NULL.
keel_status_t keel_redis_introduce(keel_redis_t *redis, const keel_redis_address_t *address,
                                   const char *password,
                                   const keel_redis_limits_t *limits) KEEL_MUST_CHECK;
// NULL is allowed.
void keel_redis_close(keel_redis_t *redis);

// Sends one command. The caller frees the answer with freeReplyObject; an error of the
// server's is KEEL_IO without is_lost.
keel_status_t keel_redis_command(keel_redis_t *redis, const keel_bytes_t *words, size_t count,
                                 const keel_redis_limits_t *limits,
                                 redisReply **out) KEEL_MUST_CHECK;
// The same, for an answer that says nothing.
keel_status_t keel_redis_do(keel_redis_t *redis, const keel_bytes_t *words, size_t count,
                            const keel_redis_limits_t *limits) KEEL_MUST_CHECK;

static inline keel_bytes_t keel_redis_word(const char *text) {
    return keel_str_bytes(keel_str(text));
}

#endif // KEEL_HAS_REDIS
#endif // KEEL_REDIS_REDIS_H_
