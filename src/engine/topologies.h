// topologies: what is compiled for without a client (PJRT_Compile). For the rest of the engine each
// is a client of its own, which stays.
#ifndef KEEL_ENGINE_TOPOLOGIES_H_
#define KEEL_ENGINE_TOPOLOGIES_H_

#include "engine/clients.h"

// The client that stands for the topology: a number that no real client has. Topologies that are
// alike share one.
keel_status_t topologies_client(keel_engine_t *engine, PJRT_TopologyDescription *topology,
                                PJRT_Client **out) KEEL_MUST_CHECK;

#endif // KEEL_ENGINE_TOPOLOGIES_H_
