// Models on meshes: batches whose fields are split, and checkpoints that are written on one mesh
// and read on another.
#define _GNU_SOURCE
#include "model_help.h"

#define FOUR KEEL_MESH({"data", 2}, {"model", 2})
#define TWO KEEL_MESH({"model", 2})

static place_t place;
static char path[300], index_path[300];

static int make_place(void **state) {
    (void)state;
    place_make(&place);
    snprintf(path, sizeof path, "%s/model.safetensors", place.root);
    snprintf(index_path, sizeof index_path, "%s/model.safetensors.index.json", place.root);
    return 0;
}

static int remove_place(void **state) {
    (void)state;
    place_remove(&place);
    return 0;
}

static keel_context_t *context_on(keel_mesh_t mesh) {
    const keel_context_options_t options = {.mesh = mesh, .devices = 4};
    keel_context_t *context;
    assert_ok(keel_context_create(&options, &context));
    return context;
}

// ---- batches -----------------------------------------------------------------------------------

enum { B = 4, T = 6 };

static const keel_field_t fields[] = {
    {.name = "x",
     .dtype = KEEL_F32,
     .shape = {2, {B, T}},
     .fill = -1,
     .mask_rank = 1,
     .spec = KEEL_SPEC("data", "model")},
    {.name = "weights",
     .dtype = KEEL_F32,
     .shape = {2, {B, T}},
     .fill = 1,
     .spec = KEEL_SPEC("data,model")},
    {.name = "rate", .dtype = KEEL_F32, .shape = {0, {0}}, .fill = 2},
};

// The sum over rows that are there, of x * weights * rate, for a batch of so many rows.
static float sum_of(keel_context_t *context, keel_batch_t *batch, int64_t rows) {
    float x[B * T], sum = NAN;
    for (int i = 0; i < B * T; ++i)
        x[i] = (float)(i * i % 17);
    const keel_host_array_t array = {"x", KEEL_F32, KEEL_SHAPE(rows, T), x};
    keel_batch_next(batch, &array, 1);
    keel_tensor_t product =
        keel_multiply(keel_multiply(keel_batch_get(batch, "x"), keel_batch_get(batch, "weights")),
                      keel_batch_get(batch, "rate"));
    keel_tensor_t is_row = keel_reshape(keel_batch_mask(batch, "x"), KEEL_SHAPE(B, 1));
    product = keel_select(is_row, product, keel_constant(product, 0));
    keel_tensor_t kept = keel_keep(keel_sum(product, KEEL_AXES(0, 1)));
    assert_ok(keel_step_end(context));
    assert_ok(keel_read(kept, &sum, sizeof sum));
    keel_release(kept);
    return sum;
}

static void fields_are_split_as_declared(void **state) {
    (void)state;
    keel_field_t plain[3];
    keel_context_t *contexts[2] = {context_on(FOUR), context_on((keel_mesh_t){0})};
    keel_batch_t *batches[2];
    char *text;
    memcpy(plain, fields, sizeof plain);
    for (int i = 0; i < 3; ++i)
        plain[i].spec = KEEL_WHOLE;
    for (int i = 0; i < 2; ++i)
        assert_ok(keel_batch_create(contexts[i], i ? plain : fields, 3, &batches[i]));
    for (int64_t rows = 1; rows <= B; ++rows)
        assert_float_equal(sum_of(contexts[0], batches[0], rows),
                           sum_of(contexts[1], batches[1], rows), 0);
    assert_int_equal(keel_context_figures(contexts[0]).programs, 1);
    assert_ok(keel_program_text(contexts[0], &text));
    static const char *const split[] = {"[2, 2], iota", "[2, 2], replicate_on_last_tile_dim",
                                        "[4, 1], iota"}; // x, its mask, weights
    for (int i = 0; i < 3; ++i)
        assert_non_null(strstr(text, split[i]));
    keel_text_free(text);
    for (int i = 0; i < 2; ++i) {
        keel_batch_free(batches[i]);
        keel_context_free(contexts[i]);
    }
}

static void wrong_specs_of_fields_are_refused(void **state) {
    (void)state;
    const struct {
        keel_spec_t spec;
        const char *text;
    } wrong[] = {
        {KEEL_SPEC("rows"), "batch: x: axis \"rows\" is not there; the mesh has data=2, model=2"},
        {KEEL_SPEC("data", "data"), "batch: x: axis \"data\" splits two dimensions"},
        {KEEL_SPEC(NULL, "data,model"), "batch: x: dimension 1 of f32[4,6] is 6, which"},
        {KEEL_SPEC(NULL, NULL, "data"), "batch: x is f32[4,6], and its spec has 3 dimensions"},
        {{.count = -1}, "batch: x is f32[4,6], and its spec has -1 dimensions"},
    };
    keel_context_t *context = context_on(FOUR);
    keel_batch_t *batch;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        keel_field_t field = fields[0];
        field.spec = wrong[i].spec;
        expect_status(keel_batch_create(context, &field, 1, &batch),
                      "mesh_model_test.c:", wrong[i].text);
        assert_null(batch);
        assert_null(keel_context_error(context));
    }
    keel_context_free(context);
}

// ---- checkpoints -------------------------------------------------------------------------------

typedef struct model_t {
    keel_context_t *context;
    keel_tree_t *tree;
    keel_optimizer_t *optimizer;
} model_t;

// A tree with leaves of several dtypes, split where the mesh has such an axis.
static model_t open_model(keel_mesh_t mesh) {
    model_t model = {.context = context_on(mesh)};
    keel_optimizer_options_t options = KEEL_ADAMW(0.1);
    assert_ok(keel_tree_create(model.context, &model.tree));
    keel_tree_add(model.tree, "up.w", KEEL_F32, KEEL_SHAPE(8, 12), KEEL_UNIFORM(1));
    keel_tree_add(model.tree, "down.w", KEEL_BF16, KEEL_SHAPE(12, 8), KEEL_NORMAL(1));
    keel_tree_add(model.tree, "scale", KEEL_F32, KEEL_SHAPE(8), KEEL_FILL(1));
    keel_tree_state(model.tree, "seen", KEEL_I64, KEEL_SHAPE(4), KEEL_FILL(3));
    keel_tree_state(model.tree, "empty", KEEL_F64, KEEL_SHAPE(0, 4), KEEL_FILL(0));
    if (mesh.count == 2) {
        assert_int_equal(
            keel_tree_place(model.tree, keel_is_named, "up.*", KEEL_SPEC("data", "model")), 1);
        assert_int_equal(
            keel_tree_place(model.tree, keel_is_named, "seen", KEEL_SPEC("data,model")), 1);
    } else if (mesh.count) {
        assert_int_equal(keel_tree_place(model.tree, keel_is_named, "up.*", KEEL_SPEC("model")), 1);
    }
    if (mesh.count)
        assert_int_equal(keel_tree_place(model.tree, keel_is_named, "down.*", KEEL_SPEC("model")),
                         1);
    assert_null(keel_context_error(model.context));
    assert_ok(keel_optimizer_create(model.tree, &options, &model.optimizer));
    return model;
}

static void close_model(const model_t *model) {
    keel_optimizer_free(model->optimizer);
    keel_tree_free(model->tree);
    keel_context_free(model->context);
}

static void train(const model_t *model) {
    keel_tensor_t up = keel_tree_get(model->tree, "up.w");
    keel_tensor_t down = keel_cast(keel_tree_get(model->tree, "down.w"), KEEL_F32);
    keel_tensor_t out = keel_multiply(keel_matmul(up, down), keel_tree_get(model->tree, "scale"));
    keel_minimize(model->optimizer, keel_mean(keel_multiply(out, out), KEEL_AXES(0, 1)));
    assert_ok(keel_step_end(model->context));
}

static void expect_equal(const model_t *one, const model_t *other) {
    assert_int_equal(keel_tree_count(one->tree), keel_tree_count(other->tree));
    for (size_t i = 0; i < keel_tree_count(one->tree); ++i) {
        const keel_leaf_t leaf = keel_tree_leaf(one->tree, i),
                          twin = keel_tree_leaf(other->tree, i);
        const keel_shape_t shape = keel_shape(leaf.tensor);
        uint8_t values[2][8 * 12 * 8] = {{0}};
        size_t bytes = keel_dtype_size(keel_dtype(leaf.tensor));
        for (int32_t axis = 0; axis < shape.rank; ++axis)
            bytes *= (size_t)shape.dims[axis];
        assert_true(bytes <= sizeof *values);
        assert_string_equal(leaf.name, twin.name);
        assert_ok(keel_read(leaf.tensor, values[0], bytes));
        assert_ok(keel_read(twin.tensor, values[1], bytes));
        if (memcmp(values[0], values[1], bytes) != 0) fail_msg("%s differs", leaf.name);
    }
}

// What was written on one mesh is read on each of them, and goes on there.
static void checkpoints_are_of_no_mesh(void **state) {
    (void)state;
    const keel_mesh_t meshes[] = {FOUR, TWO, {0}};
    enum { MESHES = sizeof meshes / sizeof *meshes };
    for (int from = 0; from < MESHES; ++from) {
        const char *file = from % 2 ? index_path : path;
        model_t writer = open_model(meshes[from]);
        keel_tree_initialize(writer.tree, 5);
        assert_ok(keel_step_end(writer.context));
        train(&writer);
        assert_ok(keel_checkpoint_save(writer.tree, file, from % 2 ? 200 : 0));
        for (int to = 0; to < MESHES; ++to) {
            model_t reader = open_model(meshes[to]);
            keel_tree_initialize(reader.tree, 6);
            assert_ok(keel_step_end(reader.context));
            assert_ok(keel_checkpoint_load(reader.tree, file, NULL, NULL));
            expect_equal(&writer, &reader);
            train(&reader);
            close_model(&reader);
        }
        close_model(&writer);
    }
}

// A model may fit into the memory of the devices only because it is split.
static void a_save_copies_parts(void **state) {
    (void)state;
    keel_context_t *context = context_on(FOUR);
    keel_tree_t *tree;
    char *text;
    assert_ok(keel_tree_create(context, &tree));
    keel_tree_add(tree, "w", KEEL_F32, KEEL_SHAPE(8, 4), KEEL_UNIFORM(1));
    keel_tree_place(tree, NULL, NULL, KEEL_SPEC("data", "model"));
    keel_tree_initialize(tree, 1);
    assert_ok(keel_step_end(context));
    assert_ok(keel_checkpoint_save(tree, path, 0));
    assert_ok(keel_program_text(context, &text));
    assert_non_null(strstr(text, "tuple_shardings = [{type = OTHER"));
    keel_text_free(text);
    keel_tree_free(tree);
    keel_context_free(context);
}

static void wrong_specs_of_leaves_are_named(void **state) {
    (void)state;
    model_t model = open_model(FOUR);
    assert_int_equal(keel_tree_place(model.tree, keel_is_named, "nothing", KEEL_SPEC("data")), 0);
    assert_int_equal(keel_tree_place(NULL, NULL, NULL, KEEL_SPEC("data")), 0);
    assert_null(keel_context_error(model.context));
    keel_tree_place(model.tree, keel_is_named, "scale", KEEL_SPEC("rows"));
    const char *error = keel_context_error(model.context);
    assert_non_null(error);
    assert_non_null(strstr(error, "mesh_model_test.c:"));
    assert_non_null(strstr(error, "axis \"rows\" is not there"));
    keel_step_discard(model.context);
    close_model(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_split_as_declared),
        cmocka_unit_test(wrong_specs_of_fields_are_refused),
        cmocka_unit_test_setup_teardown(checkpoints_are_of_no_mesh, make_place, remove_place),
        cmocka_unit_test_setup_teardown(a_save_copies_parts, make_place, remove_place),
        cmocka_unit_test(wrong_specs_of_leaves_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
