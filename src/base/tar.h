// tar: the headers of a tar archive, POSIX ustar, of regular files only.
// Source: IEEE Std 1003.1, pax, "ustar Interchange Format".
#ifndef KEEL_BASE_TAR_H_
#define KEEL_BASE_TAR_H_

#include "base/buffer.h"

enum { KEEL_TAR_BLOCK = 512, KEEL_TAR_NAME = 101 }; // a name with its final zero byte

typedef struct keel_tar_member_t {
    char name[KEEL_TAR_NAME];
    uint64_t size;
} keel_tar_member_t;

// Appends the header of a file of that size. The name is shorter than KEEL_TAR_NAME.
void keel_tar_put_header(keel_buffer_t *out, const char *name, uint64_t size);
// Zero bytes after so many bytes of contents, up to a whole block.
size_t keel_tar_padding(uint64_t size);
// Appends what ends an archive.
void keel_tar_put_end(keel_buffer_t *out);

// Reads a header; *out_end: it is one of zeros, which ends an archive. KEEL_CORRUPT if its sum is
// wrong or it is of anything but a regular file.
keel_status_t keel_tar_read_header(const uint8_t block[KEEL_TAR_BLOCK], keel_tar_member_t *out,
                                   bool *out_end) KEEL_MUST_CHECK;

#endif // KEEL_BASE_TAR_H_
