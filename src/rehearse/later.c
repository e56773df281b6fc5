// What a program computes in its first execution, once a host asks for it.
//
// Most programs that run once make what no host ever reads: weights, an optimizer's state. To
// compile them for the processor takes longer than all else that a rehearsal does with them. So the
// first execution of a program keeps what its cheap results need, and computes when one is asked
// for: that one, and all the others when another is. From the second execution on, results are
// computed at once.
#include "rehearse/objects.h"

enum {
    LONGEST_CHAIN = 16,   // executions that wait for each other; the next one computes at once
    COMPUTED_AT_ONCE = 4, // of so few results all are
};
static const size_t kept_most = 64 << 20; // bytes of all arguments of one execution

// An argument as it was when the execution began: its contents, or what will compute them. Neither:
// unknown, or not needed.
typedef struct origin_t {
    contents_t *contents;
    later_t *later;
    uint32_t result;
} origin_t;

struct later_t {
    atomic_size_t references;
    pthread_mutex_t lock; // for all below but the last two
    facts_t *facts;
    origin_t *arguments;  // each; NULL: all wanted results are computed
    bool *wanted;         // each result: cheap, and not computed yet
    contents_t **results; // each
    bool is_asked;        // for the first time
    uint32_t length;      // of the longest chain that ends here
    size_t kept;          // bytes of contents
};

// ---- its life ----------------------------------------------------------------------------------

void later_retain(later_t *later) {
    atomic_fetch_add(&later->references, 1);
}

static void drop_arguments(later_t *later) {
    for (uint32_t i = 0; later->arguments && i < later->facts->signature.parameter_count; ++i) {
        contents_release(later->arguments[i].contents);
        later_release(later->arguments[i].later);
    }
    keel_free(later->arguments);
    later->arguments = NULL;
}

void later_release(later_t *later) {
    KEEL_ASSERT(!later || atomic_load(&later->references));
    if (!later || atomic_fetch_sub(&later->references, 1) != 1) return;
    drop_arguments(later);
    for (uint32_t i = 0; later->results && i < later->facts->signature.result_count; ++i)
        contents_release(later->results[i]);
    keel_free(later->results);
    keel_free(later->wanted);
    facts_release(later->facts);
    pthread_mutex_destroy(&later->lock);
    keel_free(later);
}

static keel_status_t allocate(later_t *later, const bool *cheap) {
    const keel_signature_t *signature = &later->facts->signature;
    size_t results = (size_t)signature->result_count + 1;
    void *memory;
    KEEL_TRY(keel_calloc((size_t)signature->parameter_count + 1, sizeof(origin_t), &memory));
    later->arguments = memory;
    KEEL_TRY(keel_calloc(results, sizeof *later->wanted, &memory));
    later->wanted = memory;
    memcpy(later->wanted, cheap, signature->result_count * sizeof *cheap);
    KEEL_TRY(keel_calloc(results, sizeof *later->results, &memory));
    later->results = memory;
    return NULL;
}

static keel_status_t create(facts_t *facts, const bool *cheap, later_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(later_t), &memory));
    later_t *later = *out = memory;
    atomic_init(&later->references, 1);
    pthread_mutex_init(&later->lock, NULL);
    later->facts = facts;
    atomic_fetch_add(&facts->references, 1);
    later->length = 1;
    return allocate(later, cheap);
}

// ---- the execution -----------------------------------------------------------------------------

static uint32_t longest(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

// False if the arguments are too large to be kept.
static bool take_argument(later_t *later, const replica_t *replica, uint32_t argument) {
    origin_t *origin = &later->arguments[argument];
    if (origin->contents || origin->later) return true;
    origin->later =
        buffer_later(replica->args->argument_lists[replica->first][argument], &origin->result);
    if (origin->later) {
        later->length = longest(later->length, origin->later->length + 1);
        return true;
    }
    origin->contents = shards_at(replica, 0, argument);
    if (origin->contents) later->kept += origin->contents->size;
    return later->kept <= kept_most;
}

static bool take_arguments(later_t *later, const replica_t *replica, uint32_t *const *arguments) {
    for (uint32_t i = 0; i < replica->signature->result_count; ++i)
        for (uint32_t j = 0; later->wanted[i] && j < arguments[i][0]; ++j)
            if (!take_argument(later, replica, arguments[i][1 + j])) return false;
    return later->length <= LONGEST_CHAIN;
}

keel_status_t later_begin(const replica_t *replica, const bool *cheap, uint32_t *const *arguments,
                          bool *out_begun) {
    later_t *later = NULL;
    keel_status_t status = create(replica->args->executable->facts, cheap, &later);
    *out_begun = !status && take_arguments(later, replica, arguments);
    for (uint32_t i = 0; *out_begun && i < replica->signature->result_count; ++i)
        if (cheap[i])
            buffer_compute_later(replica->args->output_lists[replica->first][i], later, i);
    later_release(later);
    return status;
}

// ---- once it is asked for ----------------------------------------------------------------------

static contents_t *contents_later(void *context, uint32_t argument) {
    const later_t *later = context;
    const origin_t *origin = &later->arguments[argument];
    return origin->later ? later_contents(origin->later, origin->result)
                         : contents_retain(origin->contents);
}

static uint32_t count_wanted(const later_t *later) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < later->facts->signature.result_count; ++i)
        count += later->wanted[i];
    return count;
}

// Under the lock. Those that are not computed now have no memory, or an unknown argument.
static keel_status_t compute_all(later_t *later) {
    const argument_source_t source = {contents_later, later};
    keel_status_t status = worth_compute(later->facts->worth, &later->facts->signature,
                                         later->wanted, &source, later->results);
    drop_arguments(later);
    return status;
}

static keel_status_t compute_one(later_t *later, uint32_t result) {
    const argument_source_t source = {contents_later, later};
    void *memory;
    KEEL_TRY(keel_calloc(later->facts->signature.result_count, sizeof(bool), &memory));
    bool *wanted = memory;
    wanted[result] = true;
    later->wanted[result] = false;
    keel_status_t status = worth_compute(later->facts->worth, &later->facts->signature, wanted,
                                         &source, later->results);
    keel_free(memory);
    return status;
}

contents_t *later_contents(later_t *later, uint32_t result) {
    if (is_forked()) return NULL; // another thread of the parent may have held the lock
    keel_status_t status = NULL;
    pthread_mutex_lock(&later->lock);
    if (later->arguments && later->wanted[result]) {
        bool is_one = !later->is_asked && count_wanted(later) > COMPUTED_AT_ONCE;
        later->is_asked = true;
        status = is_one ? compute_one(later, result) : compute_all(later);
    }
    contents_t *contents = contents_retain(later->results[result]);
    pthread_mutex_unlock(&later->lock);
    keel_status_ignore(status); // it is unknown
    return contents;
}
