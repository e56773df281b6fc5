// Buffers: a shape in a memory, and contents if they are known.
#include "rehearse/objects.h"

// ---- types -------------------------------------------------------------------------------------

PJRT_Buffer_Type buffer_type_of(keel_primitive_t primitive) {
    switch (primitive) {
#define BUFFER_TYPE(number, name, bits)                                                            \
    case KEEL_PRIMITIVE_##name:                                                                    \
        return PJRT_Buffer_Type_##name;
        KEEL_PRIMITIVES(BUFFER_TYPE)
#undef BUFFER_TYPE
        default:
            return PJRT_Buffer_Type_INVALID;
    }
}

// ---- contents ----------------------------------------------------------------------------------

// All contents of the process together, so that a rehearsal of a model that is larger than this
// machine's memory has room for itself.
static const size_t contents_limit = (size_t)2 << 30;
static atomic_size_t contents_kept;

contents_t *contents_create(size_t size) {
    void *memory;
    if (size > contents_limit) return NULL;
    if (atomic_fetch_add(&contents_kept, size) > contents_limit - size) {
        atomic_fetch_sub(&contents_kept, size);
        return NULL;
    }
    keel_status_t status = keel_alloc(sizeof(contents_t) + size, &memory);
    if (status) {
        atomic_fetch_sub(&contents_kept, size);
        keel_status_ignore(status);
        return NULL;
    }
    contents_t *contents = memory;
    atomic_init(&contents->references, 1);
    contents->size = size;
    return contents;
}

contents_t *contents_retain(contents_t *contents) {
    if (contents) atomic_fetch_add(&contents->references, 1);
    return contents;
}

void contents_release(contents_t *contents) {
    KEEL_ASSERT(!contents || atomic_load(&contents->references));
    if (!contents || atomic_fetch_sub(&contents->references, 1) != 1) return;
    atomic_fetch_sub(&contents_kept, contents->size);
    keel_free(contents);
}

// ---- buffers -----------------------------------------------------------------------------------

// Each dimension once.
static bool is_order(const int64_t *order, size_t rank) {
    for (size_t i = 0; i < rank; ++i) {
        if (order[i] >= (int64_t)rank) return false;
        for (size_t j = 0; j < i; ++j)
            if (order[j] == order[i]) return false;
    }
    return true;
}

static keel_status_t lay_out(const making_t *making, PJRT_Buffer *buffer) {
    buffer->layout = making->layout;
    if (!buffer->layout)
        KEEL_TRY(layout_usual(making->type, making->dims, making->rank, &buffer->layout));
    if (layout_order(buffer->layout, buffer->minor_to_major, making->rank) == making->rank &&
        is_order(buffer->minor_to_major, making->rank))
        return NULL;
    return keel_status_make(KEEL_UNSUPPORTED, "layout %s for %zu dimensions", buffer->layout,
                            making->rank);
}

keel_status_t buffer_create(const making_t *making, PJRT_Buffer **out) {
    void *room;
    size_t rank = making->rank;
    keel_status_t status =
        keel_calloc(1, sizeof(PJRT_Buffer) + 2 * rank * sizeof *making->dims, &room);
    if (status) {
        contents_release(making->contents);
        return status;
    }
    PJRT_Buffer *buffer = room;
    buffer->memory = making->memory;
    buffer->type = making->type;
    buffer->rank = rank;
    buffer->minor_to_major = buffer->dims + rank;
    if (rank) memcpy(buffer->dims, making->dims, rank * sizeof *making->dims);
    status = lay_out(making, buffer);
    if (status) {
        contents_release(making->contents);
        keel_free(buffer);
        return status;
    }
    buffer->contents = making->contents;
    buffer->maker = making->maker;
    buffer->is_guess = making->is_guess;
    buffer->is_share = making->is_share;
    buffer->bytes = bytes_on_device(making->type, making->dims, rank, buffer->layout);
    pthread_mutex_init(&buffer->lock, NULL);
    memory_take(buffer->memory, buffer->bytes);
    *out = buffer;
    return NULL;
}

bool buffer_hand_over(PJRT_Buffer *buffer) {
    pthread_mutex_lock(&buffer->lock);
    bool was_there = !buffer->is_deleted;
    buffer->is_deleted = true;
    pthread_mutex_unlock(&buffer->lock);
    if (was_there) memory_give(buffer->memory, buffer->bytes);
    return was_there;
}

void buffer_take_back(PJRT_Buffer *buffer) {
    memory_take(buffer->memory, buffer->bytes);
    pthread_mutex_lock(&buffer->lock);
    buffer->is_deleted = false;
    pthread_mutex_unlock(&buffer->lock);
}

void buffer_forget(PJRT_Buffer *buffer) {
    pthread_mutex_lock(&buffer->lock);
    contents_t *contents = buffer->contents;
    meeting_t *meeting = buffer->meeting;
    later_t *later = buffer->later;
    buffer->contents = NULL;
    buffer->meeting = NULL;
    buffer->later = NULL;
    pthread_mutex_unlock(&buffer->lock);
    contents_release(contents);
    meeting_release(meeting);
    later_release(later);
}

void buffer_delete(PJRT_Buffer *buffer) {
    if (buffer_hand_over(buffer)) buffer_forget(buffer);
}

void buffer_destroy(PJRT_Buffer *buffer) {
    if (!buffer) return;
    buffer_delete(buffer);
    buffer_forget(buffer); // if an execution has it and does not give it back
    pthread_mutex_destroy(&buffer->lock);
    keel_free(buffer);
}

void buffer_set_contents(PJRT_Buffer *buffer, contents_t *contents) {
    pthread_mutex_lock(&buffer->lock);
    contents_t *before = buffer->contents;
    buffer->contents = contents;
    pthread_mutex_unlock(&buffer->lock);
    contents_release(before);
}

void buffer_await(PJRT_Buffer *buffer, meeting_t *meeting, uint32_t result, uint32_t device) {
    pthread_mutex_lock(&buffer->lock);
    buffer->meeting = meeting;
    buffer->result = result;
    buffer->device = device;
    pthread_mutex_unlock(&buffer->lock);
}

void buffer_compute_later(PJRT_Buffer *buffer, later_t *later, uint32_t result) {
    later_retain(later);
    pthread_mutex_lock(&buffer->lock);
    buffer->later = later;
    buffer->result = result;
    pthread_mutex_unlock(&buffer->lock);
}

later_t *buffer_later(PJRT_Buffer *buffer, uint32_t *out_result) {
    pthread_mutex_lock(&buffer->lock);
    later_t *later = buffer->later;
    *out_result = buffer->result;
    if (later) later_retain(later);
    pthread_mutex_unlock(&buffer->lock);
    return later;
}

// Takes the contents from where they come, without the lock.
static void settle(PJRT_Buffer *buffer) {
    pthread_mutex_lock(&buffer->lock);
    meeting_t *meeting = buffer->meeting;
    later_t *later = buffer->later;
    if (meeting) meeting_retain(meeting);
    if (later) later_retain(later);
    pthread_mutex_unlock(&buffer->lock);
    if (!meeting && !later) return;
    contents_t *contents = meeting ? meeting_contents(meeting, buffer->result, buffer->device)
                                   : later_contents(later, buffer->result);
    pthread_mutex_lock(&buffer->lock);
    // Not deleted, nor settled by another thread.
    bool is_first = buffer->meeting == meeting && buffer->later == later;
    if (is_first) {
        buffer->contents = contents;
        buffer->meeting = NULL;
        buffer->later = NULL;
    }
    pthread_mutex_unlock(&buffer->lock);
    if (!is_first) contents_release(contents);
    for (int times = is_first ? 2 : 1; times; --times) {
        meeting_release(meeting);
        later_release(later);
    }
}

contents_t *buffer_contents(PJRT_Buffer *buffer, bool of_sum, bool *out_deleted) {
    settle(buffer);
    pthread_mutex_lock(&buffer->lock);
    contents_t *contents = buffer->is_share == of_sum ? contents_retain(buffer->contents) : NULL;
    *out_deleted = buffer->is_deleted;
    pthread_mutex_unlock(&buffer->lock);
    return contents;
}

bool keel_rehearse_is_real(PJRT_Buffer *buffer, const char **out_maker) {
    settle(buffer);
    pthread_mutex_lock(&buffer->lock);
    bool is_real = (buffer->contents && !buffer->is_share) || !buffer->maker;
    *out_maker = buffer->maker;
    pthread_mutex_unlock(&buffer->lock);
    return is_real;
}

void keel_rehearse_dims(const PJRT_Buffer *buffer, const int64_t **out, size_t *out_rank) {
    *out = buffer->dims;
    *out_rank = buffer->rank;
}

// ---- the table ---------------------------------------------------------------------------------

static PJRT_Error *destroy(PJRT_Buffer_Destroy_Args *args) {
    buffer_destroy(args->buffer);
    return NULL;
}

static PJRT_Error *delete_it(PJRT_Buffer_Delete_Args *args) {
    buffer_delete(args->buffer);
    return NULL;
}

static PJRT_Error *is_deleted(PJRT_Buffer_IsDeleted_Args *args) {
    pthread_mutex_lock(&args->buffer->lock);
    args->is_deleted = args->buffer->is_deleted;
    pthread_mutex_unlock(&args->buffer->lock);
    return NULL;
}

static PJRT_Error *element_type(PJRT_Buffer_ElementType_Args *args) {
    args->type = args->buffer->type;
    return NULL;
}

static PJRT_Error *dimensions(PJRT_Buffer_Dimensions_Args *args) {
    args->dims = args->buffer->dims;
    args->num_dims = args->buffer->rank;
    return NULL;
}

static PJRT_Error *unpadded_dimensions(PJRT_Buffer_UnpaddedDimensions_Args *args) {
    args->unpadded_dims = args->buffer->dims;
    args->num_dims = args->buffer->rank;
    return NULL;
}

static PJRT_Error *dynamic_dimensions(PJRT_Buffer_DynamicDimensionIndices_Args *args) {
    static const size_t none[1];
    args->dynamic_dim_indices = none;
    args->num_dynamic_dims = 0;
    return NULL;
}

static PJRT_Error *memory_layout(PJRT_Buffer_GetMemoryLayout_Args *args) {
    PJRT_Buffer *buffer = args->buffer;
    args->layout = (PJRT_Buffer_MemoryLayout){
        .struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
        .tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE,
                  .minor_to_major = buffer->minor_to_major,
                  .minor_to_major_size = buffer->rank}};
    return NULL;
}

static PJRT_Error *size_on_device(PJRT_Buffer_OnDeviceSizeInBytes_Args *args) {
    args->on_device_size_in_bytes = args->buffer->bytes;
    return NULL;
}

static PJRT_Error *device_of(PJRT_Buffer_Device_Args *args) {
    args->device = args->buffer->memory->device;
    return NULL;
}

static PJRT_Error *memory_of(PJRT_Buffer_Memory_Args *args) {
    args->memory = args->buffer->memory;
    return NULL;
}

// Its pointers mean nothing, whatever the platform.
static PJRT_Error *is_on_cpu(PJRT_Buffer_IsOnCpu_Args *args) {
    args->is_on_cpu = false;
    return NULL;
}

keel_status_t buffer_gone(void) {
    return keel_status_make(KEEL_INVALID, "Buffer has been deleted or donated.");
}

static PJRT_Error *ready_event(PJRT_Buffer_ReadyEvent_Args *args) {
    args->event = event_ready();
    return NULL;
}

static PJRT_Error *copy(PJRT_Buffer *from, PJRT_Memory *to, PJRT_Buffer **out) {
    bool deleted;
    contents_t *contents = buffer_contents(from, from->is_share, &deleted);
    if (deleted) {
        contents_release(contents);
        return refuse(KEEL_REHEARSE_TRANSFER, NULL, buffer_gone());
    }
    const making_t making = {.memory = to,
                             .type = from->type,
                             .dims = from->dims,
                             .rank = from->rank,
                             .contents = contents,
                             .layout = from->layout,
                             .maker = from->maker,
                             .is_guess = from->is_guess,
                             .is_share = from->is_share};
    keel_status_t status = buffer_create(&making, out);
    return refuse(KEEL_REHEARSE_TRANSFER, NULL, status);
}

static PJRT_Error *copy_to_device(PJRT_Buffer_CopyToDevice_Args *args) {
    return copy(args->buffer, args->dst_device->standard, &args->dst_buffer);
}

static PJRT_Error *copy_to_memory(PJRT_Buffer_CopyToMemory_Args *args) {
    return copy(args->buffer, args->dst_memory, &args->dst_buffer);
}

static PJRT_Error *create_uninitialized(PJRT_Client_CreateUninitializedBuffer_Args *args) {
    size_t size;
    keel_status_t status =
        host_bytes(args->shape_element_type, args->shape_dims, args->shape_num_dims, &size);
    if (status) return refuse(KEEL_REHEARSE_TRANSFER, NULL, status);
    const making_t making = {.memory = args->memory ? args->memory : args->device->standard,
                             .type = args->shape_element_type,
                             .dims = args->shape_dims,
                             .rank = args->shape_num_dims,
                             .maker = "an uninitialized buffer"};
    status = buffer_create(&making, &args->buffer);
    return refuse(KEEL_REHEARSE_TRANSFER, NULL, status);
}

void buffer_fill(PJRT_Api *table) {
    table->PJRT_Buffer_Destroy = destroy;
    table->PJRT_Buffer_Delete = delete_it;
    table->PJRT_Buffer_IsDeleted = is_deleted;
    table->PJRT_Buffer_ElementType = element_type;
    table->PJRT_Buffer_Dimensions = dimensions;
    table->PJRT_Buffer_UnpaddedDimensions = unpadded_dimensions;
    table->PJRT_Buffer_DynamicDimensionIndices = dynamic_dimensions;
    table->PJRT_Buffer_GetMemoryLayout = memory_layout;
    table->PJRT_Buffer_OnDeviceSizeInBytes = size_on_device;
    table->PJRT_Buffer_Device = device_of;
    table->PJRT_Buffer_Memory = memory_of;
    table->PJRT_Buffer_IsOnCpu = is_on_cpu;
    table->PJRT_Buffer_ReadyEvent = ready_event;
    table->PJRT_Buffer_CopyToDevice = copy_to_device;
    table->PJRT_Buffer_CopyToMemory = copy_to_memory;
    table->PJRT_Client_CreateUninitializedBuffer = create_uninitialized;
}
