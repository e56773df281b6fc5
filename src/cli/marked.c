#define _GNU_SOURCE
#include "cli/marked.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LINE_MOST = 1 << 16 }; // bytes; a longer line is cut in two

void cli_marked_initialize(cli_marked_t *marked) {
    marked->count = 0;
}

keel_status_t cli_marked_open(cli_marked_t *marked, uint32_t number) {
    for (int i = 0; i < 2; ++i) {
        int ends[2] = {-1, -1};
        cli_stream_t *stream = &marked->streams[number][i];
        int error = pipe2(ends, O_CLOEXEC) ? errno : 0;
        *stream = (cli_stream_t){
            .from = ends[0], .into = ends[1], .to = i ? STDERR_FILENO : STDOUT_FILENO};
        keel_buffer_initialize(&stream->line, 0);
        if (error && i) close(marked->streams[number][0].from);
        if (error && i) close(marked->streams[number][0].into);
        if (error) return keel_status_make(KEEL_IO, "a pipe: %s", strerror(error));
    }
    marked->count = number + 1;
    return NULL;
}

bool cli_marked_take(const cli_marked_t *marked, uint32_t number) {
    int nothing = memfd_create("input", MFD_CLOEXEC);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) return false;
    for (int i = 0; i < 2; ++i)
        if (dup2(marked->streams[number][i].into, marked->streams[number][i].to) < 0) return false;
    return true;
}

void cli_marked_started(cli_marked_t *marked, uint32_t number) {
    for (int i = 0; i < 2; ++i)
        close(marked->streams[number][i].into);
}

// In one call if possible, so that the lines of several processes do not mix. If this cannot be
// written, neither can an error message.
static void write_line(const cli_stream_t *stream, uint32_t number, const uint8_t *line,
                       size_t size) {
    char mark[16];
    int length = snprintf(mark, sizeof mark, "[%u] ", number);
    struct iovec parts[] = {
        {mark, (size_t)length}, {(void *)(uintptr_t)line, size}, {(void *)(uintptr_t) "\n", 1}};
    enum { PARTS = sizeof parts / sizeof *parts };
    for (int at = 0; at < PARTS;) {
        ssize_t written = writev(stream->to, parts + at, PARTS - at);
        if (written < 0 && errno != EINTR) return;
        for (size_t left = written < 0 ? 0 : (size_t)written; at < PARTS; ++at) {
            size_t done = left < parts[at].iov_len ? left : parts[at].iov_len;
            parts[at].iov_base = (char *)parts[at].iov_base + done;
            parts[at].iov_len -= done;
            left -= done;
            if (parts[at].iov_len) break;
        }
    }
}

// What is complete of it; with `all`, the rest too. Returns how much that is.
static size_t write_lines(const cli_stream_t *stream, uint32_t number, keel_bytes_t text,
                          bool all) {
    size_t done = 0;
    while (done < text.size) {
        const uint8_t *start = text.data + done;
        size_t left = text.size - done;
        const uint8_t *end = memchr(start, '\n', left);
        if (!end && !all && left < LINE_MOST) break;
        size_t size = end ? (size_t)(end - start) : left;
        write_line(stream, number, start, size);
        done += size + (end != NULL);
    }
    return done;
}

static void pass_on(cli_stream_t *stream, uint32_t number, bool all) {
    size_t done = write_lines(stream, number, keel_buffer_bytes(&stream->line), all);
    if (!done) return;
    memmove(stream->line.data, stream->line.data + done, stream->line.size - done);
    stream->line.size -= done;
}

// Without memory, what came is passed on as if it were whole lines.
static void take(cli_stream_t *stream, uint32_t number, keel_bytes_t came) {
    keel_buffer_append(&stream->line, came.data, came.size);
    if (!stream->line.failed) {
        pass_on(stream, number, false);
        return;
    }
    pass_on(stream, number, true);
    write_lines(stream, number, came, true);
    keel_buffer_deinitialize(&stream->line);
    keel_buffer_initialize(&stream->line, 0);
}

static void close_stream(cli_stream_t *stream, uint32_t number) {
    pass_on(stream, number, true);
    close(stream->from);
    stream->from = -1;
    keel_buffer_deinitialize(&stream->line);
}

static void read_some(cli_stream_t *stream, uint32_t number) {
    uint8_t data[4096];
    ssize_t got = read(stream->from, data, sizeof data);
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) {
        close_stream(stream, number);
        return;
    }
    take(stream, number, keel_bytes(data, (size_t)got));
}

// Waits at most so long (NULL: without end). False if nothing came.
static bool read_all(cli_marked_t *marked, const struct timespec *most, const sigset_t *mask) {
    struct pollfd polled[2 * CLI_PROCESSES];
    nfds_t count = 0;
    for (uint32_t i = 1; i < marked->count; ++i)
        for (int j = 0; j < 2; ++j)
            if (marked->streams[i][j].from >= 0)
                polled[count++] = (struct pollfd){marked->streams[i][j].from, POLLIN, 0};
    if (ppoll(polled, count, most, mask) <= 0) return false;
    nfds_t at = 0;
    for (uint32_t i = 1; i < marked->count; ++i) {
        for (int j = 0; j < 2; ++j) {
            if (marked->streams[i][j].from < 0) continue;
            if (polled[at++].revents) read_some(&marked->streams[i][j], i);
        }
    }
    return true;
}

void cli_marked_pass_on(cli_marked_t *marked, uint64_t deadline, const sigset_t *mask) {
    static const uint64_t second = 1000000000;
    uint64_t now = keel_clock_monotonic(), left = deadline > now ? deadline - now : 0;
    const struct timespec most = {.tv_sec = (time_t)(left / second),
                                  .tv_nsec = (long)(left % second)};
    read_all(marked, deadline ? &most : NULL, mask);
}

static bool is_open(const cli_marked_t *marked) {
    for (uint32_t i = 1; i < marked->count; ++i)
        if (marked->streams[i][0].from >= 0 || marked->streams[i][1].from >= 0) return true;
    return false;
}

void cli_marked_end(cli_marked_t *marked) {
    static const struct timespec moment = {.tv_nsec = 200000000}; // what they started may go on
    while (is_open(marked) && read_all(marked, &moment, NULL))
        continue;
    for (uint32_t i = 1; i < marked->count; ++i)
        for (int j = 0; j < 2; ++j)
            if (marked->streams[i][j].from >= 0) close_stream(&marked->streams[i][j], i);
}
