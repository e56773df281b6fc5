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

#include <errno.h>
#include <fcntl.h>
#include <hiredis.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "meet/poll.h"

enum { WORDS_MOST = 5 }; // of a command

static const char lifetime[] = "3600"; // seconds

typedef struct redis_t {
    keel_meet_t meet;
    keel_redis_address_t address;
    char *job;
    char *channel;
    pthread_mutex_t lock; // for the connections
    redisContext *commands, *presence;
} redis_t;

// ---- bytes -------------------------------------------------------------------------------------

// hiredis connects, writes commands as bytes and reads answers from bytes. The bytes are sent and
// received here, because its own limit of time begins again with each byte that comes.

// A connection in use, until a time of keel_clock_monotonic.
typedef struct exchange_t {
    const redis_t *redis;
    redisContext *context;
    uint64_t until;
} exchange_t;

static keel_status_t failure(const redis_t *redis, const char *why) {
    return keel_status_make(KEEL_IO, "%s: %s", redis->meet.shown, why);
}

// The connection is of no use any more.
static keel_status_t lost(const exchange_t *exchange, const char *why) {
    exchange->context->err = REDIS_ERR_OTHER;
    return failure(exchange->redis, why);
}

static keel_status_t too_late(const exchange_t *exchange) {
    char why[80];
    snprintf(why, sizeof why, "no whole answer within %g s",
             (double)keel_limit(KEEL_LIMIT_REDIS_ANSWER) / 1000);
    return lost(exchange, why);
}

static keel_status_t await(const exchange_t *exchange, short events) {
    struct pollfd polled = {.fd = exchange->context->fd, .events = events};
    for (;;) {
        uint64_t now = keel_clock_monotonic();
        if (now >= exchange->until) return too_late(exchange);
        int got = poll(&polled, 1, (int)((exchange->until - now) / 1000000) + 1);
        if (got > 0) return NULL;
        if (got < 0 && errno != EINTR) return lost(exchange, strerror(errno));
    }
}

static bool is_for_later(ssize_t moved) {
    return moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

static keel_status_t send_all(const exchange_t *exchange, const char *data, size_t size) {
    for (size_t sent = 0; sent < size;) {
        KEEL_TRY(await(exchange, POLLOUT));
        ssize_t moved =
            send(exchange->context->fd, data + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (moved < 0 && !is_for_later(moved)) return lost(exchange, "the connection is lost");
        if (moved > 0) sent += (size_t)moved;
    }
    return NULL;
}

// hiredis takes memory for as many items as a list says that it has. Keel asks for short lists, and
// for none in a list.
static bool is_long_list(const redisReader *reader, size_t total) {
    enum { LONGEST = 1000, ONE_DIGIT = 3 }; // bytes; "*3\r"
    keel_str_t rest = {reader->buf, reader->len}, line;
    bool is_first = true;
    if (!reader->len || *reader->buf != '*') return false;
    while (keel_str_line(&rest, &line)) {
        if (line.size && *line.data == '*' && (!is_first || line.size > ONE_DIGIT)) return true;
        is_first = false;
    }
    return total > LONGEST;
}

static keel_status_t receive(const exchange_t *exchange, redisReply **out) {
    const size_t most = KEEL_MEET_VALUE + 4096;
    redisReader *reader = exchange->context->reader;
    size_t total = 0;
    char piece[16384];
    for (void *reply = NULL; !reply; *out = reply) {
        KEEL_TRY(await(exchange, POLLIN));
        ssize_t moved = recv(exchange->context->fd, piece, sizeof piece, MSG_DONTWAIT);
        if (is_for_later(moved)) continue;
        if (moved <= 0) return lost(exchange, "the connection is lost");
        total += (size_t)moved;
        if (total > most) return lost(exchange, "the answer is longer than any value of Keel's");
        if (redisReaderFeed(reader, piece, (size_t)moved) != REDIS_OK)
            return lost(exchange, reader->errstr);
        if (is_long_list(reader, total))
            return lost(exchange, "the answer is a list that Keel did not ask for");
        if (redisReaderGetReply(reader, &reply) != REDIS_OK) return lost(exchange, reader->errstr);
    }
    return NULL;
}

// Sends one command. The caller frees the answer; it is not an error of the server.
static keel_status_t send_words(const exchange_t *exchange, const keel_bytes_t *words, int count,
                                redisReply **out) {
    const char *texts[WORDS_MOST];
    size_t sizes[WORDS_MOST];
    char *bytes;
    KEEL_ASSERT(count <= WORDS_MOST);
    for (int i = 0; i < count; ++i) {
        texts[i] = (const char *)words[i].data;
        sizes[i] = words[i].size;
    }
    int size = redisFormatCommandArgv(&bytes, count, texts, sizes);
    if (size < 0) return keel_status_make(KEEL_NO_MEMORY, "out of memory");
    redisReply *reply = NULL;
    keel_status_t status = send_all(exchange, bytes, (size_t)size);
    redisFreeCommand(bytes);
    if (!status) status = receive(exchange, &reply);
    if (status) return status;
    if (reply->type != REDIS_REPLY_ERROR) {
        *out = reply;
        return NULL;
    }
    status = failure(exchange->redis, reply->str);
    freeReplyObject(reply);
    return status;
}

// ---- connections -------------------------------------------------------------------------------

static keel_bytes_t word(const char *text) {
    return keel_str_bytes(keel_str(text));
}

static keel_status_t send_simple(const exchange_t *exchange, const keel_bytes_t *words, int count) {
    redisReply *reply = NULL;
    KEEL_TRY(send_words(exchange, words, count, &reply));
    freeReplyObject(reply);
    return NULL;
}

static keel_status_t introduce(const exchange_t *exchange) {
    const keel_redis_address_t *address = &exchange->redis->address;
    const char *password = getenv("REDISCLI_AUTH");
    char database[16];
    snprintf(database, sizeof database, "%u", address->database);
    const keel_bytes_t named[] = {word("AUTH"), word(address->user), word(password)};
    const keel_bytes_t unnamed[] = {word("AUTH"), word(password)};
    const keel_bytes_t choice[] = {word("SELECT"), word(database)};
    if (password && *password)
        KEEL_TRY(*address->user ? send_simple(exchange, named, 3)
                                : send_simple(exchange, unnamed, 2));
    return address->database ? send_simple(exchange, choice, 2) : NULL;
}

static keel_status_t connect_one(const redis_t *redis, uint64_t until, redisContext **out) {
    uint64_t now = keel_clock_monotonic(), left = until > now ? (until - now) / 1000 + 1 : 1;
    const struct timeval patience = {.tv_sec = (time_t)(left / 1000000),
                                     .tv_usec = (suseconds_t)(left % 1000000)};
    redisContext *context =
        redisConnectWithTimeout(redis->address.host, redis->address.port, patience);
    if (!context) return keel_status_make(KEEL_NO_MEMORY, "out of memory");
    if (context->err) {
        keel_status_t status = failure(redis, context->errstr);
        redisFree(context);
        return status;
    }
    fcntl(context->fd, F_SETFD, FD_CLOEXEC);
    redisEnableKeepAlive(context);
    keel_status_t status = introduce(&(exchange_t){redis, context, until});
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
static keel_status_t connect_both(redis_t *redis, uint64_t until) {
    const keel_bytes_t words[] = {word("SUBSCRIBE"), word(redis->channel)};
    disconnect(redis);
    keel_status_t status = connect_one(redis, until, &redis->presence);
    if (!status) status = send_simple(&(exchange_t){redis, redis->presence, until}, words, 2);
    if (!status) status = connect_one(redis, until, &redis->commands);
    if (status) disconnect(redis);
    return status;
}

static uint64_t in_time(void) {
    return keel_clock_monotonic() + keel_limit_time(KEEL_LIMIT_REDIS_ANSWER);
}

// A connection that is found closed is made again, within the same time.
static keel_status_t command(redis_t *redis, const keel_bytes_t *words, int count,
                             redisReply **out) {
    uint64_t until = in_time();
    pthread_mutex_lock(&redis->lock);
    keel_status_t status =
        redis->commands
            ? send_words(&(exchange_t){redis, redis->commands, until}, words, count, out)
            : failure(redis, "the connection is lost");
    bool is_lost = status && redis->commands && redis->commands->err;
    if (is_lost && keel_clock_monotonic() >= until) {
        disconnect(redis);
    } else if (is_lost) {
        keel_status_ignore(status);
        status = connect_both(redis, until);
        if (!status)
            status = send_words(&(exchange_t){redis, redis->commands, until}, words, count, out);
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
    return connect_both(redis, in_time());
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
