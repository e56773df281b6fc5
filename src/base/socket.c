#define _GNU_SOURCE
#include "base/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/answer.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/files.h"
#include "base/memory.h"

// The address leads through a descriptor of the folder, so its length does not count.
static keel_status_t address_of(const char *folder, const char *name, int *out_folder,
                                struct sockaddr_un *out) {
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    *out_folder = keel_descriptor_open(folder, O_PATH | O_DIRECTORY);
    if (*out_folder < 0) {
        bool is_missing = errno == ENOENT;
        keel_status_t status = keel_descriptor_refused("open", folder);
        if (!is_missing) return status;
        keel_status_ignore(status);
        return keel_status_make(KEEL_NOT_FOUND, "%s is not there", folder);
    }
    int size =
        snprintf(out->sun_path, sizeof out->sun_path, "/proc/self/fd/%d/%s", *out_folder, name);
    if (size > 0 && (size_t)size < sizeof out->sun_path) return NULL;
    close(*out_folder);
    return keel_status_make(KEEL_INVALID, "%s: the name of a socket is too long", name);
}

keel_status_t keel_socket_connect(const char *folder, const char *name, int *out) {
    struct sockaddr_un address;
    int at;
    KEEL_TRY(address_of(folder, name, &at, &address));
    *out = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int failed = *out < 0 ? -1 : connect(*out, (struct sockaddr *)&address, sizeof address);
    int why = errno;
    close(at);
    if (!failed) return NULL;
    if (*out >= 0) close(*out);
    bool is_nobody = why == ENOENT || why == ECONNREFUSED;
    return keel_status_make(is_nobody ? KEEL_NOT_FOUND : KEEL_IO, "cannot connect to %s/%s: %s",
                            folder, name, strerror(why));
}

keel_status_t keel_socket_listen(const char *folder, const char *name, int *out) {
    enum { WAITING = 128 };
    struct sockaddr_un address;
    char *path;
    int at;
    KEEL_TRY(keel_path(&path, "%s/%s", folder, name));
    keel_status_t status = keel_file_remove(path);
    keel_free(path);
    KEEL_TRY(status);
    KEEL_TRY(address_of(folder, name, &at, &address));
    *out = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int failed = *out < 0 ? -1 : bind(*out, (struct sockaddr *)&address, sizeof address);
    if (!failed) failed = listen(*out, WAITING);
    int why = errno;
    close(at);
    if (!failed) return NULL;
    if (*out >= 0) close(*out);
    return keel_status_make(KEEL_IO, "cannot listen at %s/%s: %s", folder, name, strerror(why));
}

bool keel_socket_send(int socket, keel_bytes_t bytes, uint64_t until) {
    struct pollfd ready = {.fd = socket, .events = POLLOUT};
    while (bytes.size) {
        uint64_t now = keel_clock_monotonic();
        if (now >= until) return false;
        int got = poll(&ready, 1, (int)((until - now) / 1000000) + 1);
        if (got < 0 && errno != EINTR) return false;
        if (got <= 0) continue;
        ssize_t sent = send(socket, bytes.data, bytes.size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
        if (sent > 0) bytes = keel_bytes(bytes.data + sent, bytes.size - (size_t)sent);
    }
    return true;
}

bool keel_socket_line(int socket, uint64_t until, keel_buffer_t *out) {
    if (!keel_answer_read(socket, '\n', until, out) || out->failed) return false;
    if (!out->size || out->data[out->size - 1] != '\n') return false;
    out->data[--out->size] = 0;
    return true;
}
