// What is known about an executable: what its program says about parameters and results, and what
// the compiler said.
#include "needs/needs.h"
#include "read/read.h"
#include "rehearse/objects.h"

// ---- facts -------------------------------------------------------------------------------------

void facts_release(facts_t *facts) {
    KEEL_ASSERT(!facts || atomic_load(&facts->references));
    if (!facts || atomic_fetch_sub(&facts->references, 1) != 1) return;
    compiling_release(facts->compiling);
    worth_destroy(facts->worth);
    keel_signature_deinitialize(&facts->signature);
    keel_buffer_deinitialize(&facts->module);
    keel_buffer_deinitialize(&facts->outline);
    keel_buffer_deinitialize(&facts->serialized);
    keel_arena_deinitialize(&facts->arena);
    keel_free(facts);
}

static keel_status_t read_program(const PJRT_Client_Compile_Args *args, facts_t *out) {
    keel_program_t program;
    keel_bytes_t code = keel_bytes(args->program->code, args->program->code_size);
    keel_program_initialize(&program);
    KEEL_TRY(keel_read(code, &program));
    keel_status_t status = keel_signature_read(
        &program, keel_bytes(args->compile_options, args->compile_options_size), &out->signature);
    out->combines = keel_needs_combines(&program);
    out->is_alone = out->signature.is_apart && !keel_needs_meets(&program);
    keel_program_deinitialize(&program);
    return status;
}

static keel_status_t list_results(facts_t *facts) {
    uint32_t count = facts->signature.result_count;
    size_t dims = 0;
    void *memory;
    for (uint32_t i = 0; i < count; ++i)
        dims += facts->signature.results[i].shard.rank;
    KEEL_TRY(keel_arena_array(&facts->arena, (size_t)count + 1, sizeof *facts->types, &memory));
    facts->types = memory;
    KEEL_TRY(keel_arena_array(&facts->arena, dims + 1, sizeof *facts->dims, &memory));
    facts->dims = memory;
    KEEL_TRY(keel_arena_array(&facts->arena, (size_t)count + 1, sizeof *facts->ranks, &memory));
    facts->ranks = memory;
    KEEL_TRY(keel_arena_array(&facts->arena, (size_t)count + 1, sizeof *facts->kinds, &memory));
    facts->kinds = memory;
    KEEL_TRY(
        keel_arena_array(&facts->arena, (size_t)count + 1, sizeof *facts->kind_sizes, &memory));
    facts->kind_sizes = memory;
    int64_t *next = facts->dims;
    for (uint32_t i = 0; i < count; ++i) {
        const keel_array_shape_t *shape = &facts->signature.results[i].shard;
        facts->types[i] = buffer_type_of(shape->element);
        facts->ranks[i] = shape->rank;
        for (uint32_t j = 0; j < shape->rank; ++j)
            *next++ = shape->dims[j];
        facts->result_bytes += bytes_of_elements(facts->types[i], shape->dims, shape->rank);
    }
    for (uint32_t i = 0; i < facts->signature.parameter_count; ++i) {
        const keel_array_shape_t *shape = &facts->signature.parameters[i].shard;
        PJRT_Buffer_Type type = buffer_type_of(shape->element);
        if (facts->signature.parameters[i].donated)
            facts->donated_bytes += bytes_of_elements(type, shape->dims, shape->rank);
    }
    return NULL;
}

static void name_kinds(facts_t *facts, PJRT_Device *device) {
    for (uint32_t i = 0; i < facts->signature.result_count; ++i) {
        keel_str_t kind = facts->signature.results[i].memory;
        facts->kinds[i] = device      ? device_memory(device, kind)->kind
                          : kind.size ? kind.data
                                      : "device";
        facts->kind_sizes[i] = strlen(facts->kinds[i]);
    }
}

static bool has_config(keel_str_t format) {
    return keel_str_is(format, "hlo_with_config");
}

bool facts_are_guessed(const facts_t *facts) {
    const char *what;
    uint32_t index;
    return keel_signature_is_guess(&facts->signature, &what, &index);
}

// At once: what follows from a guess comes after it.
static void tell_guess(const facts_t *facts) {
    const char *what;
    uint32_t index;
    if (keel_signature_is_guess(&facts->signature, &what, &index))
        keel_log_once("guess",
                      "the compiler does not say how %s %u of %s is sharded; Keel assumes that "
                      "each device has all of it",
                      what, index, facts->name);
}

// *out_usable: clients may have the module, too.
static keel_status_t take_shardings(facts_t *facts, keel_bytes_t module, keel_str_t format,
                                    bool *out_usable) {
    keel_signature_t *signature = &facts->signature;
    bool is_hlo = has_config(format) || keel_str_is(format, "hlo");
    keel_status_t status = NULL;
    if (module.size && is_hlo)
        status = keel_signature_settle(signature, module, has_config(format));
    if (keel_status_code(status) != KEEL_CORRUPT) KEEL_TRY(status);
    // Clients want its config.
    *out_usable = !status && module.size && has_config(format) && !rehearsal.client_is_old;
    keel_status_ignore(status);
    keel_signature_guess(signature);
    tell_guess(facts);
    return NULL;
}

keel_status_t facts_take_shardings(facts_t *facts, keel_bytes_t module, keel_str_t format) {
    bool is_usable;
    return take_shardings(facts, module, format, &is_usable);
}

keel_status_t facts_take_module(facts_t *facts, keel_bytes_t module, keel_str_t format) {
    bool is_usable;
    KEEL_TRY(take_shardings(facts, module, format, &is_usable));
    if (!is_usable) return NULL;
    keel_buffer_append(&facts->module, module.data, module.size);
    keel_status_t status = keel_signature_outline(module, &facts->outline);
    facts->has_outline = !status;
    keel_status_ignore(status);
    return keel_buffer_status(&facts->module);
}

// As the program asks, or as usual.
static keel_status_t lay_out(keel_array_t *array, const char **out) {
    const keel_array_shape_t *shape = &array->shard;
    if (array->layout.size) return keep_text(array->layout, out);
    KEEL_TRY(layout_usual(buffer_type_of(shape->element), shape->dims, shape->rank, out));
    array->layout = keel_str(*out);
    return NULL;
}

static keel_status_t lay_out_all(facts_t *facts) {
    keel_signature_t *signature = &facts->signature;
    void *memory;
    KEEL_TRY(keel_arena_array(&facts->arena, (size_t)signature->result_count + 1,
                              sizeof *facts->layouts, &memory));
    facts->layouts = memory;
    KEEL_TRY(keel_arena_array(&facts->arena, (size_t)signature->parameter_count + 1,
                              sizeof *facts->parameter_layouts, &memory));
    facts->parameter_layouts = memory;
    for (uint32_t i = 0; i < signature->parameter_count; ++i)
        KEEL_TRY(lay_out(&signature->parameters[i], &facts->parameter_layouts[i]));
    for (uint32_t i = 0; i < signature->result_count; ++i)
        KEEL_TRY(lay_out(&signature->results[i], &facts->layouts[i]));
    return NULL;
}

// `device`: NULL if it has none.
keel_status_t facts_finish(facts_t *facts, PJRT_Device *device) {
    KEEL_TRY(list_results(facts));
    name_kinds(facts, device);
    KEEL_TRY(lay_out_all(facts));
    if (facts->module.size) return NULL;
    facts->format = "hlo_with_config";
    keel_signature_module(&facts->signature, &facts->module);
    return keel_buffer_status(&facts->module);
}

keel_status_t facts_begin(const PJRT_Client_Compile_Args *args, facts_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(facts_t), &memory));
    facts_t *facts = memory;
    atomic_init(&facts->references, 1);
    keel_buffer_initialize(&facts->module, 0);
    keel_buffer_initialize(&facts->outline, 0);
    keel_buffer_initialize(&facts->serialized, 0);
    keel_arena_initialize(&facts->arena, 0);
    facts->format = "hlo_with_config";
    keel_status_t status = read_program(args, facts);
    if (!status) status = keep_text(facts->signature.name, &facts->name);
    if (!status && rehearsal.calculator && *rehearsal.calculator)
        status =
            worth_create(keel_bytes(args->program->code, args->program->code_size), &facts->worth);
    if (status) {
        facts_release(facts);
        return keel_status_annotate(status, "keel: this program cannot be rehearsed");
    }
    *out = facts;
    return NULL;
}
