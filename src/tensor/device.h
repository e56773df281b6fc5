// What device.c and transfer.c share.
#ifndef KEEL_TENSOR_DEVICE_H_
#define KEEL_TENSOR_DEVICE_H_

#include <pjrt_c_api.h>

#include "pjrt/pjrt.h"
#include "tensor/trace.h"

// Executions under way. More only take memory, and XLA's CPU client ends the process if about 100
// programs with collectives wait for each other.
enum { IN_FLIGHT = 8 };

typedef struct lane_t {
    PJRT_Device *device;
    int64_t position; // in the mesh
} lane_t;

// peers.c: the other processes. NULL: there are none.
typedef struct peers_t peers_t;
keel_status_t peers_open(const job_t *job, peers_t **out) KEEL_MUST_CHECK;
void peers_tell(peers_t *peers, PJRT_Client_Create_Args *args);
void peers_close(peers_t *peers); // after the client

struct device_t {
    const PJRT_Api *api;
    unsigned forks; // of the process that opened it
    peers_t *peers;
    PJRT_Client *client;
    const mesh_t *mesh;
    int *ids; // of the mesh's devices
    lane_t *lanes;
    size_t lane_count;
    PJRT_Event **running; // IN_FLIGHT times lane_count: when executions are complete
    size_t next_place;
    unsigned number, launches; // of the devices that this process opened; of its executions
};

// A forked child has the client but not its threads: waiting for them would never end.
bool device_is_of_parent(const device_t *device);
keel_status_t device_check_process(const device_t *device) KEEL_MUST_CHECK;

#endif // KEEL_TENSOR_DEVICE_H_
