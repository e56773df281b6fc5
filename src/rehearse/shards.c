// Parts of arrays: put together, and cut again.
#include "rehearse/objects.h"

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

bool is_whole(const keel_array_t *array) {
    return keel_array_shape_equal(&array->whole, &array->shard) && !array->guessed;
}

size_t shape_bytes(const keel_array_shape_t *shape) {
    size_t size;
    keel_status_t status =
        host_bytes(buffer_type_of(shape->element), shape->dims, shape->rank, &size);
    bool is_known = !status;
    keel_status_ignore(status);
    return is_known ? size : SIZE_MAX;
}

keel_status_t places_of(const keel_array_t *array, uint32_t partitions, int64_t **out) {
    void *memory;
    if (array->guessed)
        return keel_status_make(KEEL_UNSUPPORTED, "it is only guessed how the array is sharded");
    KEEL_TRY(keel_calloc((size_t)partitions * array->whole.rank + 1, sizeof **out, &memory));
    keel_status_t status =
        keel_sharding_places(array->sharding, array->whole.rank, partitions, memory);
    if (status)
        keel_free(memory);
    else
        *out = memory;
    return status;
}

void shards_put(const keel_array_t *array, const int64_t *places, uint32_t partition,
                contents_t *whole, const uint8_t *shard) {
    move_shard(array, places + (size_t)partition * array->whole.rank, whole->data,
               (uint8_t *)(uintptr_t)shard, true);
}

contents_t *shards_cut(const keel_array_t *array, const int64_t *places, uint32_t partition,
                       contents_t *whole) {
    if (is_whole(array)) return contents_retain(whole);
    contents_t *shard = contents_create(shape_bytes(&array->shard));
    if (shard)
        move_shard(array, places + (size_t)partition * array->whole.rank, whole->data, shard->data,
                   false);
    return shard;
}

// ---- of an execution ---------------------------------------------------------------------------

contents_t *shards_at(const replica_t *replica, uint32_t device, uint32_t argument) {
    bool deleted; // those of a donated one are still there
    const keel_array_t *array = &replica->signature->parameters[argument];
    contents_t *contents =
        buffer_contents(replica->args->argument_lists[replica->first + device][argument],
                        keel_sharding_is_unreduced(array->sharding), &deleted);
    if (!contents || contents->size == shape_bytes(&array->shard)) return contents;
    contents_release(contents);
    return NULL;
}

static uint32_t partition_of(const replica_t *replica, uint32_t device) {
    return replica->partitions ? replica->partitions[device] : device;
}

contents_t *shards_gather(const replica_t *replica, uint32_t argument) {
    const keel_array_t *array = &replica->signature->parameters[argument];
    if (is_whole(array)) return shards_at(replica, 0, argument);
    if (replica->partitions) return NULL;
    int64_t *places;
    keel_status_t status = places_of(array, replica->devices, &places);
    contents_t *whole = status ? NULL : contents_create(shape_bytes(&array->whole));
    bool is_known = whole;
    for (uint32_t i = 0; is_known && i < replica->devices; ++i) {
        contents_t *shard = shards_at(replica, i, argument);
        is_known = shard;
        if (shard) shards_put(array, places, i, whole, shard->data);
        contents_release(shard);
    }
    if (!status) keel_free(places);
    keel_status_ignore(status);
    if (is_known) return whole;
    contents_release(whole);
    return NULL;
}

void shards_scatter(const replica_t *replica, uint32_t result, contents_t *whole) {
    const keel_array_t *array = &replica->signature->results[result];
    int64_t *places = NULL;
    keel_status_t status = NULL;
    if (!is_whole(array)) status = places_of(array, replica->signature->partitions, &places);
    for (uint32_t i = 0; !status && i < replica->devices; ++i) {
        PJRT_Buffer *buffer = replica->args->output_lists[replica->first + i][result];
        contents_t *shard = shards_cut(array, places, partition_of(replica, i), whole);
        if (shard) buffer_set_contents(buffer, shard);
    }
    keel_free(places);
    keel_status_ignore(status);
}

keel_status_t own_partitions(const PJRT_LoadedExecutable *loaded, void **out) {
    const keel_signature_t *signature = &loaded->facts->signature;
    size_t found = 0;
    KEEL_TRY(keel_calloc(loaded->device_count + 1, sizeof(uint32_t), out));
    uint32_t *partitions = *out;
    for (uint32_t i = 0; i < signature->partitions && found < loaded->device_count; ++i)
        if (loaded->ids[i] == loaded->devices[found]->id) partitions[found++] = i;
    return NULL;
}
