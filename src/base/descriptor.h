// Open files, for files.c and lock.c alone. Whoever calls closes what was opened.
#ifndef KEEL_BASE_DESCRIPTOR_H_
#define KEEL_BASE_DESCRIPTOR_H_

#include <stdbool.h>

#include "base/bytes.h"
#include "keel/status.h"

// True if this file operation is the one that a test wants to fail; sets errno.
bool keel_descriptor_fault(void);
// Made with mode 0600 if `flags` has O_CREAT; always O_CLOEXEC and O_NOCTTY. -1: see errno.
int keel_descriptor_open(const char *path, int flags);
// All of the bytes, at the descriptor's place. False: see errno.
bool keel_descriptor_write(int descriptor, keel_bytes_t bytes);
// "cannot VERB PATH: what errno says".
keel_status_t keel_descriptor_refused(const char *verb, const char *path) KEEL_MUST_CHECK;

#endif // KEEL_BASE_DESCRIPTOR_H_
