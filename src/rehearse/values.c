// What small programs compute. Of a program that is too large, those results are computed that need
// little of it: a step counter, a schedule, a key.
//
// Arrays of several partitions are put together, computed whole on one device of the processor, and
// cut again: a program means the same however it is partitioned (shards.c). Replicas run one by
// one. If several processes have a part of an array each, they exchange them (meeting.c).
//
// Devices that compute apart, as TorchTPU's ranks do, have arrays of their own. What depends on the
// others is computed on as many devices of the processor, with the arguments of each. A client that
// executes on several devices at once, as JAX does, means one array that all of them have.
#include <stdlib.h>

#include "key/key.h"
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
    keel_digest_t digest; // of the program
    keel_needs_t *needs;
    atomic_bool is_executed; // for the first time
    bool *cheap;             // each result
    bool *across;            // each cheap one: it depends on devices that compute apart
    bool *within;            // each cheap one: it does not
    uint32_t **arguments;    // that each cheap result needs; the count comes first
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
    if (!worth) return;
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

static bool is_cheap(const keel_need_t *need, bool is_apart) {
    return !need->is_over && need->is_bounded && !need->obstacle && (!need->across || is_apart) &&
           need->operations <= OPERATIONS_MOST && need->work <= work_most &&
           need->bytes <= bytes_most;
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
        if (!is_cheap(&candidate->need, signature->is_apart)) continue;
        worth->across[i] = candidate->need.across;
        KEEL_TRY(keep_arguments(worth, i, candidate->need.arguments));
        ++*out_count;
    }
    return NULL;
}

// How many are cheap together, if they share nothing.
static uint32_t count_apart(const candidate_t *candidates, uint32_t count) {
    double operations = 0, work = 0, bytes = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const keel_need_t *need = &candidates[i].need;
        operations += need->operations;
        work += need->work;
        bytes += (double)need->bytes;
        if (operations > OPERATIONS_MOST || work > work_most || bytes > (double)bytes_most)
            return i;
    }
    return count;
}

// Whether the first ones are cheap as one program, in which what they share is there once.
static keel_status_t are_cheap(worth_t *worth, const candidate_t *candidates, uint32_t count,
                               bool is_apart, bool *out) {
    void *memory;
    keel_need_t need;
    KEEL_TRY(keel_calloc((size_t)worth->result_count + 1, sizeof(uint32_t), &memory));
    uint32_t *results = memory, found = 0;
    for (uint32_t i = 0; i < count; ++i)
        results[candidates[i].result] = 1;
    for (uint32_t i = 0; i < worth->result_count; ++i)
        if (results[i]) results[found++] = i; // no later than where it was
    keel_status_t status = keel_needs_of(worth->needs, results, found, OPERATIONS_MOST, &need);
    *out = !status && is_cheap(&need, is_apart) && need.inlined <= OPERATIONS_MOST;
    keel_free(memory);
    return status;
}

// The smallest results, as many as are cheap together.
static keel_status_t choose_candidates(worth_t *worth, candidate_t *candidates, uint32_t count,
                                       bool is_apart, bool *out_any) {
    qsort(candidates, count, sizeof *candidates, by_size);
    uint32_t least = count_apart(candidates, count), most = count;
    while (least < most) {
        uint32_t middle = most - (most - least) / 2;
        bool all;
        KEEL_TRY(are_cheap(worth, candidates, middle, is_apart, &all));
        if (all)
            least = middle;
        else
            most = middle - 1;
    }
    for (uint32_t i = 0; i < least; ++i)
        worth->cheap[candidates[i].result] = true;
    *out_any = least;
    return NULL;
}

static keel_status_t judge(worth_t *worth, const keel_signature_t *signature, bool *out_any) {
    void *memory;
    uint32_t count = worth->result_count = signature->result_count, found = 0;
    *out_any = false;
    KEEL_TRY(keel_read(keel_bytes(worth->code, worth->size), &worth->program));
    if (signature->partitions > 1) KEEL_TRY(keel_key_program(&worth->program, &worth->digest));
    KEEL_TRY(keel_needs_create(&worth->program, &worth->needs));
    KEEL_TRY(keel_arena_array(&worth->arena, (size_t)count + 1, sizeof *worth->cheap, &memory));
    worth->cheap = memory;
    KEEL_TRY(keel_arena_array(&worth->arena, (size_t)count + 1, sizeof *worth->across, &memory));
    worth->across = memset(memory, 0, (count + 1) * sizeof *worth->across);
    KEEL_TRY(keel_arena_array(&worth->arena, (size_t)count + 1, sizeof *worth->within, &memory));
    worth->within = memory;
    KEEL_TRY(keel_arena_array(&worth->arena, (size_t)count + 1, sizeof *worth->arguments, &memory));
    worth->arguments = memory;
    KEEL_TRY(keel_calloc((size_t)count + 1, sizeof(candidate_t), &memory));
    keel_status_t status = find_candidates(worth, signature, memory, &found);
    if (!status) status = choose_candidates(worth, memory, found, signature->is_apart, out_any);
    for (uint32_t i = 0; i < count; ++i)
        worth->within[i] = worth->cheap[i] && !worth->across[i];
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
    if (need.is_other_random)
        keel_log_once("random", "random numbers of the device's own generator are the processor's: "
                                "as random, but not the same");
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
static keel_status_t compile_part(worth_t *worth, uint32_t devices, part_t *part) {
    keel_program_t program;
    keel_program_initialize(&program);
    KEEL_TRY(keel_needs_program(worth->needs, part->results, part->result_count, &program));
    keel_status_t status = calculation_create(&program, devices, &part->calculation);
    keel_program_deinitialize(&program);
    return status;
}

// Under the lock. NULL if these results cannot be computed.
static part_t *part_of(worth_t *worth, const uint32_t *results, uint32_t count, uint32_t devices) {
    part_t *part = NULL;
    for (part = worth->parts; part; part = part->next)
        if (part->result_count == count &&
            memcmp(part->results, results, count * sizeof *results) == 0)
            return part->calculation ? part : NULL;
    keel_status_t status = make_part(worth, results, count, &part);
    if (!status) {
        part->next = worth->parts;
        worth->parts = part;
        status = compile_part(worth, devices, part);
    }
    bool is_made = !status;
    keel_status_ignore(status);
    return is_made ? part : NULL;
}

// ---- computing ---------------------------------------------------------------------------------

// The arguments of one computation, as far as they were looked for.
typedef struct found_t {
    const argument_source_t *source;
    contents_t **contents; // each argument
    bool *is_looked_for;
} found_t;

static contents_t *contents_found(found_t *found, uint32_t argument) {
    if (!found->is_looked_for[argument])
        found->contents[argument] = found->source->find(found->source->context, argument);
    found->is_looked_for[argument] = true;
    return found->contents[argument];
}

// Of the wanted results, those whose arguments are known.
static uint32_t choose(const worth_t *worth, const bool *wanted, found_t *found, uint32_t *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < worth->result_count; ++i) {
        if (!worth->cheap[i] || !wanted[i]) continue;
        bool all = true;
        for (uint32_t j = 0; all && j < worth->arguments[i][0]; ++j)
            all = contents_found(found, worth->arguments[i][1 + j]);
        if (all) out[count++] = i;
    }
    return count;
}

static keel_status_t compute(part_t *part, const keel_signature_t *signature, found_t *found,
                             contents_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc((size_t)part->argument_count + part->result_count + 1, sizeof(operand_t),
                         &memory));
    operand_t *arguments = memory, *results = arguments + part->argument_count;
    bool all = true;
    for (uint32_t i = 0; i < part->argument_count; ++i) {
        uint32_t argument = part->arguments[i];
        arguments[i] =
            (operand_t){&signature->parameters[argument].whole, contents_found(found, argument)};
        all = all && arguments[i].contents;
    }
    for (uint32_t i = 0; i < part->result_count; ++i)
        results[i] = (operand_t){&signature->results[part->results[i]].whole, NULL};
    keel_status_t status = all ? calculation_run(part->calculation, arguments, part->argument_count,
                                                 results, part->result_count)
                               : NULL;
    for (uint32_t i = 0; i < part->result_count; ++i)
        out[part->results[i]] = results[i].contents;
    keel_free(memory);
    return status;
}

// The lock is not held while arguments are looked for: one may be the result of an earlier
// execution of the same program, for which others are waited for.
static keel_status_t compute_known(worth_t *worth, const keel_signature_t *signature,
                                   const bool *wanted, found_t *found, contents_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc((size_t)signature->result_count + 1, sizeof(uint32_t), &memory));
    uint32_t count = choose(worth, wanted, found, memory);
    part_t *part = NULL;
    bool is_across = count && worth->across[*(uint32_t *)memory];
    pthread_mutex_lock(&worth->lock);
    if (count) part = part_of(worth, memory, count, is_across ? signature->partitions : 1);
    pthread_mutex_unlock(&worth->lock);
    keel_free(memory);
    return part ? compute(part, signature, found, out) : NULL;
}

keel_status_t worth_compute(worth_t *worth, const keel_signature_t *signature, const bool *wanted,
                            const argument_source_t *source, contents_t **out) {
    void *memory;
    size_t count = signature->parameter_count;
    KEEL_TRY(keel_calloc(count + 1, sizeof(contents_t *) + sizeof(bool), &memory));
    found_t found = {.source = source, .contents = memory};
    found.is_looked_for = (bool *)(found.contents + count + 1);
    keel_status_t status = compute_known(worth, signature, wanted, &found, out);
    for (size_t i = 0; i < count; ++i)
        contents_release(found.contents[i]);
    keel_free(memory);
    return status;
}

bool worth_look(worth_t *worth, const keel_signature_t *signature, const bool **out_cheap,
                uint32_t *const **out_arguments) {
    pthread_mutex_lock(&worth->lock);
    bool any = look(worth, signature);
    pthread_mutex_unlock(&worth->lock);
    if (!any) return false;
    *out_cheap = worth->cheap; // these do not change any more
    *out_arguments = worth->arguments;
    return true;
}

keel_digest_t worth_digest(const worth_t *worth) {
    return worth->digest;
}

// ---- one execution -----------------------------------------------------------------------------

static contents_t *gather(void *context, uint32_t argument) {
    return shards_gather(context, argument);
}

static keel_status_t compute_replica(worth_t *worth, const replica_t *replica, const bool *wanted) {
    const keel_signature_t *signature = replica->signature;
    void *memory;
    KEEL_TRY(keel_calloc((size_t)signature->result_count + 1, sizeof(contents_t *), &memory));
    contents_t **results = memory;
    const argument_source_t source = {gather, (void *)(uintptr_t)replica};
    keel_status_t status = worth_compute(worth, signature, wanted, &source, results);
    for (uint32_t i = 0; i < signature->result_count; ++i) {
        if (results[i]) shards_scatter(replica, i, results[i]);
        contents_release(results[i]);
    }
    keel_free(memory);
    return status;
}

// Which cheap results this process can compute by itself; the others need parts of arrays that
// other processes have.
static void split(const worth_t *worth, const keel_signature_t *signature, const bool *cheap,
                  uint32_t *const *arguments, bool *alone, bool *together) {
    for (uint32_t i = 0; i < signature->result_count; ++i) {
        bool is_alone = !worth->across[i];
        if (!cheap[i]) continue;
        for (uint32_t j = 0; is_alone && j < arguments[i][0]; ++j)
            is_alone = is_whole(&signature->parameters[arguments[i][1 + j]]);
        alone[i] = is_alone;
        together[i] = !is_alone;
    }
}

static keel_status_t compute_share(const PJRT_LoadedExecutable_Execute_Args *args, worth_t *worth,
                                   const bool *cheap, uint32_t *const *arguments) {
    const keel_signature_t *signature = &args->executable->facts->signature;
    replica_t replica = {args, signature, 0, (uint32_t)args->num_devices, NULL};
    void *memory, *partitions;
    size_t count = (size_t)signature->result_count + 1;
    KEEL_TRY(keel_calloc(2 * count, sizeof(bool), &memory));
    bool *alone = memory, *together = alone + count;
    keel_status_t status = own_partitions(args->executable, &partitions);
    if (!status) {
        replica.partitions = partitions;
        split(worth, signature, cheap, arguments, alone, together);
        status = compute_replica(worth, &replica, alone);
        if (!status) status = meeting_begin(&replica, together, arguments);
        keel_free(partitions);
    }
    keel_free(memory);
    return status;
}

// In the first execution of a program, results are computed only if they are asked for.
static keel_status_t compute_alone(worth_t *worth, const replica_t *replica, const bool *cheap,
                                   uint32_t *const *arguments) {
    bool is_later = false;
    if (replica->devices == 1 && !atomic_exchange(&worth->is_executed, true))
        KEEL_TRY(later_begin(replica, cheap, arguments, &is_later));
    return is_later ? NULL : compute_replica(worth, replica, cheap);
}

// All of this is for the values that a host reads; without them they are unknown.
static keel_status_t values(const PJRT_LoadedExecutable_Execute_Args *args) {
    const PJRT_LoadedExecutable *loaded = args->executable;
    worth_t *worth = loaded->facts->worth;
    const keel_signature_t *signature = &loaded->facts->signature;
    const bool *cheap;
    uint32_t *const *arguments;
    if (!worth || is_forked() || !worth_look(worth, signature, &cheap, &arguments)) return NULL;
    bool is_complete = args->num_devices == (size_t)signature->replicas * signature->partitions;
    if (signature->is_apart && args->num_devices > 1) cheap = worth->within;
    if (!is_complete && signature->partitions > 1) {
        bool is_share = signature->replicas == 1 && args->num_devices == loaded->device_count;
        keel_status_t status = is_share ? compute_share(args, worth, cheap, arguments) : NULL;
        if (status) meeting_give_up(status);
        return status;
    }
    for (size_t i = 0; i + signature->partitions <= args->num_devices; i += signature->partitions) {
        const replica_t replica = {args, signature, i, signature->partitions, NULL};
        KEEL_TRY(compute_alone(worth, &replica, cheap, arguments));
    }
    return NULL;
}

void values_compute(const PJRT_LoadedExecutable_Execute_Args *args) {
    keel_status_ignore(values(args));
}
