// Arbitrary bytes as what compilers and clients say about shardings and layouts: HLO's text, an
// OpSharding with tiles or with named axes, an optimized module, and compile options, each of a
// program with some open results.
#include <stdlib.h>

#include "program/program.h"
#include "signature/signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RANK_MOST = 6, PARTITIONS = 8 };

static void cut(keel_bytes_t sharding) {
    int64_t parts[RANK_MOST], places[RANK_MOST * PARTITIONS];
    for (uint32_t rank = 0; rank <= RANK_MOST; ++rank) {
        keel_status_t status = keel_sharding_parts(sharding, rank, parts);
        for (uint32_t i = 0; !status && i < rank; ++i)
            if (parts[i] < 1) abort();
        bool is_cut = !status;
        keel_status_ignore(status);
        status = keel_sharding_places(sharding, rank, PARTITIONS, places);
        for (uint32_t i = 0; !status && is_cut && i < rank * PARTITIONS; ++i)
            if (places[i] < 0 || places[i] >= parts[i % rank]) abort();
        keel_status_ignore(status);
    }
}

// The tiles of an OpSharding, which may name axes, and those of a NamedShardingProto alone.
static void name(keel_bytes_t sharding, bool is_inner) {
    keel_buffer_t tiles, outer;
    for (uint32_t rank = 0; rank <= RANK_MOST; ++rank) {
        keel_buffer_initialize(&tiles, 0);
        keel_buffer_initialize(&outer, 0);
        keel_proto_put_bytes(&outer, 14, sharding);
        keel_status_t status =
            keel_sharding_tiles(is_inner ? keel_buffer_bytes(&outer) : sharding, rank, &tiles);
        if (!status && is_inner && !tiles.size) abort();
        if (!status) cut(keel_buffer_bytes(&tiles));
        keel_status_ignore(status);
        keel_buffer_deinitialize(&tiles);
        keel_buffer_deinitialize(&outer);
    }
}

static void parse(keel_bytes_t text) {
    keel_buffer_t sharding;
    keel_buffer_initialize(&sharding, 0);
    keel_status_t status = keel_sharding_parse(keel_bytes_str(text), &sharding);
    if (!status) status = keel_buffer_status(&sharding);
    if (!status) cut(keel_buffer_bytes(&sharding));
    keel_status_ignore(status);
    keel_buffer_deinitialize(&sharding);
}

// A signature of two parameters and three results, all open.
static void settle(keel_bytes_t module, bool with_config) {
    static const int64_t dims[] = {8, 4, 6};
    keel_array_t arrays[5];
    for (size_t i = 0; i < 5; ++i)
        arrays[i] = (keel_array_t){.whole = {KEEL_PRIMITIVE_F32, (uint32_t)(i % 4), dims},
                                   .shard = {KEEL_PRIMITIVE_F32, (uint32_t)(i % 4), dims}};
    keel_signature_t signature = {.replicas = 1,
                                  .partitions = PARTITIONS,
                                  .is_spmd = true,
                                  .parameters = arrays,
                                  .parameter_count = 2,
                                  .results = arrays + 2,
                                  .result_count = 3};
    keel_arena_initialize(&signature.arena, 0);
    keel_status_t status = keel_signature_settle(&signature, module, with_config);
    if (!status && keel_signature_is_open(&signature)) abort();
    keel_status_ignore(status);
    keel_signature_deinitialize(&signature);
}

// An outline has nothing that an outline would leave out.
static void outline(keel_bytes_t module) {
    keel_buffer_t once, twice;
    keel_buffer_initialize(&once, 0);
    keel_buffer_initialize(&twice, 0);
    keel_status_t status = keel_signature_outline(module, &once);
    if (!status) {
        status = keel_signature_outline(keel_buffer_bytes(&once), &twice);
        if (status || !keel_bytes_equal(keel_buffer_bytes(&once), keel_buffer_bytes(&twice)))
            abort();
        settle(keel_buffer_bytes(&once), true);
    }
    keel_status_ignore(status);
    keel_buffer_deinitialize(&once);
    keel_buffer_deinitialize(&twice);
}

static void read_options(keel_bytes_t options) {
    keel_program_t program;
    keel_signature_t signature;
    keel_program_initialize(&program);
    keel_status_t status = keel_signature_read(&program, options, &signature);
    if (!status) keel_signature_deinitialize(&signature);
    keel_status_ignore(status);
    keel_program_deinitialize(&program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_bytes_t bytes = keel_bytes(data, size);
    cut(bytes);
    name(bytes, false);
    name(bytes, true);
    parse(bytes);
    settle(bytes, true);
    settle(bytes, false);
    outline(bytes);
    read_options(bytes);
    return 0;
}
