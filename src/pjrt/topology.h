// topology: serialized topologies as equal bytes. Room-internal.
#ifndef KEEL_PJRT_TOPOLOGY_H_
#define KEEL_PJRT_TOPOLOGY_H_

#include "base/base.h"

// Appends the topology with the maps in it sorted: XLA writes them in an order that is another one
// in each process. What is not known to be a map, or cannot be decoded, stays as it is.
keel_status_t topology_sort_maps(keel_bytes_t serialized, keel_buffer_t *out) KEEL_MUST_CHECK;

#endif // KEEL_PJRT_TOPOLOGY_H_
