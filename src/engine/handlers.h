// handlers: the functions of the client that its programs call by name (compiler/handlers.h), for
// the journal. Whoever compiles these programs without their client needs them.
//
// Threads: any.
#ifndef KEEL_ENGINE_HANDLERS_H_
#define KEEL_ENGINE_HANDLERS_H_

#include "engine/clients.h"
#include "program/program.h"

typedef struct handlers_t handlers_t;

keel_status_t handlers_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only before any program was asked for. NULL is allowed.
void handlers_destroy(handlers_t *handlers);
// The client asks for the program: those that it calls are written in the background, each once,
// and with the first of a platform all types of that platform.
void handlers_asked(keel_engine_t *engine, const client_t *client, const keel_program_t *program);

#endif // KEEL_ENGINE_HANDLERS_H_
