// In Redis: a value is a string that expires, "keel:<job>:<key>".
//
// A process is subscribed to a channel named after it as long as it runs: "keel:<process>". When it
// ends, or its machine does, the server drops the connection, and nobody is subscribed any more.
// Servers may close other connections that are idle, so a command that finds its own closed is sent
// again on a new one, once.
#define _GNU_SOURCE
#include "meet/meet.h"

#ifndef KEEL_HAS_REDIS

keel_status_t keel_meet_in_redis(const keel_redis_address_t *address, const char *process,
                                 keel_meet_t **out) {
    (void)process;
    (void)out;
    return keel_status_make(
        KEEL_UNSUPPORTED,
        "%s:%u: this Keel was built without Redis; build it with libhiredis, or "
        "use --agree on",
        address->host, address->port);
}

#else

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "meet/poll.h"
#include "redis/redis.h"

static const char lifetime[] = "3600"; // seconds

typedef struct redis_t {
    keel_meet_t meet;
    keel_redis_address_t address;
    char *job;
    char *channel;
    pthread_mutex_t lock; // for the connections
    keel_redis_t *commands, *presence;
} redis_t;

// ---- connections -------------------------------------------------------------------------------

static keel_status_t failure(const redis_t *redis, const char *why) {
    return keel_status_make(KEEL_IO, "%s: %s", redis->meet.shown, why);
}

static keel_bytes_t word(const char *text) {
    return keel_redis_word(text);
}

static keel_redis_limits_t in_time(void) {
    return (keel_redis_limits_t){.until = keel_clock_monotonic() +
                                          keel_limit_time(KEEL_LIMIT_REDIS_ANSWER),
                                 .seconds = (double)keel_limit(KEEL_LIMIT_REDIS_ANSWER) / 1000,
                                 .most = KEEL_MEET_VALUE + 4096,
                                 .items = 9};
}

static keel_status_t connect_one(const redis_t *redis, const keel_redis_limits_t *limits,
                                 keel_redis_t **out) {
    KEEL_TRY(keel_redis_connect(&redis->address, limits, out));
    keel_status_t status =
        keel_redis_introduce(*out, &redis->address, getenv("REDISCLI_AUTH"), limits);
    if (!status) return NULL;
    keel_redis_close(*out);
    *out = NULL;
    return status;
}

static void disconnect(redis_t *redis) {
    keel_redis_close(redis->commands);
    keel_redis_close(redis->presence);
    redis->commands = redis->presence = NULL;
}

// First the presence: what this process puts counts only as long as others see it.
static keel_status_t connect_both(redis_t *redis, const keel_redis_limits_t *limits) {
    const keel_bytes_t words[] = {word("SUBSCRIBE"), word(redis->channel)};
    disconnect(redis);
    keel_status_t status = connect_one(redis, limits, &redis->presence);
    if (!status) status = keel_redis_do(redis->presence, words, 2, limits);
    if (!status) status = connect_one(redis, limits, &redis->commands);
    if (status) disconnect(redis);
    return status;
}

// A connection that is found closed is made again, within the same time.
static keel_status_t command(redis_t *redis, const keel_bytes_t *words, size_t count,
                             redisReply **out) {
    const keel_redis_limits_t limits = in_time();
    pthread_mutex_lock(&redis->lock);
    keel_status_t status = redis->commands
                               ? keel_redis_command(redis->commands, words, count, &limits, out)
                               : keel_status_make(KEEL_IO, "the connection is lost");
    bool is_lost = status && redis->commands && redis->commands->is_lost;
    if (is_lost && keel_clock_monotonic() >= limits.until) {
        disconnect(redis);
    } else if (is_lost) {
        keel_status_ignore(status);
        status = connect_both(redis, &limits);
        if (!status) status = keel_redis_command(redis->commands, words, count, &limits, out);
    }
    pthread_mutex_unlock(&redis->lock);
    return status ? keel_status_annotate(status, "%s", redis->meet.shown) : NULL;
}

// ---- what one does there -----------------------------------------------------------------------

static keel_status_t key_of(const redis_t *redis, const char *key, char **out) {
    return keel_path(out, "keel:%s:%s", redis->job, key);
}

static keel_status_t put(keel_meet_t *self, const char *key, keel_bytes_t value) {
    redis_t *redis = (redis_t *)self;
    redisReply *reply = NULL;
    char *name;
    KEEL_TRY(key_of(redis, key, &name));
    const keel_bytes_t words[] = {word("SET"), word(name), value, word("EX"), word(lifetime)};
    keel_status_t status = command(redis, words, 5, &reply);
    keel_free(name);
    if (!status) freeReplyObject(reply);
    return status;
}

static keel_status_t get_now(redis_t *redis, const char *name, uint8_t **out, size_t *out_size) {
    const keel_bytes_t words[] = {word("GET"), word(name)};
    redisReply *reply = NULL;
    KEEL_TRY(command(redis, words, 2, &reply));
    keel_status_t status = NULL;
    if (reply->type == REDIS_REPLY_STRING && (size_t)reply->len <= KEEL_MEET_VALUE) {
        status = keel_bytes_dup(keel_bytes(reply->str, (size_t)reply->len), out);
        *out_size = (size_t)reply->len;
    } else if (reply->type == REDIS_REPLY_NIL) {
        status = keel_status_make(KEEL_NOT_FOUND, "%s: %s is not there", redis->meet.shown, name);
    } else {
        status = failure(redis, "a value that Keel did not put");
    }
    freeReplyObject(reply);
    return status;
}

static keel_status_t get(keel_meet_t *self, const char *key, uint64_t until, uint8_t **out,
                         size_t *out_size) {
    redis_t *redis = (redis_t *)self;
    poll_t poll = {.until = until};
    char *name;
    KEEL_TRY(key_of(redis, key, &name));
    keel_status_t status = get_now(redis, name, out, out_size);
    while (keel_status_code(status) == KEEL_NOT_FOUND && poll_again(&poll)) {
        keel_status_ignore(status);
        status = get_now(redis, name, out, out_size);
    }
    keel_free(name);
    return status;
}

static keel_status_t channel_of(const char *process, char **out) {
    return keel_path(out, "keel:%s", process);
}

// The answer is the channel and the number of its subscribers.
static bool is_gone(keel_meet_t *self, const char *process) {
    redis_t *redis = (redis_t *)self;
    char *channel;
    redisReply *reply = NULL;
    keel_status_t status = channel_of(process, &channel);
    if (!status) {
        const keel_bytes_t words[] = {word("PUBSUB"), word("NUMSUB"), word(channel)};
        status = command(redis, words, 3, &reply);
        keel_free(channel);
    }
    bool is_known = !status && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
                    reply->element[1]->type == REDIS_REPLY_INTEGER;
    bool gone = is_known && reply->element[1]->integer == 0;
    if (!status) freeReplyObject(reply);
    keel_status_ignore(status); // the next get finds out, too
    return gone;
}

static void destroy(keel_meet_t *self) {
    redis_t *redis = (redis_t *)self;
    disconnect(redis);
    pthread_mutex_destroy(&redis->lock);
    keel_free(redis->channel);
    keel_free(redis->job);
    keel_free(redis);
}

static keel_status_t fill(redis_t *redis, const keel_redis_address_t *address,
                          const char *process) {
    bool is_ipv6 = strchr(address->host, ':');
    redis->address = *address;
    snprintf(redis->meet.shown, sizeof redis->meet.shown, "Redis at %s%s%s:%u", is_ipv6 ? "[" : "",
             address->host, is_ipv6 ? "]" : "", address->port);
    KEEL_TRY(channel_of(process, &redis->channel));
    KEEL_TRY(*address->job ? keel_strdup(keel_str(address->job), &redis->job)
                           : keel_meet_job(&redis->job));
    const keel_redis_limits_t limits = in_time();
    keel_status_t status = connect_both(redis, &limits);
    return status ? keel_status_annotate(status, "%s", redis->meet.shown) : NULL;
}

keel_status_t keel_meet_in_redis(const keel_redis_address_t *address, const char *process,
                                 keel_meet_t **out) {
    static const keel_meet_kind_t kind = {put, get, is_gone, destroy};
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(redis_t), &memory));
    redis_t *redis = memory;
    redis->meet.kind = &kind;
    pthread_mutex_init(&redis->lock, NULL);
    keel_status_t status = fill(redis, address, process);
    if (status)
        destroy(&redis->meet);
    else
        *out = &redis->meet;
    return status;
}

#endif
