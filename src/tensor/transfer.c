// Values between host and devices. A value that is split is cut on the way: each device gets its
// part, and reading puts the parts together.
#include "tensor/device.h"

static PJRT_Buffer_Type buffer_type(keel_dtype_t dtype) {
    static const PJRT_Buffer_Type types[KEEL_DTYPE_COUNT] = {
        [KEEL_BOOL] = PJRT_Buffer_Type_PRED,     [KEEL_I8] = PJRT_Buffer_Type_S8,
        [KEEL_I16] = PJRT_Buffer_Type_S16,       [KEEL_I32] = PJRT_Buffer_Type_S32,
        [KEEL_I64] = PJRT_Buffer_Type_S64,       [KEEL_U8] = PJRT_Buffer_Type_U8,
        [KEEL_U16] = PJRT_Buffer_Type_U16,       [KEEL_U32] = PJRT_Buffer_Type_U32,
        [KEEL_U64] = PJRT_Buffer_Type_U64,       [KEEL_F8E4M3FN] = PJRT_Buffer_Type_F8E4M3FN,
        [KEEL_F8E5M2] = PJRT_Buffer_Type_F8E5M2, [KEEL_BF16] = PJRT_Buffer_Type_BF16,
        [KEEL_F16] = PJRT_Buffer_Type_F16,       [KEEL_F32] = PJRT_Buffer_Type_F32,
        [KEEL_F64] = PJRT_Buffer_Type_F64,       [KEEL_C64] = PJRT_Buffer_Type_C64,
        [KEEL_C128] = PJRT_Buffer_Type_C128,
    };
    return types[dtype];
}

// Bytes from one element to the next along each axis of a row-major array.
static void strides_of(size_t element, const int64_t *dims, int32_t rank,
                       int64_t out[KEEL_MAX_RANK]) {
    int64_t stride = (int64_t)element;
    for (int32_t i = rank; i-- > 0;) {
        out[i] = stride;
        stride *= dims[i];
    }
}

static int64_t offset_of(const tile_t *tile, int32_t rank, const int64_t *strides) {
    int64_t offset = 0;
    for (int32_t i = 0; i < rank; ++i)
        offset += tile->from[i] * strides[i];
    return offset;
}

// ---- to the devices ----------------------------------------------------------------------------

static keel_status_t send_tile(device_t *device, const lane_t *lane, const layout_t *layout,
                               const void *data, PJRT_Buffer **out) {
    const keel_shape_t *shape = layout->shape;
    tile_t tile = mesh_tile(device->mesh, layout->sharding, shape, lane->position);
    int64_t strides[KEEL_MAX_RANK];
    strides_of(keel_dtype_size(layout->dtype), shape->dims, shape->rank, strides);
    PJRT_Client_BufferFromHostBuffer_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_BufferFromHostBuffer),
        .client = device->client,
        .data = data ? (const char *)data + offset_of(&tile, shape->rank, strides) : NULL,
        .type = buffer_type(layout->dtype),
        .dims = tile.dims,
        .num_dims = (size_t)shape->rank,
        .byte_strides = tile.is_whole ? NULL : strides,
        .num_byte_strides = tile.is_whole ? 0 : (size_t)shape->rank,
        .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
        .device = lane->device};
    KEEL_TRY(KEEL_PJRT_CALL(device->api, PJRT_Client_BufferFromHostBuffer, args));
    *out = args.buffer;
    return keel_pjrt_await(device->api, args.done_with_host_buffer);
}

keel_status_t device_send(device_t *device, const layout_t *layout, const void *data,
                          PJRT_Buffer **out) {
    keel_status_t status = device_check_process(device);
    for (size_t i = 0; i < device->lane_count && !status; ++i)
        status = send_tile(device, &device->lanes[i], layout, data, &out[i]);
    if (status) device_drop(device, out);
    return status;
}

void device_drop(device_t *device, PJRT_Buffer **buffers) {
    for (size_t i = 0; buffers && i < device->lane_count; ++i) {
        if (!device_is_of_parent(device)) keel_pjrt_destroy_buffer(device->api, buffers[i]);
        buffers[i] = NULL;
    }
}

// ---- from the devices --------------------------------------------------------------------------

static keel_status_t fetch(device_t *device, PJRT_Buffer *buffer, void *data, size_t size) {
    PJRT_Buffer_ToHostBuffer_Args args = {KEEL_PJRT_SIZE(PJRT_Buffer_ToHostBuffer), .src = buffer,
                                          .dst = data, .dst_size = size};
    KEEL_TRY(KEEL_PJRT_CALL(device->api, PJRT_Buffer_ToHostBuffer, args));
    return keel_pjrt_await(device->api, args.event);
}

// Copies the rows of a part to their places in the whole.
static void place_tile(const layout_t *layout, const tile_t *tile, const uint8_t *part,
                       uint8_t *whole) {
    const keel_shape_t *shape = layout->shape;
    int32_t last = shape->rank - 1;
    int64_t strides[KEEL_MAX_RANK], index[KEEL_MAX_RANK] = {0}, rows = 1;
    size_t row = (size_t)tile->dims[last] * keel_dtype_size(layout->dtype);
    strides_of(keel_dtype_size(layout->dtype), shape->dims, shape->rank, strides);
    for (int32_t i = 0; i < last; ++i)
        rows *= tile->dims[i];
    whole += offset_of(tile, shape->rank, strides);
    for (int64_t k = 0; k < rows; ++k, part += row) {
        int64_t offset = 0;
        for (int32_t i = 0; i < last; ++i)
            offset += index[i] * strides[i];
        memcpy(whole + offset, part, row);
        for (int32_t i = last; i-- > 0 && ++index[i] == tile->dims[i];)
            index[i] = 0;
    }
}

static bool is_same_tile(const tile_t *x, const tile_t *y, int32_t rank) {
    return !memcmp(x->from, y->from, (size_t)rank * sizeof *x->from);
}

// Whether an earlier lane has the same part.
static bool is_repeated(const device_t *device, const layout_t *layout, size_t lane,
                        const tile_t *tile) {
    for (size_t i = 0; i < lane; ++i) {
        tile_t other =
            mesh_tile(device->mesh, layout->sharding, layout->shape, device->lanes[i].position);
        if (is_same_tile(tile, &other, layout->shape->rank)) return true;
    }
    return false;
}

static keel_status_t fetch_parts(device_t *device, const layout_t *layout,
                                 PJRT_Buffer *const *buffers, void *part, size_t size, void *data) {
    int64_t counts[KEEL_MAX_RANK], missing = 1;
    mesh_parts(device->mesh, layout->sharding, counts);
    for (int i = 0; i < KEEL_MAX_RANK; ++i)
        missing *= counts[i];
    for (size_t i = 0; i < device->lane_count; ++i) {
        tile_t tile =
            mesh_tile(device->mesh, layout->sharding, layout->shape, device->lanes[i].position);
        if (is_repeated(device, layout, i, &tile)) continue;
        KEEL_TRY(fetch(device, buffers[i], part, size));
        place_tile(layout, &tile, part, data);
        --missing;
    }
    if (!missing) return NULL;
    return keel_status_make(KEEL_INVALID,
                            "%lld parts are on devices of other processes: keep it whole "
                            "(keel_shard with KEEL_WHOLE) and read that",
                            (long long)missing);
}

keel_status_t device_receive(device_t *device, const layout_t *layout, PJRT_Buffer *const *buffers,
                             void *data) {
    tile_t tile =
        mesh_tile(device->mesh, layout->sharding, layout->shape, device->lanes[0].position);
    size_t size = keel_dtype_size(layout->dtype);
    void *part;
    KEEL_TRY(device_check_process(device));
    for (int32_t i = 0; i < layout->shape->rank; ++i)
        size *= (size_t)tile.dims[i];
    if (tile.is_whole) return fetch(device, buffers[0], data, size);
    KEEL_TRY(keel_alloc(size, &part));
    keel_status_t status = fetch_parts(device, layout, buffers, part, size, data);
    keel_free(part);
    return status;
}
