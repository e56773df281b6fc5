#define _GNU_SOURCE
#include "redis/redis.h"

#ifdef KEEL_HAS_REDIS

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

// ---- bytes -------------------------------------------------------------------------------------

static keel_status_t lost(keel_redis_t *redis, const char *why) {
    redis->is_lost = true;
    return keel_status_make(KEEL_IO, "%s", why);
}

static keel_status_t too_late(keel_redis_t *redis, const keel_redis_limits_t *limits) {
    char why[80];
    snprintf(why, sizeof why, "no whole answer within %g s", limits->seconds);
    return lost(redis, why);
}

static keel_status_t await(keel_redis_t *redis, short events, const keel_redis_limits_t *limits) {
    struct pollfd polled = {.fd = redis->descriptor, .events = events};
    for (;;) {
        uint64_t now = keel_clock_monotonic();
        if (now >= limits->until) return too_late(redis, limits);
        int got = poll(&polled, 1, (int)((limits->until - now) / 1000000) + 1);
        if (got > 0) return NULL;
        if (got < 0 && errno != EINTR) return lost(redis, strerror(errno));
    }
}

static bool is_for_later(ssize_t moved) {
    return moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

static ssize_t send_some(keel_redis_t *redis, keel_bytes_t bytes) {
    const keel_redis_stream_t *stream = &redis->stream;
    if (stream->send) return stream->send(stream->context, bytes.data, bytes.size);
    return send(redis->descriptor, bytes.data, bytes.size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static ssize_t receive_some(keel_redis_t *redis, void *data, size_t size) {
    const keel_redis_stream_t *stream = &redis->stream;
    if (stream->receive) return stream->receive(stream->context, data, size);
    return recv(redis->descriptor, data, size, MSG_DONTWAIT);
}

static keel_status_t send_all(keel_redis_t *redis, keel_bytes_t bytes,
                              const keel_redis_limits_t *limits) {
    while (bytes.size) {
        if (keel_clock_monotonic() >= limits->until) return too_late(redis, limits);
        ssize_t moved = send_some(redis, bytes);
        if (is_for_later(moved))
            KEEL_TRY(await(redis, POLLOUT, limits));
        else if (moved < 0)
            return lost(redis, "the connection is lost");
        if (moved > 0) bytes = keel_bytes(bytes.data + moved, bytes.size - (size_t)moved);
    }
    return NULL;
}

// hiredis takes memory for as many items as a list says that it has. Keel asks for short lists, and
// at most for one in a list.
static bool is_long_list(const redisReader *reader, size_t total, size_t items) {
    enum { LONGEST = 1000 }; // bytes
    const size_t longest_line = items > 9 ? 6 : 3;
    keel_str_t rest = {reader->buf, reader->len}, line;
    bool is_first = true;
    if (!reader->len || *reader->buf != '*') return false;
    while (keel_str_line(&rest, &line)) {
        bool is_list = line.size && *line.data == '*';
        if (is_list && (line.size > longest_line || (!is_first && items <= 9))) return true;
        is_first = false;
    }
    return total > LONGEST && items <= 9;
}

static keel_status_t receive(keel_redis_t *redis, const keel_redis_limits_t *limits,
                             redisReply **out) {
    size_t total = 0;
    char piece[16384];
    for (void *reply = NULL; !reply; *out = reply) {
        if (keel_clock_monotonic() >= limits->until) return too_late(redis, limits);
        ssize_t moved = receive_some(redis, piece, sizeof piece);
        if (is_for_later(moved)) {
            KEEL_TRY(await(redis, POLLIN, limits));
            continue;
        }
        if (moved <= 0) return lost(redis, "the connection is lost");
        total += (size_t)moved;
        if (total > limits->most)
            return lost(redis, "the answer is longer than any value of Keel's");
        if (redisReaderFeed(redis->reader, piece, (size_t)moved) != REDIS_OK)
            return lost(redis, redis->reader->errstr);
        if (is_long_list(redis->reader, total, limits->items))
            return lost(redis, "the answer is a list that Keel did not ask for");
        if (redisReaderGetReply(redis->reader, &reply) != REDIS_OK)
            return lost(redis, redis->reader->errstr);
    }
    return NULL;
}

// ---- commands ----------------------------------------------------------------------------------

static keel_status_t send_large(keel_redis_t *redis, keel_buffer_t *before, keel_bytes_t bytes,
                                const keel_redis_limits_t *limits) {
    KEEL_TRY(keel_buffer_status(before));
    KEEL_TRY(send_all(redis, keel_buffer_bytes(before), limits));
    before->size = 0;
    return send_all(redis, bytes, limits);
}

// Words are sent from where they are, because one may be a whole program.
static keel_status_t send_words(keel_redis_t *redis, const keel_bytes_t *words, size_t count,
                                const keel_redis_limits_t *limits) {
    enum { SMALL = 4096 };
    keel_buffer_t small;
    keel_status_t status = NULL;
    keel_buffer_initialize(&small, 0);
    keel_buffer_format(&small, "*%zu\r\n", limits->halved ? count - 1 : count);
    for (size_t i = 0; i < count && !status; ++i) {
        bool is_first_half = i + 1 == limits->halved,
             is_second = limits->halved && i == limits->halved;
        size_t more = is_first_half ? words[i + 1].size : 0;
        if (!is_second) keel_buffer_format(&small, "$%zu\r\n", words[i].size + more);
        if (words[i].size > SMALL)
            status = send_large(redis, &small, words[i], limits);
        else
            keel_buffer_append(&small, words[i].data, words[i].size);
        if (!is_first_half) keel_buffer_text(&small, "\r\n");
    }
    if (!status) status = keel_buffer_status(&small);
    if (!status) status = send_all(redis, keel_buffer_bytes(&small), limits);
    keel_buffer_deinitialize(&small);
    return status;
}

keel_status_t keel_redis_command(keel_redis_t *redis, const keel_bytes_t *words, size_t count,
                                 const keel_redis_limits_t *limits, redisReply **out) {
    redisReply *reply = NULL;
    if (redis->is_lost) return keel_status_make(KEEL_IO, "the connection is lost");
    KEEL_TRY(send_words(redis, words, count, limits));
    KEEL_TRY(receive(redis, limits, &reply));
    if (reply->type != REDIS_REPLY_ERROR) {
        *out = reply;
        return NULL;
    }
    keel_status_t status = keel_status_make(KEEL_IO, "%s", reply->str);
    freeReplyObject(reply);
    return status;
}

keel_status_t keel_redis_do(keel_redis_t *redis, const keel_bytes_t *words, size_t count,
                            const keel_redis_limits_t *limits) {
    redisReply *reply = NULL;
    KEEL_TRY(keel_redis_command(redis, words, count, limits, &reply));
    freeReplyObject(reply);
    return NULL;
}

// ---- connections -------------------------------------------------------------------------------

static keel_status_t no_memory(void) {
    return keel_status_make(KEEL_NO_MEMORY, "out of memory");
}

void keel_redis_close(keel_redis_t *redis) {
    if (!redis) return;
    if (redis->context) redisFree(redis->context);
    if (redis->reader) redisReaderFree(redis->reader);
    if (redis->stream.close) redis->stream.close(redis->stream.context);
    keel_free(redis);
}

static keel_status_t make(keel_redis_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(keel_redis_t), &memory));
    keel_redis_t *redis = memory;
    redis->reader = redisReaderCreate();
    if (redis->reader) {
        *out = redis;
        return NULL;
    }
    keel_redis_close(redis);
    return no_memory();
}

keel_status_t keel_redis_over(const keel_redis_stream_t *stream, int descriptor,
                              keel_redis_t **out) {
    keel_status_t status = make(out);
    if (status) {
        stream->close(stream->context);
        return status;
    }
    (*out)->stream = *stream;
    (*out)->descriptor = descriptor;
    return NULL;
}

static keel_status_t reach(keel_redis_t *redis, const keel_redis_address_t *address,
                           uint64_t until) {
    uint64_t now = keel_clock_monotonic(), left = until > now ? (until - now) / 1000 + 1 : 1;
    const struct timeval patience = {.tv_sec = (time_t)(left / 1000000),
                                     .tv_usec = (suseconds_t)(left % 1000000)};
    redis->context = redisConnectWithTimeout(address->host, address->port, patience);
    if (!redis->context) return no_memory();
    if (redis->context->err) return keel_status_make(KEEL_IO, "%s", redis->context->errstr);
    redis->descriptor = redis->context->fd;
    fcntl(redis->descriptor, F_SETFD, FD_CLOEXEC);
    redisEnableKeepAlive(redis->context);
    return NULL;
}

keel_status_t keel_redis_connect(const keel_redis_address_t *address,
                                 const keel_redis_limits_t *limits, keel_redis_t **out) {
    KEEL_TRY(make(out));
    keel_status_t status = reach(*out, address, limits->until);
    if (!status) return NULL;
    keel_redis_close(*out);
    *out = NULL;
    return status;
}

keel_status_t keel_redis_introduce(keel_redis_t *redis, const keel_redis_address_t *address,
                                   const char *password, const keel_redis_limits_t *limits) {
    char database[16];
    const keel_redis_limits_t plain = {limits->until, limits->seconds, limits->most, .items = 9};
    snprintf(database, sizeof database, "%u", address->database);
    const keel_bytes_t words[] = {keel_redis_word("AUTH"), keel_redis_word(address->user),
                                  keel_redis_word(password ? password : "")};
    const keel_bytes_t unnamed[] = {words[0], words[2]};
    const keel_bytes_t choice[] = {keel_redis_word("SELECT"), keel_redis_word(database)};
    if (password && *password)
        KEEL_TRY(*address->user ? keel_redis_do(redis, words, 3, &plain)
                                : keel_redis_do(redis, unnamed, 2, &plain));
    return address->database ? keel_redis_do(redis, choice, 2, &plain) : NULL;
}

#endif
