// The name of a program that is not the digest of its bytes, in the file that keeps it. A program
// with constants beside it (read/read.h) is named by what its client gave, and kept as a whole.
// What says so stands behind the packed program, as a frame that zstd skips:
//
//   0x184D2A5B, 76                  u32, of zstd's format
//   "keel name 1\n"
//   the program's name              32 bytes
//   keel_program_digest of it       32 bytes
#ifndef KEEL_JOURNAL_PROGRAM_NAME_H_
#define KEEL_JOURNAL_PROGRAM_NAME_H_

#include "base/base.h"

typedef struct keel_program_name_t {
    keel_digest_t program, content;
} keel_program_name_t;

void keel_program_name_write(const keel_program_name_t *name, keel_buffer_t *out);
// True if the file's bytes end with a name, which is then cut off.
bool keel_program_name_read(keel_bytes_t *file, keel_program_name_t *out);

#endif // KEEL_JOURNAL_PROGRAM_NAME_H_
