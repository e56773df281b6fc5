// Room-internal: the headers of a tar archive, POSIX ustar, of regular files only.
// Source: IEEE Std 1003.1, pax, "ustar Interchange Format".
#ifndef KEEL_PACK_TAR_H_
#define KEEL_PACK_TAR_H_

#include "base/base.h"

enum { TAR_BLOCK = 512, TAR_NAME = 101 }; // a name with its final zero byte

typedef struct tar_member_t {
    char name[TAR_NAME];
    uint64_t size;
} tar_member_t;

// Appends the header of a file of that size. The name is shorter than TAR_NAME.
void tar_put_header(keel_buffer_t *out, const char *name, uint64_t size);
// Zero bytes after so many bytes of contents, up to a whole block.
size_t tar_padding(uint64_t size);
// Appends what ends an archive.
void tar_put_end(keel_buffer_t *out);

// Reads a header; *out_end: it is one of zeros, which ends an archive. KEEL_CORRUPT if its sum is
// wrong or it is of anything but a regular file.
keel_status_t tar_read_header(const uint8_t block[TAR_BLOCK], tar_member_t *out,
                              bool *out_end) KEEL_MUST_CHECK;

#endif // KEEL_PACK_TAR_H_
