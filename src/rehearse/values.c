// What small programs compute. Of a program that is too large, those results are computed that need
// little of it: a step counter, a schedule, a key.
//
// Arrays of several partitions are put together, computed whole on one device of the processor, and
// cut again: a program means the same however it is partitioned. Replicas run one by one.
#include <stdlib.h>

#include "needs/needs.h"
#include "read/read.h"
#include "rehearse/objects.h"

// What an execution may cost: a tenth of a second, and some hundred milliseconds once to compile.
static const double work_most = 2e8;          // element operations
static const uint64_t bytes_most = 256 << 20; // made on the way
static const uint64_t kept_most = 16 << 20;   // of one result
enum { OPERATIONS_MOST = 1000 };

// Some results of the program, as a program of their own.
typedef struct part_t {
    struct part_t *next;
    calculation_t *calculation; // NULL: it does not compile
    uint32_t *results, *arguments;
    uint32_t result_count, argument_count;
} part_t;

struct worth_t {
    pthread_mutex_t lock; // for all below
    bool is_known;        // false: not looked at yet
    uint8_t *code;        // NULL: nothing of it can be computed
    size_t size;
    keel_program_t program;
    keel_needs_t *needs;
    bool *cheap;          // each result
    uint32_t **arguments; // that each cheap result needs; the count comes first
    uint32_t result_count;
    part_t *parts;
    keel_arena_t arena;
};

// ---- what is cheap -----------------------------------------------------------------------------

static void forget(worth_t *worth) {
    while (worth->parts) {
        part_t *next = worth->parts->next;
        calculation_destroy(worth->parts->calculation);
        keel_free(worth->parts->results);
        keel_free(worth->parts);
        worth->parts = next;
    }
    keel_needs_destroy(worth->needs);
    worth->needs = NULL;
    keel_program_deinitialize(&worth->program);
    keel_arena_deinitialize(&worth->arena);
    keel_free(worth->code);
    worth->code = NULL;
}

keel_status_t worth_create(keel_bytes_t code, worth_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(worth_t), &memory));
    worth_t *worth = memory;
    keel_status_t status = keel_bytes_dup(code, &worth->code);
    if (status) {
        keel_free(worth);
        return status;
    }
    worth->size = code.size;
    keel_program_initialize(&worth->program);
    keel_arena_initialize(&worth->arena, 0);
    pthread_mutex_init(&worth->lock, NULL);
    *out = worth;
    return NULL;
}

void worth_destroy(worth_t *worth) {
    if (!worth || is_forked()) return;
    forget(worth);
    pthread_mutex_destroy(&worth->lock);
    keel_free(worth);
}

// A result that is cheap on its own.
typedef struct candidate_t {
    uint32_t result;
    uint64_t bytes; // of the result
    keel_need_t need;
} candidate_t;

// What hosts read is small.
static int by_size(const void *left, const void *right) {
    const candidate_t *a = left, *b = right;
    if (a->bytes != b->bytes) return a->bytes < b->bytes ? -1 : 1;
    return a->result < b->result ? -1 : 1;
}

static bool is_cheap(const keel_need_t *need) {
    return !need->is_over && need->is_bounded && !need->obstacle && !need->across &&
           !need->is_other_random && need->operations <= OPERATIONS_MOST &&
           need->work <= work_most && need->bytes <= bytes_most;
}

static keel_status_t keep_arguments(worth_t *worth, uint32_t result, keel_list_t arguments) {
    void *memory;
    KEEL_TRY(
        keel_arena_array(&worth->arena, (size_t)arguments.count + 1, sizeof(uint32_t), &memory));
    uint32_t *list = memory;
    list[0] = arguments.count;
    if (arguments.count) memcpy(list + 1, arguments.items, arguments.count * sizeof *list);
    worth->arguments[result] = list;
    return NULL;
}

static keel_status_t find_candidates(worth_t *worth, const keel_signature_t *signature,
                                     candidate_t *out, uint32_t *out_count) {
    for (uint32_t i = 0; i < worth->result_count; ++i) {
        candidate_t *candidate = &out[*out_count];
        worth->cheap[i] = false;
        *candidate =
            (candidate_t){.result = i, .bytes = keel_shape_bytes(&signature->results[i].whole)};
        if (candidate->bytes > kept_most) continue;
        KEEL_TRY(keel_needs_of(worth->needs, &i, 1, OPERATIONS_MOST, &candidate->need));
        if (!is_cheap(&candidate->need)) continue;
        KEEL_TRY(keep_arguments(worth, i, candidate->need.arguments));
        ++*out_count;
    }
    return NULL;
}

// All that are computed have room in the limits together.
static bool choose_candidates(worth_t *worth, candidate_t *candidates, uint32_t count) {
    double operations = 0, work = 0, bytes = 0;
    bool any = false;
    qsort(candidates, count, sizeof *candidates, by_size);
    for (uint32_t i = 0; i < count; ++i) {
        const keel_need_t *need = &candidates[i].need;
        operations += need->operations;
        work += need->work;
        bytes += (double)need->bytes;
        if (operations > OPERATIONS_MOST || work > work_most || bytes > (double)bytes_most) break;
        any = worth->cheap[candidates[i].result] = true;
    }
    return any;
}

static keel_status_t judge(worth_t *worth, const keel_signature_t *signature, bool *out_any) {
    void *memory;
    uint32_t count = worth->result_count = signature->result_count, found = 0;
    *out_any = false;
    KEEL_TRY(keel_read(keel_bytes(worth->code, worth->size), &worth->program));
    KEEL_TRY(keel_needs_create(&worth->program, &worth->needs));
    KEEL_TRY(keel_arena_array(&worth->arena, (size_t)count + 1, sizeof *worth->cheap, &memory));
    worth->cheap = memory;
    KEEL_TRY(keel_arena_array(&worth->arena, (size_t)count + 1, sizeof *worth->arguments, &memory));
    worth->arguments = memory;
    KEEL_TRY(keel_calloc((size_t)count + 1, sizeof(candidate_t), &memory));
    keel_status_t status = find_candidates(worth, signature, memory, &found);
    if (!status) *out_any = choose_candidates(worth, memory, found);
    keel_free(memory);
    return status;
}

// Under the lock. False if nothing can be computed.
static bool look(worth_t *worth, const keel_signature_t *signature) {
    if (worth->is_known) return worth->code;
    bool any = false;
    worth->is_known = true;
    keel_status_t status = judge(worth, signature, &any);
    if (status || !any) forget(worth);
    keel_status_ignore(status);
    return any && worth->code;
}

// ---- parts -------------------------------------------------------------------------------------

static keel_status_t make_part(worth_t *worth, const uint32_t *results, uint32_t count,
                               part_t **out) {
    keel_need_t need;
    void *memory;
    KEEL_TRY(keel_needs_of(worth->needs, results, count, UINT32_MAX, &need));
    KEEL_TRY(keel_calloc(1, sizeof(part_t), &memory));
    part_t *part = memory;
    keel_status_t status =
        keel_calloc((size_t)count + need.arguments.count + 1, sizeof(uint32_t), &memory);
    if (status) {
        keel_free(part);
        return status;
    }
    part->results = memory;
    part->arguments = part->results + count;
    part->result_count = count;
    part->argument_count = need.arguments.count;
    memcpy(part->results, results, count * sizeof *results);
    if (part->argument_count)
        memcpy(part->arguments, need.arguments.items, part->argument_count * sizeof *results);
    *out = part;
    return NULL;
}

// A part that does not compile is kept, so that it is not tried again.
static keel_status_t compile_part(worth_t *worth, part_t *part) {
    keel_program_t program;
    keel_program_initialize(&program);
    KEEL_TRY(keel_needs_program(worth->needs, part->results, part->result_count, &program));
    keel_status_t status = calculation_create(&program, &part->calculation);
    keel_program_deinitialize(&program);
    return status;
}

// Under the lock. NULL if these results cannot be computed.
static part_t *part_of(worth_t *worth, const uint32_t *results, uint32_t count) {
    part_t *part = NULL;
    for (part = worth->parts; part; part = part->next)
        if (part->result_count == count &&
            memcmp(part->results, results, count * sizeof *results) == 0)
            return part->calculation ? part : NULL;
    keel_status_t status = make_part(worth, results, count, &part);
    if (!status) {
        part->next = worth->parts;
        worth->parts = part;
        status = compile_part(worth, part);
    }
    bool is_made = !status;
    keel_status_ignore(status);
    return is_made ? part : NULL;
}

// ---- shards ------------------------------------------------------------------------------------

enum { RANK_MOST = 64 };

// Copies between a part of an array and its place in the whole, row by row.
static void move_shard(const keel_array_t *array, const int64_t *place, uint8_t *whole,
                       uint8_t *shard, bool to_whole) {
    size_t element = element_bytes(buffer_type_of(array->whole.element));
    uint32_t rank = array->whole.rank;
    int64_t at[RANK_MOST] = {0}, size[RANK_MOST];
    if (!rank) {
        memcpy(to_whole ? whole : shard, to_whole ? shard : whole, element);
        return;
    }
    for (uint32_t i = 0; i < rank; ++i) {
        int64_t begin = place[i] * array->shard.dims[i];
        size[i] = array->whole.dims[i] - begin; // a last part may be smaller
        if (size[i] > array->shard.dims[i]) size[i] = array->shard.dims[i];
        if (size[i] <= 0) return;
    }
    size_t row = (size_t)size[rank - 1] * element;
    for (;;) {
        size_t in_whole = 0, in_shard = 0;
        for (uint32_t i = 0; i < rank; ++i) {
            in_whole = in_whole * (size_t)array->whole.dims[i] +
                       (size_t)(place[i] * array->shard.dims[i] + at[i]);
            in_shard = in_shard * (size_t)array->shard.dims[i] + (size_t)at[i];
        }
        uint8_t *a = whole + in_whole * element, *b = shard + in_shard * element;
        memcpy(to_whole ? a : b, to_whole ? b : a, row);
        uint32_t i = rank - 1;
        while (i && ++at[i - 1] == size[i - 1])
            at[--i] = 0;
        if (!i) return;
    }
}

static bool is_whole(const keel_array_t *array) {
    return keel_shape_equal(&array->whole, &array->shard);
}

// NULL if they are too large to keep.
static contents_t *contents_of_shape(const keel_shape_t *shape) {
    size_t size;
    keel_status_t status =
        host_bytes(buffer_type_of(shape->element), shape->dims, shape->rank, &size);
    contents_t *contents = status ? NULL : contents_create(size);
    keel_status_ignore(status);
    return contents;
}

static keel_status_t places_of(const keel_array_t *array, uint32_t partitions, int64_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc((size_t)partitions * array->whole.rank + 1, sizeof **out, &memory));
    keel_status_t status =
        keel_sharding_places(array->sharding, array->whole.rank, partitions, memory);
    if (status)
        keel_free(memory);
    else
        *out = memory;
    return status;
}

// ---- one execution -----------------------------------------------------------------------------

// The devices of one replica: `first` in the lists of the call, and how many.
typedef struct replica_t {
    const PJRT_LoadedExecutable_Execute_Args *args;
    const keel_signature_t *signature;
    size_t first;
    uint32_t partitions;
} replica_t;

// NULL if they are unknown, or not of the shape that the program takes. Those of a donated argument
// are still there.
static contents_t *contents_at(const replica_t *replica, uint32_t partition, uint32_t argument) {
    bool deleted;
    const keel_shape_t *shape = &replica->signature->parameters[argument].shard;
    size_t size;
    keel_status_t status =
        host_bytes(buffer_type_of(shape->element), shape->dims, shape->rank, &size);
    contents_t *contents = NULL;
    if (!status)
        contents = buffer_contents(
            replica->args->argument_lists[replica->first + partition][argument], &deleted);
    keel_status_ignore(status);
    if (!contents || contents->size == size) return contents;
    contents_release(contents);
    return NULL;
}

// NULL if a part of it is unknown, or the whole is too large. The caller releases it.
static contents_t *gather(const replica_t *replica, uint32_t argument) {
    const keel_array_t *array = &replica->signature->parameters[argument];
    if (is_whole(array)) return contents_at(replica, 0, argument);
    int64_t *places;
    contents_t *whole = contents_of_shape(&array->whole);
    if (!whole) return NULL;
    keel_status_t status = places_of(array, replica->partitions, &places);
    bool is_known = !status;
    for (uint32_t i = 0; is_known && i < replica->partitions; ++i) {
        contents_t *shard = contents_at(replica, i, argument);
        is_known = shard;
        if (shard)
            move_shard(array, places + (size_t)i * array->whole.rank, whole->data, shard->data,
                       true);
        contents_release(shard);
    }
    if (!status) keel_free(places);
    keel_status_ignore(status);
    if (is_known) return whole;
    contents_release(whole);
    return NULL;
}

static bool is_known(const replica_t *replica, uint32_t argument) {
    const keel_array_t *array = &replica->signature->parameters[argument];
    uint32_t count = is_whole(array) ? 1 : replica->partitions;
    for (uint32_t i = 0; i < count; ++i) {
        contents_t *contents = contents_at(replica, i, argument);
        contents_release(contents);
        if (!contents) return false;
    }
    return true;
}

static void set_contents(PJRT_Buffer *buffer, contents_t *contents) {
    pthread_mutex_lock(&buffer->lock);
    contents_t *before = buffer->contents;
    buffer->contents = contents_retain(contents);
    pthread_mutex_unlock(&buffer->lock);
    contents_release(before);
}

static void scatter(const replica_t *replica, uint32_t result, contents_t *whole) {
    const keel_array_t *array = &replica->signature->results[result];
    int64_t *places = NULL;
    keel_status_t status = NULL;
    if (!is_whole(array)) status = places_of(array, replica->partitions, &places);
    for (uint32_t i = 0; !status && i < replica->partitions; ++i) {
        PJRT_Buffer *buffer = replica->args->output_lists[replica->first + i][result];
        contents_t *shard = places ? contents_of_shape(&array->shard) : NULL;
        if (shard)
            move_shard(array, places + (size_t)i * array->whole.rank, whole->data, shard->data,
                       false);
        if (shard || !places) set_contents(buffer, shard ? shard : whole);
        contents_release(shard);
    }
    keel_free(places);
    keel_status_ignore(status);
}

static void compute(const replica_t *replica, part_t *part) {
    void *memory;
    const keel_signature_t *signature = replica->signature;
    keel_status_t status = keel_calloc((size_t)part->argument_count + part->result_count + 1,
                                       sizeof(operand_t), &memory);
    if (status) {
        keel_status_ignore(status);
        return;
    }
    operand_t *arguments = memory, *results = arguments + part->argument_count;
    bool all = true;
    for (uint32_t i = 0; i < part->argument_count; ++i) {
        uint32_t argument = part->arguments[i];
        arguments[i] = (operand_t){&signature->parameters[argument].whole,
                                   all ? gather(replica, argument) : NULL};
        all = all && arguments[i].contents;
    }
    for (uint32_t i = 0; i < part->result_count; ++i)
        results[i] = (operand_t){&signature->results[part->results[i]].whole, NULL};
    if (all)
        status = calculation_run(part->calculation, arguments, part->argument_count, results,
                                 part->result_count);
    for (uint32_t i = 0; i < part->result_count; ++i) {
        if (results[i].contents) scatter(replica, part->results[i], results[i].contents);
        contents_release(results[i].contents);
    }
    for (uint32_t i = 0; i < part->argument_count; ++i)
        contents_release(arguments[i].contents);
    keel_status_ignore(status);
    keel_free(memory);
}

// Cheap results whose arguments are known.
static uint32_t choose(const worth_t *worth, const replica_t *replica, uint32_t *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < worth->result_count; ++i) {
        if (!worth->cheap[i]) continue;
        bool all = true;
        for (uint32_t j = 0; all && j < worth->arguments[i][0]; ++j)
            all = is_known(replica, worth->arguments[i][1 + j]);
        if (all) out[count++] = i;
    }
    return count;
}

static void compute_replica(worth_t *worth, const replica_t *replica) {
    void *memory;
    keel_status_t status =
        keel_calloc((size_t)replica->signature->result_count + 1, sizeof(uint32_t), &memory);
    if (status) {
        keel_status_ignore(status);
        return;
    }
    pthread_mutex_lock(&worth->lock);
    part_t *part = NULL;
    if (look(worth, replica->signature)) {
        uint32_t count = choose(worth, replica, memory);
        if (count) part = part_of(worth, memory, count);
    }
    pthread_mutex_unlock(&worth->lock);
    if (part) compute(replica, part);
    keel_free(memory);
}

// Several processes have a part of each array each, so only what is whole on each device is
// computed there: gather() finds nothing else.
void values_compute(const PJRT_LoadedExecutable_Execute_Args *args) {
    const PJRT_LoadedExecutable *loaded = args->executable;
    worth_t *worth = loaded->facts->worth;
    const keel_signature_t *signature = &loaded->facts->signature;
    if (!worth) return;
    bool is_complete = args->num_devices == (size_t)signature->replicas * signature->partitions;
    bool by_replica = signature->partitions == 1;
    if (!is_complete && !by_replica) return;
    for (size_t i = 0; i + signature->partitions <= args->num_devices; i += signature->partitions) {
        const replica_t replica = {args, signature, i, signature->partitions};
        compute_replica(worth, &replica);
    }
}
