#define _GNU_SOURCE
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"

bool keel_descriptor_fault(void) {
    if (!keel_fault_hit(KEEL_FAULT_FILE)) return false;
    errno = EIO;
    return true;
}

int keel_descriptor_open(const char *path, int flags) {
    return keel_descriptor_create(path, flags, 0600);
}

int keel_descriptor_create(const char *path, int flags, mode_t mode) {
    return keel_descriptor_fault() ? -1 : open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
}

// Past the file size limit (ulimit -f) the write fails instead of ending the program by a signal.
static ssize_t write_part(int descriptor, keel_bytes_t bytes) {
    const struct timespec now = {0};
    sigset_t signal, before;
    sigemptyset(&signal);
    sigaddset(&signal, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal, &before);
    ssize_t written = keel_descriptor_fault() ? -1 : write(descriptor, bytes.data, bytes.size);
    int error = errno;
    if (written < 0 && error == EFBIG) sigtimedwait(&signal, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return written;
}

bool keel_descriptor_write(int descriptor, keel_bytes_t bytes) {
    while (bytes.size) {
        ssize_t written = write_part(descriptor, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes.data += written;
        bytes.size -= (size_t)written;
    }
    return true;
}

keel_status_t keel_descriptor_refused(const char *verb, const char *path) {
    int error = errno;
    keel_code_t code = error == ENOENT || error == ENOTDIR ? KEEL_NOT_FOUND : KEEL_IO;
    return keel_status_make(code, "cannot %s %s: %s", verb, path,
                            error == ELOOP ? "it is a link, or leads back to itself"
                                           : strerror(error));
}
