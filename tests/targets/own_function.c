// A function that a user's program calls by name, for FFI 0.1.
#include <stddef.h>

typedef struct metadata_t {
    size_t size, version_size;
    void *version_extensions;
    int major, minor;
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

__attribute__((visibility("default"))) void *own_function(frame_t *frame);

void *own_function(frame_t *frame) {
    metadata_t *metadata = frame->extensions ? frame->extensions->metadata : NULL;
    if (metadata) {
        metadata->major = 0;
        metadata->minor = 1;
    }
    return NULL;
}
