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

#include <fcntl.h>
#include <hiredis.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "meet/poll.h"

enum { PATIENCE = 5, WORDS_MOST = 5 }; // seconds for an answer; words of a command

static const char lifetime[] = "3600"; // seconds

typedef struct redis_t {
    keel_meet_t meet;
    keel_redis_address_t address;
    char *job;
    char *channel;
    pthread_mutex_t lock; // for the connections
    redisContext *commands, *presence;
} redis_t;

// ---- connections -------------------------------------------------------------------------------

// hiredis writes without MSG_NOSIGNAL. Between the two calls a connection that the server has
// closed raises no signal.
typedef struct quiet_t {
    sigset_t before;
    bool was_pending;
} quiet_t;

static sigset_t pipe_signal(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
}

static quiet_t quiet_begin(void) {
    quiet_t quiet;
    sigset_t pending, set = pipe_signal();
    sigpending(&pending);
    quiet.was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &set, &quiet.before);
    return quiet;
}

static void quiet_end(const quiet_t *quiet) {
    const struct timespec now = {0};
    sigset_t set = pipe_signal();
    if (!quiet->was_pending) sigtimedwait(&set, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
}

static keel_status_t failure(const redis_t *redis, const char *why) {
    return keel_status_make(KEEL_IO, "%s: %s", redis->meet.shown, why);
}

// Sends one command. The caller frees the answer; it is not an error of the server.
static keel_status_t send_words(const redis_t *redis, redisContext *context,
                                const keel_bytes_t *words, int count, redisReply **out) {
    const char *texts[WORDS_MOST];
    size_t sizes[WORDS_MOST];
    for (int i = 0; i < count; ++i) {
        texts[i] = (const char *)words[i].data;
        sizes[i] = words[i].size;
    }
    quiet_t quiet = quiet_begin();
    redisReply *reply = redisCommandArgv(context, count, texts, sizes);
    quiet_end(&quiet);
    if (!reply)
        return failure(redis, context->err == REDIS_ERR_IO ? "no answer, or the connection is lost"
                              : *context->errstr           ? context->errstr
                                                           : "no answer");
    if (reply->type != REDIS_REPLY_ERROR) {
        *out = reply;
        return NULL;
    }
    keel_status_t status = failure(redis, reply->str);
    freeReplyObject(reply);
    return status;
}

static keel_bytes_t word(const char *text) {
    return keel_str_bytes(keel_str(text));
}

static keel_status_t send_simple(const redis_t *redis, redisContext *context,
                                 const keel_bytes_t *words, int count) {
    redisReply *reply = NULL;
    KEEL_TRY(send_words(redis, context, words, count, &reply));
    freeReplyObject(reply);
    return NULL;
}

static keel_status_t introduce(const redis_t *redis, redisContext *context) {
    const char *password = getenv("REDISCLI_AUTH");
    char database[16];
    snprintf(database, sizeof database, "%u", redis->address.database);
    const keel_bytes_t named[] = {word("AUTH"), word(redis->address.user), word(password)};
    const keel_bytes_t unnamed[] = {word("AUTH"), word(password)};
    const keel_bytes_t choice[] = {word("SELECT"), word(database)};
    if (password && *password)
        KEEL_TRY(*redis->address.user ? send_simple(redis, context, named, 3)
                                      : send_simple(redis, context, unnamed, 2));
    return redis->address.database ? send_simple(redis, context, choice, 2) : NULL;
}

static keel_status_t connect_one(const redis_t *redis, redisContext **out) {
    const struct timeval patience = {.tv_sec = PATIENCE};
    redisContext *context =
        redisConnectWithTimeout(redis->address.host, redis->address.port, patience);
    if (!context) return keel_status_make(KEEL_NO_MEMORY, "out of memory");
    if (context->err) {
        keel_status_t status = failure(redis, context->errstr);
        redisFree(context);
        return status;
    }
    fcntl(context->fd, F_SETFD, FD_CLOEXEC);
    redisSetTimeout(context, patience);
    redisEnableKeepAlive(context);
    keel_status_t status = introduce(redis, context);
    if (status)
        redisFree(context);
    else
        *out = context;
    return status;
}

static void disconnect(redis_t *redis) {
    if (redis->commands) redisFree(redis->commands);
    if (redis->presence) redisFree(redis->presence);
    redis->commands = redis->presence = NULL;
}

// First the presence: what this process puts counts only as long as others see it.
static keel_status_t connect_both(redis_t *redis) {
    const keel_bytes_t words[] = {word("SUBSCRIBE"), word(redis->channel)};
    disconnect(redis);
    keel_status_t status = connect_one(redis, &redis->presence);
    if (!status) status = send_simple(redis, redis->presence, words, 2);
    if (!status) status = connect_one(redis, &redis->commands);
    if (status) disconnect(redis);
    return status;
}

static keel_status_t command(redis_t *redis, const keel_bytes_t *words, int count,
                             redisReply **out) {
    pthread_mutex_lock(&redis->lock);
    keel_status_t status = redis->commands ? send_words(redis, redis->commands, words, count, out)
                                           : failure(redis, "the connection is lost");
    if (status && redis->commands && redis->commands->err) {
        keel_status_ignore(status);
        status = connect_both(redis);
        if (!status) status = send_words(redis, redis->commands, words, count, out);
    }
    pthread_mutex_unlock(&redis->lock);
    return status;
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
    return connect_both(redis);
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
