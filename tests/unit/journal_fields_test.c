// Each event is written with each of its fields, under the name that docs/journal.md gives it, and
// what is not known is left out.
#define _GNU_SOURCE
#include <jansson.h>

#include "journal/journal.h"
#include "place.h"

typedef struct stage_t {
    place_t place;
    keel_journal_t *journal;
    size_t seen;
} stage_t;

static int set_up(void **state) {
    stage_t *stage = calloc(1, sizeof *stage);
    place_make(&stage->place);
    assert_ok(keel_journal_open(stage->place.root, "run", &stage->journal));
    *state = stage;
    return 0;
}

static int tear_down(void **state) {
    stage_t *stage = *state;
    keel_journal_close(stage->journal);
    place_remove(&stage->place);
    free(stage);
    return 0;
}

static keel_status_t collect(void *context, const struct json_t *event) {
    json_array_append(context, (json_t *)(uintptr_t)event);
    return NULL;
}

// A digest stands in an expected event as "<1>": one whose hex digits are all 1.
static keel_digest_t digest_of(uint8_t digit) {
    keel_digest_t digest;
    memset(digest.bytes, digit << 4 | digit, sizeof digest.bytes);
    return digest;
}

static json_t *expected_event(const char *text) {
    char whole[4000];
    size_t size = 0;
    for (; *text; ++text) {
        assert_true(size + KEEL_DIGEST_HEX < sizeof whole);
        if (*text == '<') {
            memset(whole + size, text[1], KEEL_DIGEST_HEX - 1);
            size += KEEL_DIGEST_HEX - 1;
            text += 2;
        } else {
            whole[size++] = *text == '\'' ? '"' : *text;
        }
    }
    json_error_t error;
    json_t *event = json_loadb(whole, size, 0, &error);
    if (!event) fail_msg("%s: %.*s", error.text, (int)size, whole);
    return event;
}

// One more event was written: this one.
static void assert_written(stage_t *stage, const char *expected) {
    char *path;
    keel_journal_damage_t damage;
    json_t *events = json_array(), *wanted = expected_event(expected);
    assert_ok(keel_journal_path(stage->place.root, "run", &path));
    assert_ok(keel_journal_read(path, collect, events, &damage));
    assert_int_equal(damage.lines, 0);
    assert_int_equal(json_array_size(events), ++stage->seen);
    json_t *event = json_array_get(events, stage->seen - 1);
    assert_true(json_real_value(json_object_get(event, "t")) > 1.6e9);
    assert_int_equal(json_integer_value(json_object_get(event, "pid")), getpid());
    json_object_del(event, "t");
    json_object_del(event, "pid");
    char *got = json_dumps(event, JSON_SORT_KEYS), *want = json_dumps(wanted, JSON_SORT_KEYS);
    assert_string_equal(got, want);
    free(got);
    free(want);
    keel_free(path);
    json_decref(wanted);
    json_decref(events);
}

static const keel_journal_site_t whole_site = {.file = "a.py",
                                               .line = 8,
                                               .function = "step",
                                               .call_file = "b.py",
                                               .call_line = 9,
                                               .library_file = "c.py",
                                               .library_line = 10};
#define SITE                                                                                       \
    "{'file':'a.py','line':8,'function':'step','call_file':'b.py','call_line':9,"                  \
    "'library_file':'c.py','library_line':10}"
#define SUBJECT "'program':'<1>','name':'jit_f','key':'<2>'"

static void compiles_and_loads(void **state) {
    stage_t *stage = *state;
    keel_digest_t program = digest_of(1), key = digest_of(2), options = digest_of(3);
    keel_journal_subject_t subject = {&program, "jit_f", &key};
    keel_journal_count_t counts[] = {{digest_of(4), 5}, {digest_of(6), 7}};
    keel_journal_compile_t compile = {.subject = subject,
                                      .seconds = 1.5,
                                      .overhead_seconds = 0.25,
                                      .ops = 3,
                                      .bytes = 99,
                                      .format = "hlo",
                                      .options = &options,
                                      .site = whole_site,
                                      .is_eager = true,
                                      .uncacheable = true,
                                      .executes = {counts, 2}};
    keel_journal_compile(stage->journal, &compile);
    assert_written(stage, "{'event':'compile'," SUBJECT ",'seconds':1.5,'overhead_seconds':0.25,"
                          "'ops':3,'bytes':99,'format':'hlo','options':'<3>','site':" SITE
                          ",'recompile':false,'eager':true,'cacheable':false,"
                          "'executes':{'<4>':5,'<6>':7}}");
    compile = (keel_journal_compile_t){.subject = {&program, "f", NULL}, .recompile = true};
    keel_journal_compile(stage->journal, &compile);
    assert_written(stage, "{'event':'compile','program':'<1>','name':'f','seconds':0.0,"
                          "'overhead_seconds':0.0,'bytes':0,'recompile':true,'cacheable':true}");
    keel_journal_load_t load = {.subject = subject,
                                .tier = "disk",
                                .seconds = 0.5,
                                .ahead_seconds = 0.125,
                                .overhead_seconds = 0.25,
                                .ops = 3,
                                .bytes = 99,
                                .payload_bytes = 1000,
                                .compile_seconds = 12.5,
                                .format = "mlir",
                                .options = &options,
                                .site = whole_site,
                                .recompile = true,
                                .is_eager = true,
                                .executes = {counts, 1}};
    keel_journal_load(stage->journal, &load);
    assert_written(stage, "{'event':'load'," SUBJECT ",'tier':'disk','seconds':0.5,"
                          "'ahead_seconds':0.125,'overhead_seconds':0.25,'ops':3,'bytes':99,"
                          "'payload_bytes':1000,'compile_seconds':12.5,'format':'mlir',"
                          "'options':'<3>','site':" SITE ",'recompile':true,'eager':true,"
                          "'executes':{'<4>':5}}");
    load = (keel_journal_load_t){.subject = subject, .tier = "memory"};
    keel_journal_load(stage->journal, &load);
    assert_written(stage, "{'event':'load'," SUBJECT ",'tier':'memory','seconds':0.0,"
                          "'overhead_seconds':0.0,'bytes':0,'payload_bytes':0,"
                          "'compile_seconds':0.0,'recompile':false}");
}

static void what_went_another_way(void **state) {
    stage_t *stage = *state;
    keel_digest_t program = digest_of(1), key = digest_of(2);
    keel_journal_subject_t subject = {&program, "jit_f", &key};
    keel_journal_uncacheable(stage->journal,
                             &(keel_journal_uncacheable_t){subject, "a callback", "target"});
    assert_written(stage, "{'event':'uncacheable'," SUBJECT ",'reason':'a callback',"
                          "'targets':['target']}");
    keel_journal_uncacheable(stage->journal, &(keel_journal_uncacheable_t){subject, "why", NULL});
    assert_written(stage, "{'event':'uncacheable'," SUBJECT ",'reason':'why','targets':[]}");
    keel_journal_store_error(stage->journal, "put", &key, "disk full");
    assert_written(stage, "{'event':'store_error','what':'put','key':'<2>','message':'disk full'}");
    keel_journal_store_error(stage->journal, "get", NULL, "why");
    assert_written(stage, "{'event':'store_error','what':'get','message':'why'}");
    keel_journal_fallback(stage->journal, "read", &subject, "unknown operation");
    assert_written(stage,
                   "{'event':'fallback','what':'read'," SUBJECT ",'message':'unknown operation'}");
    keel_journal_fallback(stage->journal, "options", NULL, "why");
    assert_written(stage, "{'event':'fallback','what':'options','message':'why'}");
    keel_journal_compile_error(stage->journal, &subject, &whole_site, "INTERNAL", "no room");
    assert_written(stage, "{'event':'compile_error'," SUBJECT ",'site':" SITE
                          ",'code':'INTERNAL','message':'no room'}");
    keel_journal_compile_error(stage->journal, NULL, NULL, "INTERNAL", "why");
    assert_written(stage, "{'event':'compile_error','code':'INTERNAL','message':'why'}");
    keel_journal_publish(stage->journal, &(keel_journal_publish_t){&key, "jit_f", 5, 0.5});
    assert_written(stage, "{'event':'publish','key':'<2>','name':'jit_f','payload_bytes':5,"
                          "'seconds':0.5}");
    keel_journal_prefetch(stage->journal, &(keel_journal_prefetch_t){5, 4, 3, 2000, 0.5});
    assert_written(stage, "{'event':'prefetch','planned':5,'loaded':4,'used':3,'bytes':2000,"
                          "'seconds':0.5}");
}

static void what_moves_between_host_and_device(void **state) {
    stage_t *stage = *state;
    keel_digest_t program = digest_of(1), rest = digest_of(2);
    keel_journal_read_t reads[] = {{whole_site, {1, 8, 0.5}},
                                   {{.file = "d.py", .line = 4}, {2, 16, 0.25}}};
    keel_journal_piece_t pieces[] = {{&program, whole_site, 9, 8, 7, &rest, 2},
                                     {.program = &program, .site = {.file = "d.py", .line = 4}}};
    keel_journal_transfers_t event = {.to_device = {3, 300, 1.5},
                                      .from_device = {4, 400, 2.5},
                                      .reads = reads,
                                      .read_count = 2,
                                      .pieces = pieces,
                                      .piece_count = 2,
                                      .cut_steps = 6,
                                      .cut_pieces = 12};
    keel_journal_transfers(stage->journal, &event);
    assert_written(stage,
                   "{'event':'transfers','to_device':{'count':3,'bytes':300,'seconds':1.5},"
                   "'from_device':{'count':4,'bytes':400,'seconds':2.5},'cut_steps':6,"
                   "'cut_pieces':12,'reads':[{'site':" SITE ",'count':1,'bytes':8,'seconds':0.5},"
                   "{'site':{'file':'d.py','line':4},'count':2,'bytes':16,'seconds':0.25}],"
                   "'pieces':[{'program':'<1>','site':" SITE
                   ",'forced':9,'sampled':8,'shared':7,'rest':'<2>','pieces':2},"
                   "{'program':'<1>','site':{'file':'d.py','line':4},'forced':0,'sampled':0,"
                   "'shared':0}]}");
    event = (keel_journal_transfers_t){.to_device = {1, 2, 0.5}};
    keel_journal_transfers(stage->journal, &event);
    assert_written(stage, "{'event':'transfers','to_device':{'count':1,'bytes':2,'seconds':0.5},"
                          "'from_device':{'count':0,'bytes':0,'seconds':0.0}}");
    keel_journal_step(stage->journal, 5);
    assert_written(stage, "{'event':'step','count':5}");
}

static void memory_and_host(void **state) {
    stage_t *stage = *state;
    keel_digest_t program = digest_of(1), key = digest_of(2), content = digest_of(3);
    keel_journal_memory_t memory = {.subject = {&program, "jit_f", &key}, 1, 2, 3, 4, 5, 6, 7, 8};
    keel_journal_memory(stage->journal, &memory);
    assert_written(stage, "{'event':'memory'," SUBJECT ",'arguments':1,'outputs':2,'aliased':3,"
                          "'temporaries':4,'code':5,'host':6,'peak':7,'total':8}");
    memory.host = memory.peak = 0;
    keel_journal_memory(stage->journal, &memory);
    assert_written(stage, "{'event':'memory'," SUBJECT ",'arguments':1,'outputs':2,'aliased':3,"
                          "'temporaries':4,'code':5,'total':8}");
    keel_journal_device_memory(stage->journal,
                               &(keel_journal_device_memory_t){"TPU:1", "TPU v6", 9, 8, 7});
    assert_written(stage, "{'event':'device_memory','device':'TPU:1','kind':'TPU v6','in_use':9,"
                          "'peak':8,'limit':7}");
    keel_journal_memory_unknown(stage->journal, "devices", "not implemented");
    assert_written(stage, "{'event':'memory_unknown','what':'devices',"
                          "'message':'not implemented'}");
    const keel_journal_host_op_t ops[] = {{"aten::nonzero", 3}, {"aten::item", 1}};
    keel_journal_host_ops(stage->journal, ops, 2);
    assert_written(stage, "{'event':'host_ops','ops':{'aten::nonzero':3,'aten::item':1}}");
    keel_journal_source(stage->journal, "/w/train.py", &content);
    assert_written(stage, "{'event':'source','file':'/w/train.py','digest':'<3>'}");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(compiles_and_loads),
        TEST(what_went_another_way),
        TEST(what_moves_between_host_and_device),
        TEST(memory_and_host),
    };
    return cmocka_run_group_tests_name("journal_fields", tests, NULL, NULL);
}
