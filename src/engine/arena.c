#include "engine/arena.h"

#include "base/base.h"

// Smaller than what malloc maps on its own, and few of their pages are touched.
enum { PIECE = 96 << 10 };

// The last piece stays, so that what the others leave is not given back.
void *arena_expand(size_t bytes) {
    void *first = NULL, *piece = NULL, *last = NULL;
    void **link = &first;
    for (size_t size = 0; size < bytes; size += PIECE) {
        keel_status_t status = keel_alloc(PIECE, &piece);
        keel_status_ignore(status);
        if (status) break;
        *(void **)piece = NULL;
        *link = piece;
        link = piece;
        last = piece;
    }
    while (first != last) {
        void *next = *(void **)first;
        keel_free(first);
        first = next;
    }
    return last;
}

void arena_settle(void *expanded) {
    keel_free(expanded);
}
