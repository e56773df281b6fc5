// Redis: an entry is a string under "keel:<name>", a claim one that expires.
//
// A value is read in pieces, so memory does not grow with it; if the server evicts it meanwhile, it
// is not there. rediss:// leads through libcurl, which has TLS.
#define _GNU_SOURCE
#include "redis/redis.h"
#include "courier/backend.h"

#ifndef KEEL_HAS_REDIS

keel_status_t backend_redis(const keel_remote_t *remote, backend_t *out) {
    (void)remote;
    (void)out;
    return keel_status_make(KEEL_UNSUPPORTED, "this Keel was built without hiredis, which reaches "
                                              "Redis; build it with libhiredis");
}

#else

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "courier/netrc.h"
#include "courier/tls.h"

// Connections; bytes that are read at once; bytes a second that a link has at least.
enum { KEPT = 8, PIECE = 1 << 20, SLOWEST = 1 << 20 };

static const char prefix[] = "keel:";

typedef struct redis_t {
    const keel_remote_t *remote;
    pthread_mutex_t lock; // for what follows
    keel_redis_t *kept[KEPT];
    size_t count;
} redis_t;

// ---- connections -------------------------------------------------------------------------------

static keel_redis_limits_t limits_of(const redis_t *redis, size_t bytes) {
    uint64_t patience = redis->remote->timeout + (uint64_t)bytes * 1000000000u / (uint64_t)SLOWEST;
    return (keel_redis_limits_t){.until = keel_clock_monotonic() + patience,
                                 .seconds = keel_seconds(patience),
                                 .most = PIECE + 4096,
                                 .items = 9};
}

static keel_redis_t *take_kept(redis_t *redis) {
    pthread_mutex_lock(&redis->lock);
    keel_redis_t *one = redis->count ? redis->kept[--redis->count] : NULL;
    pthread_mutex_unlock(&redis->lock);
    return one;
}

static void give(redis_t *redis, keel_redis_t *one) {
    bool is_kept = false;
    pthread_mutex_lock(&redis->lock);
    if (!one->is_lost && redis->count < KEPT) {
        redis->kept[redis->count++] = one;
        is_kept = true;
    }
    pthread_mutex_unlock(&redis->lock);
    if (!is_kept) keel_redis_close(one);
}

// The password: from the environment, as redis-cli has it, or from ~/.netrc.
static keel_status_t introduce(const redis_t *redis, keel_redis_t *one,
                               const keel_redis_limits_t *limits) {
    keel_redis_address_t address = redis->remote->redis;
    const char *password = getenv("REDISCLI_AUTH");
    netrc_t netrc = {.login = ""};
    snprintf(netrc.login, sizeof netrc.login, "%s", address.user);
    if ((!password || !*password) && netrc_find(address.host, &netrc)) {
        password = netrc.password;
        snprintf(address.user, sizeof address.user, "%.127s", netrc.login);
    }
    return keel_redis_introduce(one, &address, password, limits);
}

static keel_status_t connect_new(const redis_t *redis, const keel_redis_limits_t *limits,
                                 keel_redis_t **out) {
    const keel_remote_t *remote = redis->remote;
    KEEL_TRY(remote->is_secure ? tls_connect(remote, limits->until, out)
                               : keel_redis_connect(&remote->redis, limits, out));
    keel_status_t status = introduce(redis, *out, limits);
    if (!status) return NULL;
    keel_redis_close(*out);
    *out = NULL;
    return status;
}

// What an error of the server's means.
static keel_status_t told(keel_status_t status) {
    static const struct {
        const char *begins;
        keel_code_t code;
        const char *advice;
    } known[] = {
        {"OOM", KEEL_REFUSED,
         "it has no room: raise its maxmemory, or set maxmemory-policy to "
         "allkeys-lru"},
        {"NOAUTH", KEEL_IO, "it wants a password: ~/.netrc or REDISCLI_AUTH has it"},
        {"WRONGPASS", KEEL_IO, "the password of ~/.netrc or REDISCLI_AUTH is wrong"},
        {"NOPERM", KEEL_IO, "its user may not do this (NOPERM)"},
        {"READONLY", KEEL_IO, "it is a replica, which is only read; name the primary"},
    };
    const char *message = keel_status_message(status);
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (strncmp(message, known[i].begins, strlen(known[i].begins)) != 0) continue;
        keel_status_ignore(status);
        return keel_status_make(known[i].code, "%s", known[i].advice);
    }
    return status;
}

// On a connection that was kept, if there is one; the server may have closed it since.
static keel_status_t command(redis_t *redis, const keel_bytes_t *words, size_t count,
                             const keel_redis_limits_t *limits, redisReply **out) {
    keel_redis_t *one = take_kept(redis);
    keel_status_t status = NULL;
    for (bool was_kept = one; !*out && !status; was_kept = false) {
        if (!one) status = connect_new(redis, limits, &one);
        if (status) break;
        status = keel_redis_command(one, words, count, limits, out);
        if (status && strncmp(keel_status_message(status), "NOAUTH", 6) == 0)
            one->is_lost = true; // the next has a password, once there is one
        bool again = status && one->is_lost && was_kept && keel_clock_monotonic() < limits->until;
        give(redis, one);
        one = NULL;
        if (!again) break;
        keel_status_ignore(status);
        status = NULL;
    }
    return status ? told(status) : NULL;
}

static keel_status_t unexpected(void) {
    return keel_status_make(KEEL_CORRUPT, "it answers what Keel did not ask for");
}

// For an answer of that type, with room for `bytes` that are sent. The caller frees it.
static keel_status_t ask(redis_t *redis, const keel_bytes_t *words, size_t count, size_t bytes,
                         redisReply **out) {
    const keel_redis_limits_t limits = limits_of(redis, bytes);
    *out = NULL;
    return command(redis, words, count, &limits, out);
}

static keel_status_t ask_number(redis_t *redis, const keel_bytes_t *words, size_t count,
                                long long *out) {
    redisReply *reply;
    KEEL_TRY(ask(redis, words, count, 0, &reply));
    bool is_number = reply->type == REDIS_REPLY_INTEGER;
    if (is_number) *out = reply->integer;
    freeReplyObject(reply);
    return is_number ? NULL : unexpected();
}

static keel_bytes_t word(const char *text) {
    return keel_redis_word(text);
}

static keel_status_t key_of(const char *name, char **out) {
    return keel_path(out, "%s%s", prefix, name);
}

// ---- entries -----------------------------------------------------------------------------------

static keel_status_t size_of(redis_t *redis, const char *key, uint64_t *out) {
    const keel_bytes_t words[] = {word("STRLEN"), word(key)};
    long long size = 0;
    KEEL_TRY(ask_number(redis, words, 2, &size));
    if (size <= 0) return keel_status_make(KEEL_NOT_FOUND, "not there");
    *out = (uint64_t)size;
    return NULL;
}

// Nothing comes if it was evicted.
static keel_status_t read_piece(redis_t *redis, const char *key, uint64_t at, const sink_t *sink,
                                size_t *out_size) {
    char first[24], last[24];
    redisReply *reply;
    snprintf(first, sizeof first, "%" PRIu64, at);
    snprintf(last, sizeof last, "%" PRIu64, at + PIECE - 1);
    const keel_bytes_t words[] = {word("GETRANGE"), word(key), word(first), word(last)};
    KEEL_TRY(ask(redis, words, 4, PIECE, &reply));
    keel_status_t status = reply->type == REDIS_REPLY_STRING ? NULL : unexpected();
    *out_size = status ? 0 : (size_t)reply->len;
    if (*out_size && !sink->take(sink->context, reply->str, *out_size))
        status = keel_status_make(KEEL_CORRUPT, "%s", sink->why);
    freeReplyObject(reply);
    return status;
}

static keel_status_t read_value(redis_t *redis, const char *key, const sink_t *sink) {
    uint64_t size;
    KEEL_TRY(size_of(redis, key, &size));
    for (uint64_t at = 0; at < size;) {
        size_t got;
        KEEL_TRY(read_piece(redis, key, at, sink, &got));
        if (!got) return keel_status_make(KEEL_NOT_FOUND, "it was evicted");
        at += got;
    }
    return NULL;
}

static keel_status_t redis_get(void *context, const char *name, const sink_t *sink) {
    char *key;
    KEEL_TRY(key_of(name, &key));
    keel_status_t status = read_value(context, key, sink);
    keel_free(key);
    return status;
}

static keel_status_t redis_head(void *context, const char *name, facts_t *out) {
    char *key;
    KEEL_TRY(key_of(name, &key));
    *out = (facts_t){.age = AGE_UNKNOWN};
    keel_status_t status = size_of(context, key, &out->size);
    keel_free(key);
    return status;
}

static keel_status_t set(redis_t *redis, const char *key, put_t how, keel_bytes_t head,
                         keel_bytes_t rest) {
    const keel_bytes_t words[] = {word("SET"), word(key), head, rest, word("NX")};
    keel_redis_limits_t limits = limits_of(redis, head.size + rest.size);
    redisReply *reply = NULL;
    limits.halved = 3;
    KEEL_TRY(command(redis, words, how == PUT_IF_ABSENT ? 5 : 4, &limits, &reply));
    bool is_there = reply->type == REDIS_REPLY_NIL;
    freeReplyObject(reply);
    return is_there ? keel_status_make(KEEL_INVALID, "it is there already") : NULL;
}

static keel_status_t redis_put(void *context, const char *name, put_t how, keel_bytes_t head,
                               keel_bytes_t rest) {
    const size_t most = 512u << 20; // what Redis takes
    char *key;
    if (rest.size > most || head.size > most - rest.size)
        return keel_status_make(KEEL_REFUSED,
                                "an entry is larger than the 512 MiB that Redis takes");
    KEEL_TRY(key_of(name, &key));
    keel_status_t status = set(context, key, how, head, rest);
    keel_free(key);
    return status;
}

static keel_status_t redis_remove(void *context, const char *name) {
    char *key;
    long long removed;
    KEEL_TRY(key_of(name, &key));
    const keel_bytes_t words[] = {word("DEL"), word(key)};
    keel_status_t status = ask_number(context, words, 2, &removed);
    keel_free(key);
    return status;
}

// ---- listing -----------------------------------------------------------------------------------

static keel_status_t visit_key(redis_t *redis, const char *key, visit_t visit, void *visitor) {
    facts_t facts = {.age = AGE_UNKNOWN};
    keel_status_t status = size_of(redis, key, &facts.size);
    if (!status) return visit(visitor, key + sizeof prefix - 1, &facts);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    return NULL;
}

static bool is_list(const redisReply *reply) {
    bool is_pair = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
                   reply->element[0]->type == REDIS_REPLY_STRING &&
                   reply->element[1]->type == REDIS_REPLY_ARRAY;
    for (size_t i = 0; is_pair && i < reply->element[1]->elements; ++i)
        if (reply->element[1]->element[i]->type != REDIS_REPLY_STRING) return false;
    return is_pair;
}

// One part of the list; the cursor is "0" at its end.
static keel_status_t scan(redis_t *redis, char cursor[24], const char *pattern, redisReply **out) {
    keel_redis_limits_t limits = limits_of(redis, 0);
    const keel_bytes_t words[] = {word("SCAN"),  word(cursor),  word("MATCH"),
                                  word(pattern), word("COUNT"), word("1000")};
    limits.items = 9999;
    *out = NULL;
    KEEL_TRY(command(redis, words, 6, &limits, out));
    if (is_list(*out)) {
        snprintf(cursor, 24, "%s", (*out)->element[0]->str);
        return NULL;
    }
    freeReplyObject(*out);
    return unexpected();
}

static keel_status_t redis_list(void *context, const char *below, visit_t visit, void *visitor) {
    char cursor[24] = "0", *pattern;
    keel_status_t status;
    KEEL_TRY(keel_path(&pattern, "%s%s*", prefix, below));
    do {
        redisReply *reply;
        status = scan(context, cursor, pattern, &reply);
        if (status) break;
        const redisReply *keys = reply->element[1];
        for (size_t i = 0; i < keys->elements && !status; ++i)
            if (strncmp(keys->element[i]->str, pattern, strlen(pattern) - 1) == 0)
                status = visit_key(context, keys->element[i]->str, visit, visitor);
        freeReplyObject(reply);
    } while (!status && strcmp(cursor, "0") != 0);
    keel_free(pattern);
    return status;
}

// ---- claims ------------------------------------------------------------------------------------

static keel_status_t look(redis_t *redis, const char *key, lease_t *out) {
    const keel_bytes_t words[] = {word("GET"), word(key)}, left[] = {word("PTTL"), word(key)};
    redisReply *reply;
    long long milliseconds = 0;
    *out = (lease_t){.holder = "another"};
    KEEL_TRY(ask(redis, words, 2, 0, &reply));
    const char *line = reply->type == REDIS_REPLY_STRING ? strchr(reply->str, '\n') : NULL;
    if (line) snprintf(out->holder, sizeof out->holder, "%s", line + 1);
    keel_utf8_mask(out->holder, strlen(out->holder));
    freeReplyObject(reply);
    KEEL_TRY(ask_number(redis, left, 2, &milliseconds));
    if (milliseconds > 0) out->length = (uint64_t)milliseconds * 1000000;
    return NULL;
}

static keel_status_t take(redis_t *redis, const char *key, const lease_t *mine, bool *out_held) {
    char value[320], length[24];
    redisReply *reply;
    snprintf(value, sizeof value, "%s\n%s", mine->token, mine->holder);
    snprintf(length, sizeof length, "%" PRIu64, mine->length / 1000000);
    const keel_bytes_t words[] = {word("SET"), word(key),  word(value),
                                  word("NX"),  word("PX"), word(length)};
    KEEL_TRY(ask(redis, words, 6, 0, &reply));
    *out_held = reply->type != REDIS_REPLY_NIL;
    freeReplyObject(reply);
    return NULL;
}

static keel_status_t redis_claim(void *context, const char *name, const lease_t *mine,
                                 lease_t *other, bool *out_held) {
    char *key;
    KEEL_TRY(key_of(name, &key));
    keel_status_t status = take(context, key, mine, out_held);
    if (!status && !*out_held) status = look(context, key, other);
    keel_free(key);
    return status;
}

// Only if the value still begins with the token: the server runs both as one.
static keel_status_t if_held(redis_t *redis, const char *name, const lease_t *mine,
                             const char *then, bool *out_held) {
    char script[200], length[24], *key;
    long long done = 0;
    KEEL_TRY(key_of(name, &key));
    snprintf(script, sizeof script,
             "local v = redis.call('get', KEYS[1]) "
             "if v and string.sub(v, 1, 32) == ARGV[1] then return %s end return 0",
             then);
    snprintf(length, sizeof length, "%" PRIu64, mine->length / 1000000);
    const keel_bytes_t words[] = {word("EVAL"), word(script),      word("1"),
                                  word(key),    word(mine->token), word(length)};
    keel_status_t status = ask_number(redis, words, 6, &done);
    keel_free(key);
    *out_held = done == 1;
    return status;
}

static keel_status_t redis_renew(void *context, const char *name, const lease_t *mine) {
    bool is_held;
    KEEL_TRY(if_held(context, name, mine, "redis.call('pexpire', KEYS[1], ARGV[2])", &is_held));
    return is_held ? NULL : keel_status_make(KEEL_NOT_FOUND, "another may hold it by now");
}

static keel_status_t redis_release(void *context, const char *name, const lease_t *mine) {
    bool is_held;
    return if_held(context, name, mine, "redis.call('del', KEYS[1])", &is_held);
}

// ------------------------------------------------------------------------------------------------

static void redis_close(void *context) {
    redis_t *redis = context;
    for (size_t i = 0; i < redis->count; ++i)
        keel_redis_close(redis->kept[i]);
    pthread_mutex_destroy(&redis->lock);
    keel_free(redis);
}

keel_status_t backend_redis(const keel_remote_t *remote, backend_t *out) {
    static const backend_kind_t kind = {.get = redis_get,
                                        .head = redis_head,
                                        .put = redis_put,
                                        .list = redis_list,
                                        .remove = redis_remove,
                                        .claim = redis_claim,
                                        .renew = redis_renew,
                                        .release = redis_release,
                                        .close = redis_close};
    void *memory;
    if (remote->is_secure) KEEL_TRY(tls_check());
    KEEL_TRY(keel_calloc(1, sizeof(redis_t), &memory));
    redis_t *redis = memory;
    redis->remote = remote;
    pthread_mutex_init(&redis->lock, NULL);
    *out = (backend_t){redis, &kind};
    return NULL;
}

#endif
