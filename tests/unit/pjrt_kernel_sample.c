// A kernel in a library of its own, as jaxlib has them, built for FFI 0.5.
#include <stddef.h>
#include <stdint.h>

typedef struct metadata_t {
    size_t size;
    size_t version_size;
    void *version_extensions;
    int major, minor;
    uint32_t traits;
    int64_t state_type;
} metadata_t;

typedef struct request_t {
    size_t size;
    int type;
    void *next;
    metadata_t *metadata;
} request_t;

typedef struct frame_t {
    size_t size;
    request_t *extensions;
} frame_t;

__attribute__((visibility("default"))) void *keel_test_kernel(frame_t *frame);

// Fails, as XLA's own headers do, if the metadata are shorter than what it knows.
void *keel_test_kernel(frame_t *frame) {
    if (!frame->extensions) return frame;
    metadata_t *metadata = frame->extensions->metadata;
    if (metadata->size < sizeof *metadata) return frame;
    metadata->major = 0;
    metadata->minor = 5;
    metadata->traits = 3;
    metadata->state_type = 9;
    return NULL;
}
