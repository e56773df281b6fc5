// Between site.c, which finds a program's line, origin.c and closure.c, which know whose function
// it is, and lambdas.c.
#ifndef KEEL_HOST_SITE_H_
#define KEEL_HOST_SITE_H_

#include "host/host.h"

enum { SITE_FRAMES = 128 };

typedef struct chain_t {
    keel_frame_t frames[SITE_FRAMES]; // innermost first
    uint32_t count;
} chain_t;

// A program and what is known about it.
typedef struct found_t {
    keel_str_t module;
    const keel_stack_t *stack; // NULL: none
    const char *application;   // packages that count as the user's; NULL
    keel_str_t name;           // of the traced function, if it has no frame; otherwise empty
    chain_t chain;
    uint32_t own;    // the traced function's frame; chain.count
    uint32_t shared; // if that is unknown: the innermost frame that all operations share
} found_t;

bool site_is_lambda(keel_str_t function);
// True for a file of JAX itself.
bool site_is_of_jax(keel_str_t file);
// True if the client says that a function of the user's was traced.
bool site_is_users_trace(const found_t *found);
// The frame of the chain that is the stack's innermost; `chain->count` if it has none.
uint32_t site_find_stack(const chain_t *chain, const keel_stack_t *stack, const char *application);

// The origin of what was found; `place` is the user's line. Text lives in `arena`.
const char *site_origin(const found_t *found, const keel_place_t *place, keel_arena_t *arena);
// The same for a graph of TorchTPU's: by the line that called the compiled function, if it is
// known, else by the function.
const char *site_origin_of_graph(const keel_site_t *site, bool is_called, keel_arena_t *arena);
// The same if the function is known.
const char *site_origin_traced(const keel_traced_graph_t *traced, const char *graph,
                               keel_arena_t *arena);
// The same for a client that compiles what it recorded.
const char *site_origin_asked(const keel_site_t *site, keel_arena_t *arena);

// ---- lambdas.c ---------------------------------------------------------------------------------

enum { SITE_LAMBDAS = 512 };

// Line from 1, column from 0 in bytes, as Python counts them.
typedef struct lambda_point_t {
    uint32_t line, column;
} lambda_point_t;

typedef struct lambdas_t {
    struct {
        lambda_point_t begin, end;
    } list[SITE_LAMBDAS];
    uint32_t count;
} lambdas_t;

// The lambdas of a Python source; none if there are too many.
void site_lambdas_of(keel_str_t text, lambdas_t *out);
// The innermost that the place is in, counted from 1; 0 if there is none.
uint32_t site_lambda_at(const lambdas_t *lambdas, uint32_t line, uint32_t column);

#endif // KEEL_HOST_SITE_H_
