// Open files, for files.c, lock.c and socket.c alone. The caller closes what it opened.
#ifndef KEEL_BASE_DESCRIPTOR_H_
#define KEEL_BASE_DESCRIPTOR_H_

#include <stdbool.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "keel/status.h"

// True if a test wants this file operation to fail; sets errno.
bool keel_descriptor_fault(void);
// Always O_CLOEXEC and O_NOCTTY; mode 0600 if `flags` has O_CREAT. -1 on failure: see errno.
int keel_descriptor_open(const char *path, int flags);
// The same with another mode, less what the umask takes away.
int keel_descriptor_create(const char *path, int flags, mode_t mode);
// Writes all of the bytes at the descriptor's position. False on failure: see errno.
bool keel_descriptor_write(int descriptor, keel_bytes_t bytes);
// "cannot VERB PATH: REASON", with the reason from errno.
keel_status_t keel_descriptor_refused(const char *verb, const char *path) KEEL_MUST_CHECK;

#endif // KEEL_BASE_DESCRIPTOR_H_
