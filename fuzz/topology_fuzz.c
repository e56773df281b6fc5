// Serialized topologies: sorted ones stay as they are, and nothing gets lost.
#include <stdlib.h>

#include "pjrt/topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_buffer_t first, second;
    keel_buffer_initialize(&first, 0);
    keel_buffer_initialize(&second, 0);
    check(!topology_sort_maps(keel_bytes(data, size), &first));
    check(first.size <= size); // lengths may be written in more bytes than they need
    check(!topology_sort_maps(keel_buffer_bytes(&first), &second));
    check(keel_bytes_equal(keel_buffer_bytes(&first), keel_buffer_bytes(&second)));
    keel_buffer_deinitialize(&first);
    keel_buffer_deinitialize(&second);
    return 0;
}
