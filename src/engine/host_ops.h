// host_ops: what PyTorch/XLA computed on the host.
#ifndef KEEL_ENGINE_HOST_OPS_H_
#define KEEL_ENGINE_HOST_OPS_H_

#include "engine/core.h"

typedef struct host_ops_t host_ops_t;

keel_status_t host_ops_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// NULL is allowed.
void host_ops_destroy(host_ops_t *host_ops);
// Reads PyTorch/XLA's counters, at most once a second. On the client's thread, which holds no lock.
void host_ops_look(keel_engine_t *engine);

#endif // KEEL_ENGINE_HOST_OPS_H_
