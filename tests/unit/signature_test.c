// What an executable takes and gives on each device: shardings in each spelling, where the parts of
// an array are, and what samples of real programs say.
#define _GNU_SOURCE
#include "place.h"

#include "hlo_proto.h"

#include "signature/signature.h"
#include <inttypes.h>

enum { RANK_MOST = 4, PARTITIONS_MOST = 8 };

// "0,0 0,1 ...": where each partition's part is.
static void tell_places(keel_bytes_t sharding, uint32_t rank, uint32_t partitions,
                        keel_buffer_t *out) {
    int64_t places[RANK_MOST * PARTITIONS_MOST];
    keel_status_t status = keel_sharding_places(sharding, rank, partitions, places);
    if (status) keel_buffer_text(out, "nowhere");
    for (uint32_t i = 0; !status && i < rank * partitions; ++i)
        keel_buffer_format(out, "%s%" PRId64, !i ? "" : i % rank ? "," : " ", places[i]);
    keel_status_ignore(status);
}

// ---- HLO's text --------------------------------------------------------------------------------

static void a_text_says_where_each_part_is(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t rank, partitions;
        const char *parts, *places;
    } cases[] = {
        {"{replicated}", 2, 2, "1x1", "0,0 0,0"},
        {"{manual}", 1, 2, "1", "nowhere"},
        {"{maximal device=1}", 1, 2, "1", "nowhere"},
        {"{devices=[2,4]<=[8]}", 2, 8, "2x4", "0,0 0,1 0,2 0,3 1,0 1,1 1,2 1,3"},
        {"{devices=[4,2]<=[2,4]T(1,0)}", 2, 8, "4x2", "0,0 1,0 2,0 3,0 0,1 1,1 2,1 3,1"},
        {"{devices=[2,1,2]<=[4] last_tile_dim_replicate}", 2, 4, "2x1", "0,0 0,0 1,0 1,0"},
        {"{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}", 2, 4, "1x2", "0,0 0,1 0,0 0,1"},
        {"{devices=[2,2]3,2,1,0}", 2, 4, "2x2", "1,1 1,0 0,1 0,0"},
        {"{devices=[2,2,2]<=[8] last_tile_dims={manual, replicated}}", 1, 8, "2",
         "0 0 0 0 1 1 1 1"},
        {"{devices=[2,2]<=[4]}", 2, 8, "2x2", "nowhere"},
        {"{devices=[2,2]<=[4]}", 3, 4, "", "nowhere"},
        {"{devices=[2]0,2}", 1, 2, "2", "nowhere"},
        {"{devices=[1099511627776,4]<=[8]}", 2, 8, "", "nowhere"},
        {"{devices=[65536,65536,65536,65536]<=[8]}", 4, 8, "65536x65536x65536x65536", "nowhere"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_buffer_t sharding, told;
        int64_t parts[RANK_MOST];
        keel_buffer_initialize(&sharding, 0);
        keel_buffer_initialize(&told, 0);
        assert_ok(keel_sharding_parse(keel_str(cases[i].text), &sharding));
        keel_bytes_t bytes = keel_buffer_bytes(&sharding);
        keel_status_t status = keel_sharding_parts(bytes, cases[i].rank, parts);
        for (uint32_t j = 0; !status && j < cases[i].rank; ++j)
            keel_buffer_format(&told, "%s%" PRId64, j ? "x" : "", parts[j]);
        keel_status_ignore(status);
        assert_string_equal(keel_buffer_cstr(&told), cases[i].parts);
        told.size = 0;
        tell_places(bytes, cases[i].rank, cases[i].partitions, &told);
        if (strcmp(keel_buffer_cstr(&told), cases[i].places) != 0)
            fail_msg("%s: %s, not %s", cases[i].text, keel_buffer_cstr(&told), cases[i].places);
        keel_buffer_deinitialize(&sharding);
        keel_buffer_deinitialize(&told);
    }
}

static void another_text_is_not_understood(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "{",
                                        "{}",
                                        "replicated",
                                        "{replicated",
                                        "{replicated} ",
                                        "{devices=}",
                                        "{devices=[2,2}",
                                        "{devices=[2]<=2}",
                                        "{devices=[2]<=[2}",
                                        "{devices=[2]<=[2]T(0}",
                                        "{maximal device=}",
                                        "{maximal device=x}",
                                        "{devices=[2]<=[2] last_tile_dims={unknown}}",
                                        "{devices=[2]<=[2] last_tile_dims={manual",
                                        "{unknown}",
                                        "{{replicated}, {replicated}}",
                                        "{replicated metadata={op_name=\"x\"}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        keel_status_t status = keel_sharding_parse(keel_str(texts[i]), &out);
        if (keel_status_code(status) != KEEL_UNSUPPORTED) fail_msg("'%s' is understood", texts[i]);
        assert_non_null(strstr(keel_status_message(status), texts[i]));
        keel_status_ignore(status);
        keel_buffer_deinitialize(&out);
    }
}

// ---- named axes --------------------------------------------------------------------------------

// Bytes of a text in hexadecimal.
static keel_bytes_t unhex(const char *hex, uint8_t *room) {
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; ++i) {
        const char digits[] = {hex[2 * i], hex[2 * i + 1], 0};
        room[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return keel_bytes(room, size);
}

static void axes_that_a_compiler_names_are_tiles(void **state) {
    (void)state;
    static const struct {
        const char *what; // the axes of the mesh, and what uses them
        uint32_t rank, partitions;
        const char *sharding; // in hexadecimal
        const char *parts, *places;
        bool is_unreduced;
    } cases[] = {
        {"x=4 y=2, [x] []", 2, 8, "721012080a0210040a0210021a020a001a00", "4x1",
         "0,0 0,0 1,0 1,0 2,0 2,0 3,0 3,0", false},
        {"x=4 y=2, [x:(2)2] []", 2, 8, "721612080a0210040a0210021a080a061204080210021a00", "2x1",
         "0,0 0,0 1,0 1,0 0,0 0,0 1,0 1,0", false},
        {"x=4 y=2, [y, x:(1)2]", 1, 8, "721812080a0210040a0210021a0c0a0208010a06120408011002", "4",
         "0 2 0 2 1 3 1 3", false},
        {"x=2 on 1 0, [x]", 1, 2, "720e12080a021002120201001a020a00", "2", "1 0", false},
        {"x=2 on 1 0, not packed", 1, 2, "720e12080a021002100110001a020a00", "2", "1 0", false},
        {"x=2 y=2 transposed, [x]", 1, 4, "721812120a0210020a0210021a080a020202120201001a020a00",
         "2", "0 1 0 1", false},
        {"x=2 y=2, [x] unreduced y", 1, 4, "721212080a0210020a0210021a020a002a020801", "2",
         "0 0 1 1", true},
        {"x=2, unreduced x, no dimensions", 2, 2, "720812040a0210022a00", "1x1", "0,0 0,0", true},
        {"x=2 y=2, [x] manual y", 1, 4, "721212080a0210020a0210021a020a003a020801", "2", "0 0 1 1",
         false},
        {"x=2 y=2, no dimensions", 2, 4, "720a12080a0210020a021002", "1x1", "0,0 0,0 0,0 0,0",
         false},
        {"no mesh", 2, 4, "7200", "1x1", "0,0 0,0 0,0 0,0", false},
        {"nothing", 2, 4, "", "1x1", "0,0 0,0 0,0 0,0", false},
        {"device 1 alone", 1, 2, "72051203120101", "1", "nowhere", false},
        {"axis 1 of one", 1, 2, "720c12040a0210021a040a020801", NULL, NULL, false},
        {"no part of an axis", 1, 4, "721012040a0210041a080a06120408021004", NULL, NULL, false},
        {"x twice", 2, 2, "720e12040a0210021a020a001a020a00", NULL, NULL, false},
        {"uneven parts", 2, 8, "721a12040a0210081a080a061204080210021a080a06120408011003", NULL,
         NULL, false},
        {"3 devices for 2", 1, 2, "720f12090a02100212030100021a020a00", NULL, NULL, false},
        {"an axis of size 0", 1, 2, "720612020a001a00", NULL, NULL, false},
        {"2^40 devices", 1, 2, "7212120c0a04108080400a04108080401a020a00", NULL, NULL, false},
        {"2^30 devices, transposed", 1, 2, "721812120a0210021a0c0a06808002808002120200011a020a00",
         NULL, NULL, false},
        {"torn", 1, 2, "720812040a0210021a09", NULL, NULL, false},
        {"torn at the tag", 1, 2, "ff", NULL, NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        uint8_t room[64];
        int64_t parts[RANK_MOST];
        keel_buffer_t tiles, told;
        keel_buffer_initialize(&tiles, 0);
        keel_buffer_initialize(&told, 0);
        keel_bytes_t sharding = unhex(cases[i].sharding, room);
        keel_status_t status = keel_sharding_tiles(sharding, cases[i].rank, &tiles);
        if (cases[i].parts && status)
            fail_msg("%s: %s", cases[i].what, keel_status_message(status));
        if (!cases[i].parts && keel_status_code(status) != KEEL_UNSUPPORTED)
            fail_msg("%s is understood", cases[i].what);
        if (!status) {
            keel_bytes_t bytes = keel_buffer_bytes(&tiles);
            assert_ok(keel_sharding_parts(bytes, cases[i].rank, parts));
            for (uint32_t j = 0; j < cases[i].rank; ++j)
                keel_buffer_format(&told, "%s%" PRId64, j ? "x" : "", parts[j]);
            assert_string_equal(keel_buffer_cstr(&told), cases[i].parts);
            told.size = 0;
            tell_places(bytes, cases[i].rank, cases[i].partitions, &told);
            if (strcmp(keel_buffer_cstr(&told), cases[i].places) != 0)
                fail_msg("%s: %s, not %s", cases[i].what, keel_buffer_cstr(&told), cases[i].places);
            assert_int_equal(keel_sharding_is_unreduced(bytes), cases[i].is_unreduced);
        }
        keel_status_ignore(status);
        keel_buffer_deinitialize(&tiles);
        keel_buffer_deinitialize(&told);
    }
}

// ---- programs ----------------------------------------------------------------------------------

static void tell_array(const char *what, const keel_signature_t *signature,
                       const keel_array_t *array, keel_buffer_t *out) {
    keel_buffer_format(out, "%s %d", what, array->whole.element);
    for (uint32_t i = 0; i < array->whole.rank; ++i)
        keel_buffer_format(out, " %" PRId64 "/%" PRId64, array->whole.dims[i],
                           array->shard.dims[i]);
    if (array->donated) keel_buffer_text(out, " donated");
    if (!array->settled) keel_buffer_text(out, " open");
    if (array->layout.size) keel_buffer_format(out, " %.*s", KEEL_STR_ARGS(array->layout));
    if (array->sharding.size) {
        keel_buffer_text(out, " at ");
        tell_places(array->sharding, array->whole.rank, signature->partitions, out);
    }
    keel_buffer_text(out, "\n");
}

static void tell_signature(const keel_signature_t *signature, keel_buffer_t *out) {
    keel_buffer_format(out, "%.*s: %u of %u\n", KEEL_STR_ARGS(signature->name), signature->replicas,
                       signature->partitions);
    for (uint32_t i = 0; i < signature->parameter_count; ++i)
        tell_array("<", signature, &signature->parameters[i], out);
    for (uint32_t i = 0; i < signature->result_count; ++i)
        tell_array(">", signature, &signature->results[i], out);
}

// CompileOptionsProto: four partitions with SPMD, and one.
static const uint8_t four[] = {0x1a, 6, 0x20, 1, 0x28, 4, 0x30, 1},
                     alone[] = {0x1a, 4, 0x20, 1, 0x28, 1};

static void read_sample(const char *name, bool is_alone, keel_signature_t *out) {
    char path[512];
    uint8_t *data;
    size_t size;
    keel_program_t program;
    snprintf(path, sizeof path, "%s/tests/samples/%s", KEEL_TEST_SOURCE, name);
    assert_ok(keel_file_read(path, 1 << 20, &data, &size));
    assert_ok(keel_read(keel_bytes(data, size), &program));
    keel_bytes_t options =
        is_alone ? keel_bytes(alone, sizeof alone) : keel_bytes(four, sizeof four);
    assert_ok(keel_signature_read(&program, options, out));
    keel_program_deinitialize(&program);
    keel_free(data);
}

static void assert_told(const keel_signature_t *signature, const char *wanted) {
    keel_buffer_t told;
    keel_buffer_initialize(&told, 0);
    tell_signature(signature, &told);
    assert_string_equal(keel_buffer_cstr(&told), wanted);
    keel_buffer_deinitialize(&told);
}

static void a_program_that_says_nothing_of_shardings_is_computed_apart(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool is_alone, is_apart;
    } cases[] = {
        {"mlir/dtypes.mlir", false, true},           {"mlir/dtypes.mlir", true, false},
        {"mlir/spmd_auto.mlir", false, false},       {"mlir/gspmd_spmd_auto.mlir", false, false},
        {"mlir/shard_map.v1_20.mlir", false, false}, {"hlo/spmd.hlo", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_signature_t signature;
        read_sample(cases[i].name, cases[i].is_alone, &signature);
        assert_int_equal(signature.is_apart, cases[i].is_apart);
        if (signature.is_apart) assert_false(keel_signature_is_open(&signature));
        keel_signature_deinitialize(&signature);
    }
}

static void a_program_says_what_each_device_has(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool is_alone;
        const char *told;
    } cases[] = {
        {"mlir/spmd_auto.mlir", false,
         "jit_spmd: 1 of 4\n"
         "< 11 8/4 16/8 at 0,0 0,1 1,0 1,1\n"
         "< 11 16/8 4/4 at 0,0 1,0 0,0 1,0\n"
         "> 11 8/4 4/4 at 0,0 0,0 1,0 1,0\n"
         "> 11\n"},
        {"mlir/gspmd_spmd_auto.mlir", false,
         "jit_spmd: 1 of 4\n"
         "< 11 8/4 16/8 at 0,0 0,1 1,0 1,1\n"
         "< 11 16/8 4/4 at 0,0 1,0 0,0 1,0\n"
         "> 11 8/4 4/4 at 0,0 0,0 1,0 1,0\n"
         "> 11\n"},
        {"mlir/shard_map.v1_20.mlir", false,
         "jit_smap: 1 of 4\n"
         "< 11 8/4 16/8 at 0,0 0,1 1,0 1,1\n"
         "< 11 16/8 4/4 at 0,0 1,0 0,0 1,0\n"
         "> 11 8/4 4/4 at 0,0 0,0 1,0 1,0\n"
         "> 11 8/4 16/8 at 0,0 0,1 1,0 1,1\n"
         "> 11 at \n"
         "> 11 8/4 16/8 at 0,0 0,1 1,0 1,1\n"
         "> 11 8/4 16/8 at 0,0 0,1 1,0 1,1\n"},
        {"hlo/spmd.hlo", false,
         "SyncTensorsGraph.9: 1 of 4\n"
         "< 11 8/8 4/2 at 0,0 0,1 0,0 0,1\n"
         "< 11 4/2 8/8 at 0,0 0,0 1,0 1,0\n"
         "> 11 4/4 4/4 open\n"},
        {"mlir/donate.mlir", true,
         "jit_donate: 1 of 1\n"
         "< 11 4/4 donated\n"
         "< 11 3/3 4/4 donated\n"
         "< 11 2/2 3/3\n"
         "< 4 2/2 3/3\n"
         "> 11 4/4\n"
         "> 11 3/3 4/4\n"
         "> 11\n"},
        {"mlir/dtypes.mlir", true,
         "jit_dtypes: 1 of 1\n"
         "< 16 4/4\n"
         "< 10 4/4\n"
         "< 2 4/4\n"
         "< 7 4/4\n"
         "< 1 4/4\n"
         "> 16 4/4\n"
         "> 10 4/4\n"
         "> 2 4/4\n"
         "> 7 4/4\n"
         "> 1 4/4\n"
         "> 4 4/4\n"
         "> 11 4/4\n"
         "> 19 4/4\n"
         "> 21 4/4\n"
         "> 1 21/21\n"
         "> 1\n"
         "> 7 4/4\n"
         "> 16 4/4\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_signature_t signature;
        read_sample(cases[i].name, cases[i].is_alone, &signature);
        assert_told(&signature, cases[i].told);
        keel_signature_deinitialize(&signature);
    }
}

// What stands for a program that was not compiled says the same of it.
static void a_made_module_settles_an_open_signature(void **state) {
    (void)state;
    keel_signature_t closed, open;
    keel_buffer_t module, wanted;
    keel_buffer_initialize(&module, 0);
    keel_buffer_initialize(&wanted, 0);
    read_sample("mlir/shard_map.v1_20.mlir", false, &closed);
    read_sample("mlir/shard_map.v1_20.mlir", false, &open);
    closed.parameters[0].layout = KEEL_STR("{0,1:T(8,128)(2,1)E(4)}");
    closed.results[0].layout = KEEL_STR("{1,0:E(4)}");
    closed.results[1].layout = KEEL_STR("{1,0:T(8,128)E(");
    keel_signature_module(&closed, &module);
    for (uint32_t i = 0; i < open.parameter_count; ++i)
        open.parameters[i].settled = false;
    for (uint32_t i = 0; i < open.result_count; ++i) {
        open.results[i].settled = false;
        open.results[i].sharding = (keel_bytes_t){NULL, 0};
    }
    assert_true(keel_signature_is_open(&open));
    assert_ok(keel_signature_settle(&open, keel_buffer_bytes(&module), true));
    assert_false(keel_signature_is_open(&open));
    for (uint32_t i = 0; i < open.result_count; ++i) {
        const keel_array_t *a = &open.results[i], *b = &closed.results[i];
        assert_true(keel_array_shape_equal(&a->shard, &b->shard));
        assert_true(keel_str_equal(keel_bytes_str(a->sharding), keel_bytes_str(b->sharding)));
    }
    assert_true(keel_str_is(open.parameters[0].layout, "{0,1:T(8,128)(2,1)E(4)}"));
    assert_true(keel_str_is(open.parameters[1].layout, "{1,0}"));
    assert_true(keel_str_is(open.results[0].layout, "{1,0:E(4)}"));
    assert_true(keel_str_is(open.results[1].layout, "{1,0:T(8,128)}"));
    keel_signature_deinitialize(&open);
    read_sample("mlir/shard_map.v1_20.mlir", false, &open);
    module.data[0] = 0xff;
    keel_status_t status = keel_signature_settle(&open, keel_buffer_bytes(&module), true);
    assert_int_equal(keel_status_code(status), KEEL_CORRUPT);
    keel_status_ignore(status);
    keel_signature_deinitialize(&open);
    keel_signature_deinitialize(&closed);
    keel_buffer_deinitialize(&module);
    keel_buffer_deinitialize(&wanted);
}

// Of four results the module tells one by named axes, one in a way that is not understood and one
// as replicated, which needs no word; the last is missing.
static void what_a_module_does_not_tell_is_a_guess(void **state) {
    (void)state;
    enum { TYPE = 1, TUPLE_SHARDING = 2, TUPLE_SHARDINGS = 5, RESULTS = 12 };
    static const int64_t dims[] = {8, 4};
    keel_array_t results[4];
    uint8_t room[64];
    const char *what;
    uint32_t index;
    for (size_t i = 0; i < 4; ++i)
        results[i] = (keel_array_t){.whole = {KEEL_PRIMITIVE_F32, 2, dims},
                                    .shard = {KEEL_PRIMITIVE_F32, 2, dims}};
    keel_signature_t signature = {
        .replicas = 1, .partitions = 8, .is_spmd = true, .results = results, .result_count = 4};
    keel_arena_initialize(&signature.arena, 0);
    proto_t module = proto(), tuple = proto();
    keel_bytes_t named = unhex("721012080a0210040a0210021a020a001a00", room);
    put_int(&tuple, TYPE, TUPLE_SHARDING);
    put_bytes(&tuple, TUPLE_SHARDINGS, named.data, named.size);
    named = unhex("720c12040a0210021a040a020801", room);
    put_bytes(&tuple, TUPLE_SHARDINGS, named.data, named.size);
    put_bytes(&tuple, TUPLE_SHARDINGS, "", 0);
    put_message(&module, RESULTS, &tuple);
    assert_false(keel_signature_is_guess(&signature, &what, &index));
    assert_ok(keel_signature_settle(&signature, keel_buffer_bytes(&module), false));
    assert_false(keel_signature_is_open(&signature));
    assert_false(results[0].guessed);
    assert_int_equal(results[0].shard.dims[0], 2);
    assert_int_equal(results[0].shard.dims[1], 4);
    assert_true(results[1].guessed);
    assert_int_equal(results[1].shard.dims[0], 8);
    assert_false(results[2].guessed);
    assert_true(results[3].guessed);
    assert_true(keel_signature_is_guess(&signature, &what, &index));
    assert_string_equal(what, "result");
    assert_int_equal(index, 1);
    keel_buffer_deinitialize(&module);
    keel_signature_deinitialize(&signature);
}

static void a_parameter_has_one_of_the_numbers(void **state) {
    (void)state;
    static const struct {
        int64_t number;
        bool is_one;
    } cases[] = {{0, true}, {1, false}, {-1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        proto_t one = instruction("parameter", 1, NULL, 0);
        keel_program_t program;
        keel_signature_t signature;
        put_int(&one, 9, cases[i].number);
        proto_t module = module_of_one(&one);
        assert_read(&module, &program);
        keel_status_t status =
            keel_signature_read(&program, keel_bytes(alone, sizeof alone), &signature);
        assert_int_equal(keel_status_code(status), cases[i].is_one ? KEEL_OK : KEEL_UNSUPPORTED);
        if (cases[i].is_one) assert_int_equal(signature.parameters[0].whole.dims[1], 3);
        keel_status_ignore(status);
        keel_signature_deinitialize(&signature);
        keel_program_deinitialize(&program);
        keel_buffer_deinitialize(&module);
    }
}

// The made module stands for a compiled one. A second computation is the plugin's.
static void an_outline_has_what_a_program_takes_and_gives_and_no_more(void **state) {
    (void)state;
    enum { MODULE = 1, CONFIG = 2, COMPUTATIONS = 3, RESULTS_SHARDING = 12 };
    static const uint8_t computation[200] = {0x0a, 2, 'f', '1', 0x12, 193};
    keel_signature_t signature;
    keel_buffer_t made, whole, outline, again;
    keel_proto_field_t part;
    keel_buffer_initialize(&made, 0);
    keel_buffer_initialize(&whole, 0);
    keel_buffer_initialize(&outline, 0);
    keel_buffer_initialize(&again, 0);
    read_sample("mlir/shard_map.v1_20.mlir", false, &signature);
    signature.parameters[0].layout = KEEL_STR("{0,1:T(8,128)(2,1)}");
    keel_signature_module(&signature, &made);
    keel_cursor_t cursor = keel_cursor(keel_buffer_bytes(&made));
    while (keel_proto_next(&cursor, &part)) {
        size_t opened = keel_proto_open(&whole, part.number);
        keel_buffer_append(&whole, part.bytes.data, part.bytes.size);
        for (int i = 0; i < 20 && part.number == MODULE; ++i)
            keel_proto_put_bytes(&whole, COMPUTATIONS, keel_bytes(computation, sizeof computation));
        keel_proto_close(&whole, opened);
    }
    assert_ok(keel_signature_outline(keel_buffer_bytes(&whole), &outline));
    assert_true(outline.size < made.size + 64);
    assert_ok(keel_signature_outline(keel_buffer_bytes(&outline), &again));
    assert_int_equal(again.size, outline.size);
    assert_memory_equal(again.data, outline.data, outline.size);
    for (uint32_t i = 0; i < signature.result_count; ++i)
        signature.results[i].settled = false;
    signature.parameters[0].layout = (keel_str_t){0};
    assert_ok(keel_signature_settle(&signature, keel_buffer_bytes(&outline), true));
    for (uint32_t i = 0; i < signature.result_count; ++i)
        assert_false(signature.results[i].guessed);
    assert_true(keel_str_is(signature.parameters[0].layout, "{0,1:T(8,128)(2,1)}"));
    keel_signature_deinitialize(&signature);
    keel_buffer_deinitialize(&again);
    keel_buffer_deinitialize(&outline);
    keel_buffer_deinitialize(&whole);
    keel_buffer_deinitialize(&made);
}

static void another_module_has_no_outline(void **state) {
    (void)state;
    static const struct {
        const char *what, *bytes;
        size_t size;
    } cases[] = {
        {"nothing", "", 0},
        {"no config", "\x0a\x03\x0a\x01m", 5},
        {"a config without the entry's shape", "\x0a\x03\x0a\x01m\x12\x02\x20\x01", 9},
        {"no module", "\x12\x04\x0a\x02\x12\x00", 6},
        {"a shape without a result", "\x0a\x03\x0a\x01m\x12\x04\x0a\x02\x0a\x00", 11},
        {"two modules", "\x0a\x03\x0a\x01m\x0a\x03\x0a\x01m\x12\x06\x0a\x04\x12\x02\x10\x0b", 18},
        {"a part that is not known", "\x0a\x03\x0a\x01m\x12\x06\x0a\x04\x12\x02\x10\x0b\x1a\x00",
         15},
        {"a torn module", "\x0a\x03\x0a\x09m\x12\x06\x0a\x04\x12\x02\x10\x0b", 13},
    };
    static const char good[] = "\x0a\x03\x0a\x01m\x12\x06\x0a\x04\x12\x02\x10\x0b";
    keel_buffer_t outline;
    keel_buffer_initialize(&outline, 0);
    assert_ok(keel_signature_outline(keel_str_bytes(keel_str(good)), &outline));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        print_message("  %s\n", cases[i].what);
        keel_bytes_t bytes = keel_bytes(cases[i].bytes, cases[i].size);
        keel_status_t status = keel_signature_outline(bytes, &outline);
        assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
        keel_status_ignore(status);
    }
    keel_buffer_deinitialize(&outline);
}

static void sizes_are_counted_or_not_known(void **state) {
    (void)state;
    static const int64_t few[] = {3, 5}, none[] = {3, 0}, most[] = {INT64_MAX, 2};
    const keel_array_shape_t scalar = {KEEL_PRIMITIVE_C128, 0, NULL},
                             packed = {KEEL_PRIMITIVE_S4, 2, few},
                             empty = {KEEL_PRIMITIVE_F32, 2, none},
                             beyond = {KEEL_PRIMITIVE_F32, 2, most},
                             wide = {KEEL_PRIMITIVE_F64, 1, most};
    assert_int_equal(keel_shape_bytes(&scalar), 16);
    assert_int_equal(keel_shape_bytes(&packed), 8);
    assert_int_equal(keel_shape_bytes(&empty), 0);
    assert_int_equal(keel_shape_count(&beyond), 0);
    assert_int_equal(keel_shape_bytes(&wide), 0);
    assert_int_equal(keel_primitive_bits(KEEL_PRIMITIVE_TOKEN), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_says_where_each_part_is),
        cmocka_unit_test(another_text_is_not_understood),
        cmocka_unit_test(a_program_says_what_each_device_has),
        cmocka_unit_test(a_program_that_says_nothing_of_shardings_is_computed_apart),
        cmocka_unit_test(a_made_module_settles_an_open_signature),
        cmocka_unit_test(axes_that_a_compiler_names_are_tiles),
        cmocka_unit_test(what_a_module_does_not_tell_is_a_guess),
        cmocka_unit_test(a_parameter_has_one_of_the_numbers),
        cmocka_unit_test(an_outline_has_what_a_program_takes_and_gives_and_no_more),
        cmocka_unit_test(another_module_has_no_outline),
        cmocka_unit_test(sizes_are_counted_or_not_known),
    };
    return cmocka_run_group_tests_name("signature", tests, NULL, NULL);
}
