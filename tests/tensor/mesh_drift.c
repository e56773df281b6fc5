// Four steps on four devices for mesh_tools.py. The third has another spec: of the place that the
// first argument names, input or inner; none in any other case. With a second argument, a place to
// meet, it is one of the processes that a launcher counts; "rank" is inner in the second one.
#include <keel/keel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static keel_status_t take_steps(keel_context_t *keel, const char *place) {
    static float numbers[64];
    const keel_shape_t shape = KEEL_SHAPE(8, 8);
    keel_tensor_t x = keel_sharded_variable(keel, "x", KEEL_F32, shape, numbers, KEEL_SPEC("data"));
    for (int step = 0; step < 4; ++step) {
        keel_spec_t of_input = KEEL_SPEC("data"), inner = KEEL_SPEC("data", "model");
        if (step == 2 && strcmp(place, "input") == 0) of_input = KEEL_SPEC("model");
        if (step == 2 && strcmp(place, "inner") == 0) inner = KEEL_SPEC(NULL, "model");
        keel_tensor_t y =
            keel_sharded_input(keel, "batch", KEEL_F32, shape, numbers, of_input); // line of input
        keel_tensor_t sum = keel_shard(keel_add(x, y), inner);                     // line of inner
        keel_assign(x, keel_tanh(keel_matmul(sum, sum)));
        KEEL_TRY(keel_step_end(keel));
    }
    return NULL;
}

int main(int count, char **arguments) {
    keel_context_t *keel;
    keel_context_options_t options = {.mesh = KEEL_MESH({"data", 2}, {"model", 2})};
    const char *place = count > 1 ? arguments[1] : "";
    if (count > 2) {
        options.process = (int32_t)strtol(getenv("RANK"), NULL, 10);
        options.processes = (int32_t)strtol(getenv("WORLD_SIZE"), NULL, 10);
        options.meet = arguments[2];
        if (strcmp(place, "rank") == 0 && options.process) place = "inner";
    }
    keel_status_t status = keel_context_create(&options, &keel);
    if (!status) {
        status = take_steps(keel, place);
        keel_context_free(keel);
    }
    if (!status) return 0;
    fprintf(stderr, "%s\n", keel_status_message(status));
    keel_status_ignore(status);
    return 1;
}
