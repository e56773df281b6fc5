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
    // The process's own, wherever programs have numbers.
    bool is_numbered = json_object_get(event, "number") || json_object_get(event, "counts");
    assert_int_equal(json_integer_value(json_object_get(event, "numbering")) != 0, is_numbered);
    json_object_del(event, "numbering");
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
                                               .application = "d,e",
                                               .script_file = "f.py",
                                               .script_line = 11,
                                               .library_line = 10};
#define SITE                                                                                       \
    "{'file':'a.py','line':8,'function':'step','call_file':'b.py','call_line':9,"                  \
    "'library_file':'c.py','library_line':10,"                                                     \
    "'application':'d,e','script_file':'f.py','script_line':11}"
#define SUBJECT "'program':'<1>','name':'jit_f','key':'<2>'"

static void compiles_and_loads(void **state) {
    stage_t *stage = *state;
    keel_digest_t program = digest_of(1), key = digest_of(2), options = digest_of(3);
    keel_journal_subject_t subject = {&program, "jit_f", &key};
    keel_journal_count_t counts[] = {{digest_of(4), 5, 0}, {digest_of(6), 7, 0}};
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
    load.times = 12;
    load.step = 30;
    load.leading = (keel_journal_leading_t){&program, 29};
    keel_journal_load(stage->journal, &load);
    assert_written(stage, "{'event':'load'," SUBJECT ",'tier':'memory','seconds':0.0,"
                          "'overhead_seconds':0.0,'bytes':0,'payload_bytes':0,"
                          "'compile_seconds':0.0,'recompile':false,'times':12,'step':30,"
                          "'leading':{'program':'<1>','executes':29}}");
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
    keel_journal_publish(stage->journal, &(keel_journal_publish_t){&key, "jit_f", 5, true, 0.5});
    assert_written(stage, "{'event':'publish','key':'<2>','name':'jit_f','payload_bytes':5,"
                          "'proved':true,'seconds':0.5}");
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

// The first and the last component, and one of those between them.
static const keel_component_t some_components[] = {KEEL_COMPONENT_PROGRAM, KEEL_COMPONENT_PLATFORM,
                                                   KEEL_COMPONENT_COUNT - 1};

static void why_a_program_was_asked_for(void **state) {
    stage_t *stage = *state;
    keel_digest_t program = digest_of(1), digest = digest_of(2);
    keel_key_t key, backend;
    keel_key_initialize(&key);
    keel_key_initialize(&backend);
    static char text[] = "value";
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        key.components[i] = backend.components[i] = digest_of(5);
    keel_journal_ask_t ask = {.subject = {&program, "jit_f", &digest},
                              .kind = KEEL_ASK_RETRACE,
                              .key = &key,
                              .backend = &backend,
                              .client = 1,
                              .names = "",
                              .stack = &(keel_stack_t){.frames = NULL, .skipped = "no Python"}};
    keel_journal_ask(stage->journal, &ask);
    assert_written(stage, "{'event':'ask'," SUBJECT ",'what':'retrace','seconds':0.0,"
                          "'compile_seconds':0.0,'recompile':false,'client':1,'components':{},"
                          "'values':{},'stack':[],'stack_skipped':'no Python'}");
    for (size_t i = 0; i < 3; ++i) {
        key.components[some_components[i]] = digest_of((uint8_t)(6 + i));
        key.values[some_components[i]] = text;
        ask.values[some_components[i]] = true;
    }
    key.values[KEEL_COMPONENT_CPU] = text; // written before
    const keel_made_t made[] = {{"f32[2]", {.file = "a.py", .line = 3, .function = "load"}},
                                {"s32[]", {.file = "b.py", .line = 4, .function = ""}}};
    const keel_stack_frame_t frames[] = {{"a.py", "step", 8}, {"", "", 0}, {"b.py", "main", 9}};
    ask =
        (keel_journal_ask_t){.subject = ask.subject,
                             .kind = KEEL_ASK_COMPILE,
                             .seconds = 1.5,
                             .compile_seconds = 2.5,
                             .recompile = true,
                             .site = whole_site,
                             .origin = "jit",
                             .miss = "absent",
                             .miss_note = "why",
                             .sent = 7,
                             .made = made,
                             .made_count = 2,
                             .client = 2,
                             .key = &key,
                             .backend = &backend,
                             .stack = &(keel_stack_t){.frames = frames, .count = 3, .left_out = 4},
                             .stack_seconds = 0.25,
                             .names = "x=1",
                             .call = "f one"};
    for (size_t i = 0; i < 3; ++i)
        ask.values[some_components[i]] = true;
    keel_journal_ask(stage->journal, &ask);
    assert_written(stage, "{'event':'ask'," SUBJECT ",'what':'compile','seconds':1.5,"
                          "'compile_seconds':2.5,'recompile':true,'site':" SITE ",'origin':'jit',"
                          "'miss':'absent','miss_note':'why','sent':7,"
                          "'made':[{'type':'f32[2]','file':'a.py','line':3,'function':'load'},"
                          "{'type':'s32[]','file':'b.py','line':4}],'client':2,"
                          "'components':{'program':'<6>','platform':'<7>','key version':'<8>'},"
                          "'values':{'program':'value','platform':'value','key version':'value'},"
                          "'stack':[{'file':'a.py','line':8,'function':'step'},{},"
                          "{'file':'b.py','line':9,'function':'main'}],'stack_left_out':4,"
                          "'names':'x=1','call':'f one','stack_seconds':0.25}");
    assert_string_equal(keel_ask_word(KEEL_ASK_NOTE), "note");
    assert_string_equal(keel_ask_word(KEEL_ASK_LOAD), "load");
}

static void the_components_of_a_miss_are_those_that_are_known(void **state) {
    stage_t *stage = *state;
    keel_digest_t program = digest_of(1), digest = digest_of(2);
    keel_journal_miss_t miss = {{&program, "jit_f", &digest}, "absent", NULL};
    keel_journal_miss(stage->journal, &miss);
    assert_written(stage, "{'event':'miss'," SUBJECT ",'reason':'absent'}");
    keel_key_t key;
    keel_key_initialize(&key);
    static char text[] = "value", none[] = "", fits[513], large[514];
    memset(fits, 'a', 512);
    memset(large, 'b', 513);
    for (size_t i = 0; i < 3; ++i)
        key.components[some_components[i]] = digest_of((uint8_t)(6 + i));
    key.values[KEEL_COMPONENT_PROGRAM] = text;
    key.values[KEEL_COMPONENT_OPTIONS] = none;
    key.values[KEEL_COMPONENT_PLATFORM] = large;
    key.values[KEEL_COMPONENT_COUNT - 1] = fits;
    miss.key = &key;
    keel_journal_miss(stage->journal, &miss);
    char expected[2000];
    snprintf(expected, sizeof expected,
             "{'event':'miss'," SUBJECT ",'reason':'absent','components':{'program':'<6>',"
             "'platform':'<7>','key version':'<8>'},'values':{'program':'value',"
             "'key version':'%s'}}",
             fits);
    assert_written(stage, expected);
}

static void what_a_process_is(void **state) {
    stage_t *stage = *state;
    keel_digest_t build = digest_of(3);
    keel_key_t key;
    keel_key_initialize(&key);
    key.components[0] = digest_of(4);
    keel_journal_start(stage->journal, &(keel_journal_start_t){.plugin = {.path = "/p.so",
                                                                          .name = "cpu",
                                                                          .platform = "TPU",
                                                                          .version = "v6",
                                                                          .build = &build,
                                                                          .api_major = 2,
                                                                          .api_minor = 81},
                                                               .mode = "readonly",
                                                               .cache_dir = "/c",
                                                               .python = "3.12.1",
                                                               .script = "train.py",
                                                               .client = 3,
                                                               .key = &key});
    char *path, here[1024], name[KEEL_PROCESS_NAME];
    keel_journal_damage_t damage;
    json_t *events = json_array();
    assert_ok(keel_journal_path(stage->place.root, "run", &path));
    assert_ok(keel_journal_read(path, collect, events, &damage));
    const json_t *start = json_array_get(events, 0);
    json_t *wanted = expected_event("{'path':'/p.so','name':'cpu','build':'<3>','api_major':2,"
                                    "'api_minor':81,'platform':'TPU','version':'v6'}");
    assert_true(json_equal(json_object_get(start, "plugin"), wanted));
    static const char *const texts[][2] = {{"mode", "readonly"},
                                           {"cache_dir", "/c"},
                                           {"python", "3.12.1"},
                                           {"script", "train.py"},
                                           {"keel", KEEL_VERSION}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
        assert_string_equal(keel_event_text(start, texts[i][0]), texts[i][1]);
    assert_string_equal(keel_event_text(start, "cwd"), getcwd(here, sizeof here));
    assert_int_equal(gethostname(here, sizeof here), 0);
    assert_string_equal(keel_event_text(start, "host"), here);
    keel_process_name(name);
    assert_string_equal(keel_event_text(start, "process"), name);
    assert_int_equal(keel_event_count(start, "client"), 3);
    double ago = keel_seconds(keel_clock_wall()) - keel_event_number(start, "began");
    assert_true(ago > -1 && ago < 600);
    assert_int_equal(json_object_size(json_object_get(start, "components")), 1);
    const json_t *words = json_object_get(start, "argv");
    assert_int_equal(json_array_size(words), 1);
    assert_non_null(strstr(json_string_value(json_array_get(words, 0)), "journal_fields_test"));
    // Of the flags, those that are set.
    assert_string_equal(keel_event_text(json_object_get(start, "flags"), "XLA_FLAGS"), "--a=b");
    assert_string_equal(keel_event_text(json_object_get(start, "flags"), "XLA_HLO_DEBUG"), "1");
    assert_null(json_object_get(json_object_get(start, "flags"), "TPU_LIBRARY_PATH"));
    json_decref(wanted);
    json_decref(events);
    keel_free(path);
}

static void what_programs_call_by_name(void **state) {
    stage_t *stage = *state;
    keel_digest_t build = digest_of(3);
    const keel_journal_place_t places[] = {{0}, {"/l/\"one\".so", 64, &build}};
    keel_journal_handler(stage->journal, &(keel_journal_handler_t){.kind = "call",
                                                                   .name = "f",
                                                                   .platform = "CUDA",
                                                                   .api_version = 1,
                                                                   .traits = 2,
                                                                   .places = places,
                                                                   .place_count = 2});
    assert_written(stage, "{'event':'handler','kind':'call','name':'f','platform':'CUDA',"
                          "'api_version':1,'traits':2,'places':[{},{'library':'/l/\\\"one\\\".so',"
                          "'offset':64,'build':'<3>'}]}");
}

static void what_was_fixed(void **state) {
    stage_t *stage = *state;
    keel_journal_fix(stage->journal,
                     &(keel_journal_fix_t){"name", "skipped", "defect", "x 1", "torch 2", "why"});
    assert_written(stage, "{'event':'fix','name':'name','state':'skipped','label':'defect',"
                          "'reference':'x 1','client':'torch 2','why':'why'}");
    static char large[5000];
    memset(large, 'a', sizeof large - 1);
    keel_journal_fix(stage->journal, &(keel_journal_fix_t){.name = "", .state = large});
    large[4096] = 0;
    json_t *events = json_array();
    char *path;
    keel_journal_damage_t damage;
    assert_ok(keel_journal_path(stage->place.root, "run", &path));
    assert_ok(keel_journal_read(path, collect, events, &damage));
    assert_string_equal(keel_event_text(json_array_get(events, 1), "state"), large);
    assert_null(json_object_get(json_array_get(events, 1), "name"));
    json_decref(events);
    keel_free(path);
}

// Executes programs by the letters of a text ("." is unknown) and reads the order that is written.
static void assert_order(stage_t *stage, const char *executed, const char *order) {
    static keel_digest_t digests[26];
    const keel_digest_t *programs[4096];
    size_t count = strlen(executed);
    assert_true(count <= 4096);
    for (size_t i = 0; i < 26; ++i)
        digests[i] = keel_digest(keel_bytes(&i, sizeof i));
    for (size_t i = 0; i < count; ++i)
        programs[i] = executed[i] == '.' ? NULL : &digests[executed[i] - 'a'];
    keel_journal_order(stage->journal, 40, programs, count);
    char *path;
    keel_journal_damage_t damage;
    json_t *events = json_array();
    assert_ok(keel_journal_path(stage->place.root, "run", &path));
    assert_ok(keel_journal_read(path, collect, events, &damage));
    const json_t *event = json_array_get(events, json_array_size(events) - 1);
    assert_string_equal(keel_event_text(event, "event"), "order");
    assert_string_equal(keel_event_text(event, "order"), order);
    assert_int_equal(keel_event_count(event, "from"), 40 + (count - 1) / 1024 * 1024);
    // Each program once, by its digest, in the order in which they came.
    const json_t *named = json_object_get(event, "programs");
    size_t known = 0;
    bool met[26] = {false};
    for (size_t i = (count - 1) / 1024 * 1024; i < count; ++i) {
        if (executed[i] == '.' || met[executed[i] - 'a']) continue;
        char hex[KEEL_DIGEST_HEX];
        keel_digest_hex(&digests[executed[i] - 'a'], hex);
        assert_string_equal(json_string_value(json_array_get(named, known++)), hex);
        met[executed[i] - 'a'] = true;
    }
    assert_int_equal(json_array_size(named), known);
    json_decref(events);
    keel_free(path);
}

static void the_order_of_executions(void **state) {
    stage_t *stage = *state;
    assert_order(stage, "a", "0");
    assert_order(stage, "abc", "0 1 2");
    assert_order(stage, "aaaa", "0x4");
    assert_order(stage, "abbbc", "0 1x3 2");
    assert_order(stage, "cababab", "0 (1 2)x3");
    assert_order(stage, "abab", "(0 1)x2");
    assert_order(stage, "ababa", "(0 1)x2 0");
    assert_order(stage, "aabaab", "(0 0 1)x2");
    assert_order(stage, "a..b", "0 ?x2 1");
    assert_order(stage, ".a.a", "(? 0)x2");
    // The longest block is of 32 programs.
    char text[2049];
    for (size_t size = 25; size <= 26; ++size) {
        for (size_t i = 0; i < 2 * size; ++i)
            text[i] = (char)('a' + i % size);
        text[2 * size] = 0;
        keel_buffer_t order;
        keel_buffer_initialize(&order, 0);
        for (size_t i = 0; i < size; ++i)
            keel_buffer_format(&order, "%s%zu", i ? " " : "(", i);
        keel_buffer_text(&order, ")x2");
        assert_order(stage, text, keel_buffer_cstr(&order));
        keel_buffer_deinitialize(&order);
    }
    memset(text, 'a', 64);
    text[32] = text[64] = 'b'; // blocks of 33 are not looked for
    text[65] = text[66] = 'c';
    text[67] = 0;
    assert_order(stage, text, "0x32 1 0x31 1 2x2");
    text[31] = text[63] = 'b'; // those of 32 are
    memset(text, 'a', 31);
    memset(text + 32, 'a', 31);
    text[64] = 0;
    assert_order(stage, text,
                 "(0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1)x2");
    // An event has 1024; each counts its programs anew.
    memset(text, 'a', 1024);
    text[1024] = 0;
    assert_order(stage, text, "0x1024");
    text[1024] = 'b';
    text[1025] = 0;
    assert_order(stage, text, "0");
    memset(text, 'a', 2048);
    text[2047] = 'b';
    text[2048] = 0;
    assert_order(stage, text, "0x1023 1");
    keel_journal_order(NULL, 0, NULL, 5);
}

static void how_often_programs_ran(void **state) {
    stage_t *stage = *state;
    const keel_journal_count_t counts[] = {
        {digest_of(1), 5, 0}, {digest_of(2), 0, 0}, {digest_of(3), 7, 0}};
    keel_journal_executes(stage->journal, (keel_journal_counts_t){counts, 3},
                          (keel_journal_leading_t){0});
    assert_written(stage, "{'event':'executes','executes':{'<1>':5,'<3>':7}}");
    keel_journal_executes(stage->journal, (keel_journal_counts_t){0}, (keel_journal_leading_t){0});
    assert_written(stage, "{'event':'executes'}");
    keel_journal_executes(stage->journal, (keel_journal_counts_t){0},
                          (keel_journal_leading_t){&counts[2].program, 40});
    assert_written(stage, "{'event':'executes','leading':{'program':'<3>','executes':40}}");
    const keel_journal_count_t named[] = {
        {digest_of(1), 5, 12}, {digest_of(2), 0, 13}, {digest_of(3), 7, 0}, {digest_of(4), 1, 9}};
    keel_journal_executes(stage->journal, (keel_journal_counts_t){named, 4},
                          (keel_journal_leading_t){0});
    assert_written(stage, "{'event':'executes','executes':{'<3>':7},'counts':[12,5,9,1]}");
    keel_journal_bundle(stage->journal, &(keel_journal_bundle_t){KEEL_STR("{\"a\":1}"), 0.5, 0.25});
    assert_written(stage, "{'event':'bundle','seconds':0.5,'client_seconds':0.25,"
                          "'bundle':{'a':1}}");
}

// A line that grows too long would end the journal: a list ends with the item that is too much.
static void a_list_that_is_too_long_is_cut(void **state) {
    stage_t *stage = *state;
    enum { MANY = 600, NAME = 1000 };
    static char name[NAME + 1];
    static keel_stack_frame_t frames[MANY];
    static keel_made_t made[MANY];
    static keel_journal_read_t reads[MANY];
    static keel_journal_piece_t pieces[MANY];
    keel_digest_t program = digest_of(1);
    memset(name, 'a', NAME);
    for (size_t i = 0; i < MANY; ++i) {
        frames[i] = (keel_stack_frame_t){name, "", 0};
        made[i] = (keel_made_t){"f32[]", {.file = name, .function = ""}};
        reads[i] = (keel_journal_read_t){{.file = name}, {1, 1, 0}};
        pieces[i] = (keel_journal_piece_t){.program = &program, .site = {.file = name}};
    }
    keel_key_t key;
    keel_key_initialize(&key);
    keel_journal_ask(stage->journal, &(keel_journal_ask_t){.subject = {&program, "f", NULL},
                                                           .key = &key,
                                                           .backend = &key,
                                                           .made = made,
                                                           .made_count = MANY,
                                                           .stack = &(keel_stack_t){
                                                               .frames = frames, .count = MANY}});
    keel_journal_transfers(stage->journal, &(keel_journal_transfers_t){.reads = reads,
                                                                       .read_count = MANY,
                                                                       .pieces = pieces,
                                                                       .piece_count = MANY});
    char *path;
    keel_journal_damage_t damage;
    json_t *events = json_array();
    assert_ok(keel_journal_path(stage->place.root, "run", &path));
    assert_ok(keel_journal_read(path, collect, events, &damage));
    assert_int_equal(json_array_size(events), 2);
    static const struct {
        size_t event;
        const char *list;
    } lists[] = {{0, "stack"}, {0, "made"}, {1, "reads"}, {1, "pieces"}};
    for (size_t i = 0; i < 4; ++i) {
        const json_t *list = json_object_get(json_array_get(events, lists[i].event), lists[i].list);
        size_t count = json_array_size(list), size = 0;
        for (size_t k = 0; k < count; ++k)
            size += json_dumpb(json_array_get(list, k), NULL, 0, JSON_COMPACT) + 1;
        assert_in_range(size, (1 << 18) - 2 * NAME, (1 << 18) + 2 * NAME);
    }
    json_decref(events);
    keel_free(path);
}

static keel_status_t add_name(void *context, const struct json_t *event) {
    keel_buffer_text(context, keel_event_text(event, "event"));
    keel_buffer_byte(context, ' ');
    return NULL;
}

// The events that are read, by name.
static void assert_file(stage_t *stage, const char *explained, const char *expected) {
    char path[400];
    snprintf(path, sizeof path, "%s/run/explained.ndjson", stage->place.root);
    if (explained) assert_ok(keel_file_replace(path, keel_str_bytes(keel_str(explained))));
    keel_journal_source_t source;
    keel_journal_damage_t damage;
    keel_buffer_t read;
    keel_buffer_initialize(&read, 0);
    assert_ok(keel_journal_source_open(stage->place.root, "run", &source));
    assert_non_null(strstr(source.path, "/run/journal.ndjson"));
    for (int pass = 0; pass < 2; ++pass) {
        read.size = 0;
        assert_ok(keel_journal_scan(&source, NULL, add_name, &read, &damage));
        assert_string_equal(keel_buffer_cstr(&read), expected);
    }
    keel_buffer_deinitialize(&read);
    keel_journal_source_close(&source);
}

#define LINE(name) "{\"event\":\"" name "\"}\n"

// Of the explanations, the first and the last line are about the file itself. They follow the
// journal's last whole line.
static void explanations_follow_the_journal(void **state) {
    stage_t *stage = *state;
    char path[400];
    snprintf(path, sizeof path, "%s/run/journal.ndjson", stage->place.root);
    keel_journal_source_t source;
    assert_code(keel_journal_source_open(stage->place.root, "run", &source), KEEL_NOT_FOUND);
    assert_ok(keel_file_replace(path, keel_str_bytes(KEEL_STR(LINE("a") LINE("b")))));
    assert_file(stage, NULL, "a b ");
    assert_file(stage, "", "a b ");
    assert_file(stage, LINE("first"), "a b ");
    assert_file(stage, LINE("first") LINE("last"), "a b ");
    assert_file(stage, LINE("first") LINE("x") LINE("last"), "a b x ");
    assert_file(stage, LINE("first") LINE("x") LINE("y") LINE("last"), "a b x y ");
    assert_ok(keel_file_replace(path, keel_str_bytes(KEEL_STR(LINE("a") "{\"event\":\"unf"))));
    assert_file(stage, LINE("first") LINE("x") LINE("last"), "a x ");
    assert_ok(keel_file_replace(path, keel_str_bytes(KEEL_STR("unfinished"))));
    assert_file(stage, LINE("first") LINE("x") LINE("last"), "x ");
    assert_ok(keel_file_replace(path, keel_str_bytes(KEEL_STR(""))));
    assert_file(stage, LINE("first") LINE("x") LINE("last"), "x ");
}

static void a_program_that_cannot_be_kept_leaves_no_file(void **state) {
    stage_t *stage = *state;
    keel_digest_t program = digest_of(1);
    char hex[KEEL_DIGEST_HEX], path[600];
    keel_digest_hex(&program, hex);
    snprintf(path, sizeof path, "%s/programs/%s.mlir.zst/x", stage->place.root, hex);
    assert_ok(keel_directory_make(path));
    keel_journal_program(stage->journal, &program, "mlir", keel_bytes("bytes", 5));
    assert_int_equal(count_below(stage->place.root, ".new."), 0);
    // The journal goes on.
    keel_journal_step(stage->journal, 1);
    snprintf(path, sizeof path, "%s/run/journal.ndjson", stage->place.root);
    assert_true(exists(path));
}

static void a_field_of_another_kind_is_none(void **state) {
    (void)state;
    json_t *event =
        json_loads("{\"text\":\"a\",\"number\":1.5,\"count\":7,\"zero\":0,\"one\":1,\"minus\":-1,"
                   "\"large\":1e18,\"line\":4294967295,\"beyond\":4294967296}",
                   0, NULL);
    assert_string_equal(keel_event_text(event, "text"), "a");
    assert_string_equal(keel_event_text(event, "count"), "");
    assert_string_equal(keel_event_text(event, "absent"), "");
    assert_true(keel_event_number(event, "number") == 1.5);
    assert_true(keel_event_number(event, "count") == 7);
    assert_true(keel_event_number(event, "minus") == 0);
    assert_true(keel_event_number(event, "large") == 0);
    assert_int_equal(keel_event_count(event, "count"), 7);
    assert_int_equal(keel_event_count(event, "zero"), 0);
    assert_int_equal(keel_event_count(event, "one"), 1);
    assert_int_equal(keel_event_count(event, "minus"), 0);
    assert_int_equal(keel_event_line(event, "line"), UINT32_MAX);
    assert_int_equal(keel_event_line(event, "beyond"), 0);
    keel_digest_t digest;
    assert_false(keel_event_digest(event, "text", &digest));
    json_decref(event);
}

int main(void) {
    setenv("XLA_FLAGS", "--a=b", 1);
    setenv("XLA_HLO_DEBUG", "1", 1);
    unsetenv("TPU_LIBRARY_PATH");
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(compiles_and_loads),
        TEST(what_went_another_way),
        TEST(what_moves_between_host_and_device),
        TEST(memory_and_host),
        TEST(why_a_program_was_asked_for),
        TEST(the_components_of_a_miss_are_those_that_are_known),
        TEST(what_a_process_is),
        TEST(what_programs_call_by_name),
        TEST(what_was_fixed),
        TEST(the_order_of_executions),
        TEST(how_often_programs_ran),
        TEST(explanations_follow_the_journal),
        TEST(a_program_that_cannot_be_kept_leaves_no_file),
        TEST(a_list_that_is_too_long_is_cut),
        cmocka_unit_test(a_field_of_another_kind_is_none),
    };
    return cmocka_run_group_tests_name("journal_fields", tests, NULL, NULL);
}
