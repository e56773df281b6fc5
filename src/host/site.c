// The user's line that asked for a program: the innermost frame that is not a library's. A JAX
// program has its own frames: those within the traced function, then those that led to it when it
// was traced, at most 100 (JAX 0.6: ten). The host's stack begins where the traced function was
// called. It is longer, and it is right even if the trace was made for another line.
#define _GNU_SOURCE // memrchr, memmem
#include <stdio.h>
#include <string.h>

#include "host/site.h"

// Operations of the entry that are looked at before giving up: the first ones of a JAX program may
// be constants, which have no position.
enum { OPS_TRIED = 64 };

static const char *site_text(keel_arena_t *arena, keel_str_t text) {
    keel_str_t copy;
    keel_status_t status = text.size ? keel_arena_str(arena, text, &copy) : NULL;
    if (status || !text.size) {
        keel_status_ignore(status);
        return "";
    }
    return copy.data;
}

// ---- names -------------------------------------------------------------------------------------

// "Model.__call__" and "f.<locals>.g" name their function last.
static keel_str_t last_part(keel_str_t name) {
    for (size_t i = name.size; i > 0; --i)
        if (name.data[i - 1] == '.') return (keel_str_t){name.data + i, name.size - i};
    return name;
}

// "Model" of "Model.__call__"; empty for other names.
static keel_str_t class_of_call(keel_str_t name) {
    static const char call[] = ".__call__";
    enum { CALL = sizeof call - 1 };
    if (name.size <= CALL || memcmp(name.data + name.size - CALL, call, CALL) != 0)
        return KEEL_STR("");
    return last_part((keel_str_t){name.data, name.size - CALL});
}

// JAX strips them from a module's name: "jit___call" is "__call__".
static keel_str_t without_trailing_underscores(keel_str_t name) {
    while (name.size > 1 && name.data[name.size - 1] == '_')
        --name.size;
    return name;
}

bool site_is_lambda(keel_str_t function) {
    return keel_str_is(last_part(function), "<lambda>");
}

// JAX calls the module of f "jit_f", that of an object with __call__ after its class or not at all,
// and writes "_" for characters that are not allowed.
static bool names_function(keel_str_t module, keel_str_t function) {
    static const char *const prefixes[] = {"jit_", "pmap_"};
    keel_str_t names[] = {last_part(function), class_of_call(function)};
    if (site_is_lambda(function)) return keel_str_starts(module, KEEL_STR("jit__lambda"));
    if (keel_str_is(module, "jit__unnamed_function")) return names[1].size;
    module = without_trailing_underscores(module);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; ++i) {
        keel_str_t prefix = keel_str(prefixes[i]);
        if (!keel_str_starts(module, prefix)) continue;
        keel_str_t rest = {module.data + prefix.size, module.size - prefix.size};
        for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
            if (names[k].size && keel_str_equal(rest, without_trailing_underscores(names[k])))
                return true;
    }
    return false;
}

// ---- the traced function's own frame -----------------------------------------------------------

// The outermost of its name among the first `limit`; `chain->count` if there is none.
static uint32_t outermost_of_name(keel_str_t module, const chain_t *chain, uint32_t limit) {
    for (uint32_t i = limit; i-- > 0;)
        if (names_function(module, chain->frames[i].function)) return i;
    return chain->count;
}

static uint32_t innermost_of_name(keel_str_t module, const chain_t *chain) {
    uint32_t i = 0;
    while (i < chain->count && !names_function(module, chain->frames[i].function))
        ++i;
    return i;
}

static bool is_same_frame(const keel_frame_t *a, const keel_frame_t *b) {
    return a->line == b->line && a->column == b->column && keel_str_equal(a->file, b->file) &&
           keel_str_equal(a->function, b->function);
}

// How many frames two operations share from outside. The client leaves out the outermost frames of
// a deep chain; such chains have no common end and show nothing.
static uint32_t shared(const chain_t *a, const chain_t *b, uint32_t most) {
    if (!b->count || !is_same_frame(&a->frames[a->count - 1], &b->frames[b->count - 1]))
        return most;
    uint32_t count = 0;
    while (count < a->count && count < b->count &&
           is_same_frame(&a->frames[a->count - 1 - count], &b->frames[b->count - 1 - count]))
        ++count;
    return count < most ? count : most;
}

static void read_chain(const keel_program_t *program, keel_op_id_t op, chain_t *out) {
    out->count = keel_program_frames(program, program->operations.data[op].location, out->frames,
                                     SITE_FRAMES, NULL);
    if (out->count > SITE_FRAMES) out->count = SITE_FRAMES;
}

// A caller may have the same name: Trainer.step calls the jitted step. Frames that all operations
// share are outside the function, unless its body is one line: then its frame is shared too, and it
// is the innermost.
static uint32_t own_among_callers(const keel_program_t *program, keel_str_t module,
                                  const chain_t *chain, keel_op_id_t op, keel_op_id_t end) {
    chain_t other;
    uint32_t common = chain->count;
    for (int tried = 0; tried < OPS_TRIED && op < end; ++tried, ++op) {
        read_chain(program, op, &other);
        common = shared(chain, &other, common);
    }
    uint32_t own = outermost_of_name(module, chain, chain->count - common);
    return own < chain->count ? own : innermost_of_name(module, chain);
}

// ---- the stack ---------------------------------------------------------------------------------

static bool is_at(const keel_frame_t *frame, const keel_stack_frame_t *at) {
    return frame->line == at->line && keel_str_is(frame->file, at->file) &&
           keel_str_equal(last_part(frame->function), last_part(keel_str(at->function)));
}

// True if the chain continues from `at` like the stack, as far as both are known.
static bool continues(const chain_t *chain, uint32_t at, const keel_stack_t *stack,
                      const char *application) {
    uint32_t next = 0;
    for (uint32_t i = at; i < chain->count && next < stack->count; ++i) {
        if (keel_is_foreign_file(chain->frames[i].file, application)) continue;
        if (!is_at(&chain->frames[i], &stack->frames[next++])) return false;
    }
    return true;
}

uint32_t site_find_stack(const chain_t *chain, const keel_stack_t *stack, const char *application) {
    for (uint32_t i = 0; i < chain->count; ++i)
        if (is_at(&chain->frames[i], &stack->frames[0]) && continues(chain, i, stack, application))
            return i;
    return chain->count;
}

// ---- together ----------------------------------------------------------------------------------

bool site_is_users_trace(const found_t *found) {
    const char *file = found->stack ? found->stack->traced_file : NULL;
    return file && !keel_is_foreign_file(keel_str(file), found->application);
}

// The user's frames from `at` on: the first is the place, the next called it. False if there is
// none.
static bool place_from(const found_t *found, uint32_t at, keel_arena_t *arena, keel_place_t *out) {
    const keel_frame_t *users[2];
    uint32_t count = 0;
    for (; at < found->chain.count && count < 2; ++at)
        if (!keel_is_foreign_file(found->chain.frames[at].file, found->application))
            users[count++] = &found->chain.frames[at];
    if (!count) return false;
    *out = (keel_place_t){.file = site_text(arena, users[0]->file),
                          .line = users[0]->line,
                          .function = site_text(arena, users[0]->function),
                          .call_file = count > 1 ? site_text(arena, users[1]->file) : "",
                          .call_line = count > 1 ? users[1]->line : 0};
    return true;
}

// If all frames are a library's: the line that called the traced function, or its own.
static keel_place_t place_in_library(const found_t *found, uint32_t at, keel_arena_t *arena) {
    const chain_t *chain = &found->chain;
    if (at == chain->count) --at;
    const keel_frame_t *frame = &chain->frames[at];
    keel_place_t place = {.file = site_text(arena, frame->file),
                          .line = frame->line,
                          .function = site_text(arena, frame->function),
                          .call_file = ""};
    if (at + 1 < chain->count) {
        place.call_file = site_text(arena, chain->frames[at + 1].file);
        place.call_line = chain->frames[at + 1].line;
    }
    return place;
}

// The stack's innermost frame asked, unless the program was lowered on one line and is compiled on
// another.
static void choose_place(const found_t *found, keel_arena_t *arena, keel_place_t *out) {
    const chain_t *chain = &found->chain;
    const keel_stack_t *stack = found->stack;
    uint32_t outside = found->own < chain->count ? found->own + 1 : 0;
    bool has_stack = stack && stack->count;
    bool is_known = (!has_stack || stack->is_deferred) && place_from(found, outside, arena, out);
    if (!is_known && has_stack)
        *out = keel_stack_top(stack);
    else if (!is_known && chain->count)
        *out = place_in_library(found, outside, arena);
    out->application = found->application;
    bool is_applications = stack && *out->file && keel_is_library_file(keel_str(out->file));
    out->script_file = is_applications ? stack->script_file : NULL;
    out->script_line = is_applications ? stack->script_line : 0;
    if (outside >= chain->count) return;
    keel_str_t file = chain->frames[outside].file;
    if (!keel_is_foreign_file(file, found->application)) return;
    out->library_file = site_text(arena, file);
    out->library_line = chain->frames[outside].line;
}

bool site_is_of_jax(keel_str_t file) {
    keel_str_t package = keel_package_of(file), end = KEEL_STR("/jax/");
    return package.size >= end.size &&
           memcmp(package.data + package.size - end.size, end.data, end.size) == 0;
}

// A function of the user's, or of another library (diffrax.diffeqsolve is jitted by equinox), but
// not one of JAX's, which every library calls and JAX itself names.
static bool is_wrapped(const found_t *found) {
    const chain_t *chain = &found->chain;
    if (found->own + 1 >= chain->count) return false;
    keel_str_t own = chain->frames[found->own].file, caller = chain->frames[found->own + 1].file;
    if (!keel_is_foreign_file(caller, found->application)) return false;
    if (!keel_is_foreign_file(own, found->application)) return true;
    keel_str_t package = keel_package_of(own);
    return package.size && !keel_str_starts(caller, package) && !site_is_of_jax(own);
}

// Looks for an operation whose frames show the traced function, otherwise for the longest chain.
static void look(const keel_program_t *program, found_t *found) {
    const keel_block_t *block = keel_program_body(program, program->entry);
    if (!block) return;
    keel_op_id_t op = block->first_op;
    const keel_stack_t *stack = found->stack;
    bool has_stack = stack && stack->count && !stack->is_deferred;
    chain_t chain;
    for (int tried = 0; tried < OPS_TRIED && op < block->end_op; ++tried) {
        read_chain(program, op, &chain);
        uint32_t asker =
            has_stack ? site_find_stack(&chain, stack, found->application) : chain.count;
        uint32_t own = outermost_of_name(found->module, &chain, asker);
        bool is_own = own < chain.count;
        if (is_own || chain.count > found->chain.count) {
            memcpy(found->chain.frames, chain.frames, chain.count * sizeof *chain.frames);
            found->chain.count = found->own = chain.count;
        }
        ++op; // into it: the body may be the only code of the user's (a function that is sharded as
              // a whole)
        if (!is_own) continue;
        bool is_sure = asker < chain.count || own == innermost_of_name(found->module, &chain);
        found->own =
            is_sure ? own : own_among_callers(program, found->module, &chain, op, block->end_op);
        return;
    }
}

// The innermost frame that all operations share is the line that asked JAX for a loop or a branch
// outside jit; those inside it belong to the body.
static void look_for_shared(const keel_program_t *program, found_t *found) {
    const keel_block_t *block = keel_program_body(program, program->entry);
    uint32_t common = found->chain.count;
    chain_t chain;
    for (uint32_t i = 0; block && i < OPS_TRIED && block->first_op + i < block->end_op; ++i) {
        read_chain(program, block->first_op + i, &chain);
        common = shared(&found->chain, &chain, common);
    }
    found->shared = common ? found->chain.count - common : 0;
}

// If the traced function only calls another jitted one, jax.jit(jax.jit(f)), its name is on the
// operations of that one.
static void look_for_name(const keel_program_t *program, found_t *found) {
    enum { TRIED = 256 };
    const char *traced = found->stack ? found->stack->traced_file : NULL;
    if (found->own < found->chain.count || !traced || site_is_of_jax(keel_str(traced))) return;
    uint32_t count = keel_program_op_count(program);
    chain_t chain;
    for (keel_op_id_t op = 0; op < count && op < TRIED && !found->name.size; ++op) {
        read_chain(program, op, &chain);
        uint32_t own = innermost_of_name(found->module, &chain);
        if (own < chain.count && keel_str_is(chain.frames[own].file, traced))
            found->name = chain.frames[own].function;
    }
}

// The line that called the compiled function: in the frames, which leave out a script's own level,
// or in the stack. What computes gradients is called by torch, in a thread without lines of the
// user's.
static bool find_caller_of_graph(const found_t *found, keel_arena_t *arena, keel_place_t *out) {
    const chain_t *chain = &found->chain;
    uint32_t last = chain->count;
    while (last && keel_is_foreign_file(chain->frames[last - 1].file, found->application))
        --last;
    if (last > 1) {
        const keel_frame_t *frame = &chain->frames[last - 1];
        *out = (keel_place_t){.file = site_text(arena, frame->file),
                              .line = frame->line,
                              .function = site_text(arena, frame->function),
                              .call_file = ""};
    } else if (found->stack && found->stack->count) {
        *out = keel_stack_top(found->stack);
    } else {
        return false;
    }
    out->application = found->application;
    return true;
}

void keel_site_of(const keel_program_t *program, const keel_stack_t *stack, keel_arena_t *arena,
                  keel_site_t *out) {
    *out = (keel_site_t){.place = {.file = "", .function = "", .call_file = ""}, .origin = ""};
    found_t found;
    found.module = keel_program_str(program, program->name);
    found.stack = stack;
    found.application = stack ? stack->application : NULL;
    found.name = KEEL_STR("");
    found.chain.count = found.own = found.shared = 0;
    look(program, &found);
    look_for_name(program, &found);
    if (found.own == found.chain.count) look_for_shared(program, &found);
    out->is_traced = found.own < found.chain.count || site_is_users_trace(&found);
    out->is_wrapped = is_wrapped(&found);
    choose_place(&found, arena, &out->place);
    out->graph = keel_torch_tpu_name_graph(program);
    out->origin = site_origin(&found, &out->place, arena);
    if (!out->graph) return;
    bool is_called = find_caller_of_graph(&found, arena, &out->place);
    out->origin = site_origin_of_graph(out, is_called, arena);
}

void keel_site_asked(const keel_stack_t *stack, keel_arena_t *arena, keel_site_t *site) {
    if (!stack->count) return;
    site->place = keel_stack_top(stack);
    site->place.library_file = stack->library_file;
    site->place.library_line = stack->library_line;
    site->origin = site_origin_asked(site, arena);
}

void keel_site_traced(const keel_traced_graph_t *traced, keel_arena_t *arena, keel_site_t *site) {
    if (traced->stack->count) site->place = keel_stack_top(traced->stack);
    site->origin = site_origin_traced(traced, site->graph, arena);
}
