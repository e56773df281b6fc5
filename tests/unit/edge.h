// Bytes that nothing readable follows: what reads behind their end crashes, with or without a
// sanitizer.
#ifndef KEEL_TESTS_EDGE_H_
#define KEEL_TESTS_EDGE_H_

#include <string.h>
#include <sys/mman.h>

#include "base/base.h"

// A copy of the bytes, until the next call. The file that includes this defines _GNU_SOURCE.
static inline keel_bytes_t at_edge(keel_bytes_t bytes) {
    enum { ROOM = 1 << 24, BEHIND = 1 << 16 };
    static uint8_t *end;
    if (!end) {
        void *begin =
            mmap(NULL, ROOM + BEHIND, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(begin != MAP_FAILED);
        end = (uint8_t *)begin + ROOM;
        assert_int_equal(mprotect(end, BEHIND, PROT_NONE), 0);
    }
    assert_true(bytes.size <= ROOM);
    if (bytes.size) memcpy(end - bytes.size, bytes.data, bytes.size);
    return keel_bytes(end - bytes.size, bytes.size);
}

#endif // KEEL_TESTS_EDGE_H_
