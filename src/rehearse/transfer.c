// What moves between the host and buffers.
#include "rehearse/objects.h"

enum { RANK_MOST = 64 };

// An array on the host: where its first element is and how far apart elements are, in bytes.
typedef struct host_t {
    uint8_t *data;
    int64_t strides[RANK_MOST];
} host_t;

static void dense_strides(const int64_t *dims, size_t rank, size_t element, int64_t *out) {
    int64_t stride = (int64_t)element;
    for (size_t i = rank; i--; stride *= dims[i])
        out[i] = stride;
}

// Copies elements between the array on the host and the dense one.
static void move(const int64_t *dims, size_t rank, size_t element, const host_t *host,
                 uint8_t *dense, bool to_host) {
    int64_t at[RANK_MOST] = {0}, count = 1;
    uint8_t *place = host->data;
    for (size_t i = 0; i < rank; ++i)
        count *= dims[i];
    for (int64_t n = 0; n < count; ++n, dense += element) {
        memcpy(to_host ? place : dense, to_host ? dense : place, element);
        for (size_t i = rank; i--;) {
            place += host->strides[i];
            if (++at[i] < dims[i]) break;
            place -= host->strides[i] * dims[i];
            at[i] = 0;
        }
    }
}

static bool is_dense(const int64_t *dims, size_t rank, size_t element, const int64_t *strides) {
    int64_t expected[RANK_MOST];
    dense_strides(dims, rank, element, expected);
    for (size_t i = 0; i < rank; ++i)
        if (dims[i] > 1 && strides[i] != expected[i]) return false;
    return true;
}

static keel_status_t check_rank(size_t rank) {
    if (rank <= RANK_MOST) return NULL;
    return keel_status_make(KEEL_UNSUPPORTED, "an array of %zu dimensions; at most %d are handled",
                            rank, RANK_MOST);
}

// ---- to the device -----------------------------------------------------------------------------

// NULL if they are too large to keep.
static contents_t *contents_from(const PJRT_Client_BufferFromHostBuffer_Args *args, size_t size) {
    size_t element = element_bytes(args->type);
    contents_t *contents = contents_create(size);
    if (!contents || !contents->size) return contents;
    if (!args->num_byte_strides ||
        is_dense(args->dims, args->num_dims, element, args->byte_strides)) {
        memcpy(contents->data, args->data, contents->size);
        return contents;
    }
    host_t host = {.data = (uint8_t *)(uintptr_t)args->data};
    memcpy(host.strides, args->byte_strides, args->num_dims * sizeof *host.strides);
    move(args->dims, args->num_dims, element, &host, contents->data, false);
    return contents;
}

// NULL if the client leaves it to the device.
static keel_status_t layout_from(const PJRT_Client_BufferFromHostBuffer_Args *args,
                                 const char **out) {
    const PJRT_Buffer_MemoryLayout *layout = args->device_layout;
    *out = NULL;
    if (!layout || layout->type != PJRT_Buffer_MemoryLayout_Type_Tiled || layout->tiled.num_tiles)
        return NULL;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_text(&text, "{");
    for (size_t i = 0; i < layout->tiled.minor_to_major_size; ++i)
        keel_buffer_format(&text, "%s%lld", i ? "," : "",
                           (long long)layout->tiled.minor_to_major[i]);
    keel_buffer_text(&text, "}");
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = keep_text(keel_bytes_str(keel_buffer_bytes(&text)), out);
    keel_buffer_deinitialize(&text);
    return status;
}

static PJRT_Error *from_host(PJRT_Client_BufferFromHostBuffer_Args *args) {
    making_t making = {.memory = args->memory ? args->memory : args->device->standard,
                       .type = args->type,
                       .dims = args->dims,
                       .rank = args->num_dims};
    size_t size;
    keel_status_t status = check_rank(args->num_dims);
    if (!status) status = host_bytes(args->type, args->dims, args->num_dims, &size);
    if (!status) status = layout_from(args, &making.layout);
    if (status) return refuse(KEEL_REHEARSE_TRANSFER, NULL, status);
    making.contents = contents_from(args, size);
    status = buffer_create(&making, &args->buffer);
    if (status) return refuse(KEEL_REHEARSE_TRANSFER, NULL, status);
    args->done_with_host_buffer = event_ready();
    return NULL;
}

// The bytes between elements of an array that is laid out in this order.
static keel_status_t strides_in_order(const PJRT_Client_CreateViewOfDeviceBuffer_Args *args,
                                      int64_t *out) {
    const PJRT_Buffer_MemoryLayout *layout = args->layout;
    int64_t stride = (int64_t)element_bytes(args->element_type);
    dense_strides(args->dims, args->num_dims, (size_t)stride, out);
    if (!layout || layout->type != PJRT_Buffer_MemoryLayout_Type_Tiled) return NULL;
    if (layout->tiled.minor_to_major_size != args->num_dims)
        return keel_status_make(KEEL_INVALID, "a layout of %zu dimensions for %zu",
                                layout->tiled.minor_to_major_size, args->num_dims);
    for (size_t i = 0; i < args->num_dims; ++i) {
        int64_t dim = layout->tiled.minor_to_major[i];
        if (dim < 0 || (size_t)dim >= args->num_dims)
            return keel_status_make(KEEL_INVALID, "a layout with dimension %lld", (long long)dim);
        out[dim] = stride;
        stride *= args->dims[dim];
    }
    return NULL;
}

// Another library's array. The processor's memory can be read, and so the array is copied.
static PJRT_Error *view(PJRT_Client_CreateViewOfDeviceBuffer_Args *args) {
    int64_t strides[RANK_MOST];
    keel_status_t status = check_rank(args->num_dims);
    if (!status && !rehearsal.backing)
        status = keel_status_make(KEEL_UNSUPPORTED,
                                  "keel: in a rehearsal there is no memory of a device to look at");
    if (!status) status = strides_in_order(args, strides);
    if (status) return refuse(KEEL_REHEARSE_TRANSFER, NULL, status);
    PJRT_Client_BufferFromHostBuffer_Args copy = {KEEL_PJRT_SIZE(PJRT_Client_BufferFromHostBuffer),
                                                  .client = args->client,
                                                  .data = args->device_buffer_ptr,
                                                  .type = args->element_type,
                                                  .dims = args->dims,
                                                  .num_dims = args->num_dims,
                                                  .byte_strides = strides,
                                                  .num_byte_strides = args->num_dims,
                                                  .device = args->device,
                                                  .memory = args->memory,
                                                  .device_layout = args->layout};
    PJRT_Error *error = from_host(&copy);
    if (error) return error;
    args->buffer = copy.buffer;
    if (args->on_delete_callback)
        args->on_delete_callback(args->device_buffer_ptr, args->on_delete_callback_arg);
    return NULL;
}

// ---- from the device ---------------------------------------------------------------------------

static keel_status_t strides_of(const PJRT_Buffer *buffer, const PJRT_Buffer_MemoryLayout *layout,
                                int64_t *out) {
    size_t element = element_bytes(buffer->type), rank = buffer->rank;
    dense_strides(buffer->dims, rank, element, out);
    if (!layout) return NULL;
    if (layout->type == PJRT_Buffer_MemoryLayout_Type_Strides) {
        if (layout->strides.num_byte_strides != rank)
            return keel_status_make(KEEL_INVALID, "a host layout of %zu strides for %zu dimensions",
                                    layout->strides.num_byte_strides, rank);
        memcpy(out, layout->strides.byte_strides, rank * sizeof *out);
        return NULL;
    }
    if (layout->tiled.minor_to_major_size != rank)
        return keel_status_make(KEEL_INVALID, "a host layout of %zu dimensions for %zu",
                                layout->tiled.minor_to_major_size, rank);
    int64_t stride = (int64_t)element;
    for (size_t i = 0; i < rank; ++i) {
        int64_t dim = layout->tiled.minor_to_major[i];
        if (dim < 0 || (size_t)dim >= rank)
            return keel_status_make(KEEL_INVALID, "a host layout with dimension %lld",
                                    (long long)dim);
        out[dim] = stride;
        stride *= buffer->dims[dim];
    }
    return NULL;
}

static keel_status_t write_host(PJRT_Buffer *buffer, contents_t *contents,
                                const PJRT_Buffer_ToHostBuffer_Args *args, size_t size) {
    host_t host = {.data = args->dst};
    KEEL_TRY(check_rank(buffer->rank));
    KEEL_TRY(strides_of(buffer, args->host_layout, host.strides));
    size_t element = element_bytes(buffer->type);
    if (args->dst_size < size)
        return keel_status_make(KEEL_INVALID, "%zu bytes of room for an array of %zu",
                                args->dst_size, size);
    if (!contents)
        fill_unknown(buffer->type, args->dst, size);
    else if (is_dense(buffer->dims, buffer->rank, element, host.strides))
        memcpy(args->dst, contents->data, size);
    else
        move(buffer->dims, buffer->rank, element, &host, contents->data, true);
    return NULL;
}

static PJRT_Error *to_host(PJRT_Buffer_ToHostBuffer_Args *args) {
    bool deleted;
    PJRT_Buffer *buffer = args->src;
    size_t size = 0;
    contents_t *contents = buffer_contents(buffer, false, &deleted);
    keel_status_t status =
        deleted ? buffer_gone() : host_bytes(buffer->type, buffer->dims, buffer->rank, &size);
    if (status) {
        contents_release(contents);
        return refuse(KEEL_REHEARSE_TRANSFER, NULL, status);
    }
    if (!args->dst)
        args->dst_size = size;
    else if (size)
        status = write_host(buffer, contents, args, size);
    contents_release(contents);
    if (status) return refuse(KEEL_REHEARSE_TRANSFER, NULL, status);
    args->event = event_ready();
    return NULL;
}

static PJRT_Error *raw_to_host(PJRT_Buffer_CopyRawToHost_Args *args) {
    bool deleted;
    contents_t *contents = buffer_contents(args->buffer, false, &deleted);
    if (deleted) {
        contents_release(contents);
        return refuse(KEEL_REHEARSE_TRANSFER, NULL, buffer_gone());
    }
    uint64_t offset = (uint64_t)args->offset, size = (uint64_t)args->transfer_size;
    bool fits = args->offset >= 0 && args->transfer_size >= 0 && offset <= args->buffer->bytes &&
                size <= args->buffer->bytes - offset;
    bool known = fits && contents && offset <= contents->size && size <= contents->size - offset;
    if (known)
        memcpy(args->dst, contents->data + offset, size);
    else if (fits)
        fill_unknown(args->buffer->type, args->dst, size);
    contents_release(contents);
    if (!fits)
        return refuse(KEEL_REHEARSE_TRANSFER, NULL,
                      keel_status_make(KEEL_INVALID, "bytes %lld to %lld of a buffer of %llu",
                                       (long long)args->offset,
                                       (long long)(args->offset + args->transfer_size),
                                       (unsigned long long)args->buffer->bytes));
    args->event = event_ready();
    return NULL;
}

void transfer_fill(PJRT_Api *table) {
    table->PJRT_Client_BufferFromHostBuffer = from_host;
    table->PJRT_Client_CreateViewOfDeviceBuffer = view;
    table->PJRT_Buffer_ToHostBuffer = to_host;
    table->PJRT_Buffer_CopyRawToHost = raw_to_host;
}
