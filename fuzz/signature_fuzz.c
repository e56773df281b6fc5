// Arbitrary bytes: of every program that can be read, what its executable takes and gives on eight
// devices. The module that stands for it is understood again, and every sharding says where each
// part of its array is.
#include <stdlib.h>

#include "read/read.h"
#include "signature/signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PARTITIONS = 8, MOST_PLACES = 1 << 16 };
// CompileOptionsProto: one replica of eight partitions, with SPMD.
static const uint8_t options[] = {0x1a, 6, 0x20, 1, 0x28, PARTITIONS, 0x30, 1};

static void look_at(const keel_array_t *array) {
    static int64_t places[MOST_PLACES];
    uint32_t rank = array->whole.rank;
    if (array->shard.rank != rank) abort();
    for (uint32_t i = 0; i < rank; ++i)
        if (array->shard.dims[i] < 0 || array->shard.dims[i] > array->whole.dims[i]) abort();
    if ((uint64_t)rank * PARTITIONS > MOST_PLACES) return;
    keel_status_ignore(keel_sharding_places(array->sharding, rank, PARTITIONS, places));
}

static void look_at_all(const keel_signature_t *signature) {
    for (uint32_t i = 0; i < signature->parameter_count; ++i)
        look_at(&signature->parameters[i]);
    for (uint32_t i = 0; i < signature->result_count; ++i)
        look_at(&signature->results[i]);
}

static void use(keel_signature_t *signature) {
    keel_buffer_t module;
    keel_buffer_initialize(&module, 0);
    keel_signature_module(signature, &module);
    keel_status_t status = keel_buffer_status(&module);
    if (!status) status = keel_signature_settle(signature, keel_buffer_bytes(&module), true);
    if (keel_status_code(status) == KEEL_CORRUPT) abort();
    if (!status && keel_signature_is_open(signature)) abort();
    keel_status_ignore(status);
    keel_buffer_deinitialize(&module);
    look_at_all(signature);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_program_t program;
    keel_signature_t signature;
    keel_status_t status = keel_read(keel_bytes(data, size), &program);
    if (!status)
        status = keel_signature_read(&program, keel_bytes(options, sizeof options), &signature);
    if (!status) {
        look_at_all(&signature);
        use(&signature);
        keel_signature_deinitialize(&signature);
    }
    keel_status_ignore(status);
    keel_program_deinitialize(&program);
    return 0;
}
