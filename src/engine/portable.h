// portable: options of programs for several replicas that run on one device. See portable.c.
#ifndef KEEL_ENGINE_PORTABLE_H_
#define KEEL_ENGINE_PORTABLE_H_

#include "pjrt/pjrt.h"
#include "program/program.h"

// Whether this plugin never finishes the execution, on one device, of a program for several
// replicas.
bool portable_is_needed(const char *platform, const PJRT_Api *api);
// How many replicas a program is compiled for, if it has one partition, one process, and is not
// portable. Otherwise, or if the options are not understood, 0.
uint64_t portable_replicas(keel_bytes_t options);
// How many devices execute a program together; 0 if the options are not understood.
uint64_t portable_devices(keel_bytes_t options);
// An operation that may differ between replicas; "" if there is none.
keel_str_t portable_obstacle(const keel_program_t *program);
// Options for one replica on any device, from options for which portable_replicas is not 0.
keel_status_t portable_options(keel_bytes_t options, keel_buffer_t *out) KEEL_MUST_CHECK;

#endif // KEEL_ENGINE_PORTABLE_H_
