#include "tensor/window.h"

int64_t window_dilated(int64_t size, int64_t dilation) {
    return size ? (size - 1) * dilation + 1 : 0;
}

bool window_is_good(const window_t *window, int64_t x, int64_t size) {
    static const int64_t most = INT32_MAX; // no sum of a few overflows
    return window->stride > 0 && window->dilation > 0 && window->x_dilation > 0 &&
           window->stride <= most && window->dilation <= most && window->x_dilation <= most &&
           window->before <= most && window->after <= most && window->before >= -most &&
           window->after >= -most && x <= most && size <= most &&
           window_dilated(x, window->x_dilation) + window->before + window->after >= 0;
}

int64_t window_count(const window_t *window, int64_t x, int64_t size) {
    int64_t room = window_dilated(x, window->x_dilation) + window->before + window->after -
                   window_dilated(size, window->dilation);
    return room < 0 ? 0 : room / window->stride + 1;
}

window_t window_back(const window_t *window, int64_t x, int64_t size, int64_t gradient) {
    int64_t covered = window_dilated(size, window->dilation);
    int64_t before = covered - window->before - 1;
    int64_t wanted = window_dilated(x, window->x_dilation) + covered - 1;
    return (window_t){.stride = window->x_dilation,
                      .before = before,
                      .after = wanted - window_dilated(gradient, window->stride) - before,
                      .dilation = window->dilation,
                      .x_dilation = window->stride};
}

keel_status_t emit_window(emitter_t *e, fields_t *fields, const window_t *windows,
                          const int64_t *sizes, int32_t count) {
    keel_attr_id_t dimensions[KEEL_MAX_RANK], array;
    fields_t window = {0};
    for (int32_t i = 0; i < count; ++i) {
        const window_t *one = &windows[i];
        fields_t dimension = {0};
        KEEL_TRY(emit_int(e, &dimension, "size", sizes[i]));
        KEEL_TRY(emit_int(e, &dimension, "stride", one->stride));
        KEEL_TRY(emit_int(e, &dimension, "padding_low", one->before));
        KEEL_TRY(emit_int(e, &dimension, "padding_high", one->after));
        KEEL_TRY(emit_int(e, &dimension, "window_dilation", one->dilation));
        KEEL_TRY(emit_int(e, &dimension, "base_dilation", one->x_dilation));
        KEEL_TRY(emit_close(e, &dimension, KEEL_RECORD_HLO_MESSAGE, &dimensions[i]));
    }
    KEEL_TRY(emit_array(e, dimensions, (uint32_t)count, &array));
    KEEL_TRY(emit_field(e, &window, "dimensions", array));
    return emit_message(e, fields, "window", &window);
}
