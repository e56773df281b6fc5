// A run's source files: their list, read back line by line, and their texts.
#define _GNU_SOURCE
#include "analysis/sources.h"
#include "hlo_proto.h"
#include "host/source.h"
#include "place.h"

static int set_up(void **state) {
    place_t *place = calloc(1, sizeof *place);
    place_make(place);
    *state = place;
    return 0;
}

static int tear_down(void **state) {
    place_remove(*state);
    free(*state);
    return 0;
}

static void write_list(const place_t *place, const char *run, const char *text) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", place->root, run);
    assert_ok(keel_directory_make(path));
    snprintf(path, sizeof path, "%s/%s/sources.tsv", place->root, run);
    write_bytes(path, text, strlen(text));
}

static void a_list_names_each_file_and_what_was_known_of_it(void **state) {
    const place_t *place = *state;
    keel_digest_t digest = keel_digest(keel_bytes("x = 1\n", 6));
    char hex[KEEL_DIGEST_HEX], text[1000];
    keel_digest_hex(&digest, hex);
    snprintf(text, sizeof text,
             "%s\t/w/train.py\n-\t/w/model.py\nno tab\n%.63s\t/w/a b.py\n%s\t/w/cut", hex, hex,
             hex);
    write_list(place, "r1", text);
    sources_t sources;
    sources_initialize(&sources, place->root);
    assert_ok(sources_load(&sources, "r1"));
    assert_int_equal(sources.count, 3); // what is not ended was not written whole
    assert_string_equal(sources.files[0].file, "/w/train.py");
    assert_true(sources.files[0].is_known);
    assert_true(keel_digest_equal(&sources.files[0].digest, &digest));
    assert_string_equal(sources.files[1].file, "/w/model.py");
    assert_false(sources.files[1].is_known);
    assert_string_equal(sources.files[2].file, "/w/a b.py");
    assert_false(sources.files[2].is_known);
    sources_deinitialize(&sources);
}

static void a_list_of_another_run_takes_the_place_of_the_last(void **state) {
    const place_t *place = *state;
    write_list(place, "r1", "-\t/w/a.py\n-\t/w/b.py\n");
    write_list(place, "r2", "-\t/w/c.py\n");
    sources_t sources;
    sources_initialize(&sources, place->root);
    static const struct {
        const char *run, *first;
        size_t count;
    } rows[] = {{"r1", "/w/a.py", 2},
                {"r1", "/w/a.py", 2},
                {"r2", "/w/c.py", 1},
                {"r1", "/w/a.py", 2},
                {"none", NULL, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_ok(sources_load(&sources, rows[i].run));
        assert_int_equal(sources.count, rows[i].count);
        if (rows[i].first) assert_string_equal(sources.files[0].file, rows[i].first);
    }
    sources_deinitialize(&sources);
}

static void a_list_may_be_longer_than_what_is_kept(void **state) {
    const place_t *place = *state;
    char text[SOURCES_FILES * 40] = "";
    for (int i = 0; i < SOURCES_FILES + 10; ++i)
        snprintf(text + strlen(text), 20, "-\t/w/%d.py\n", i);
    write_list(place, "r1", text);
    sources_t sources;
    sources_initialize(&sources, place->root);
    assert_ok(sources_load(&sources, "r1"));
    assert_int_equal(sources.count, SOURCES_FILES);
    assert_string_equal(sources.files[SOURCES_FILES - 1].file, "/w/127.py");
    sources_deinitialize(&sources);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

// ---- noting ------------------------------------------------------------------------------------

// A program with an operation of each file.
static void program_of(const char *const *files, size_t count, proto_t *bytes,
                       keel_program_t *out) {
    proto_t body = proto();
    for (size_t i = 0; i < count; ++i) {
        proto_t one = instruction("add", (int64_t)i + 1, NULL, 0), metadata = proto();
        put_text(&metadata, 3, files[i]);
        put_int(&metadata, 4, (int64_t)i + 1);
        put_message(&one, 7, &metadata);
        put_message(&body, 2, &one);
    }
    *bytes = module_of(&body, 1);
    assert_read(bytes, out);
}

static void note_files_of(sources_t *sources, const char *const *files, size_t count,
                          double asked) {
    proto_t bytes;
    keel_program_t program;
    program_of(files, count, &bytes, &program);
    sources_note(sources, &program, asked);
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&bytes);
}

static void note_files(sources_t *sources, const char *const *files, size_t count) {
    note_files_of(sources, files, count, (double)time(NULL) + 60);
}

// The run read the file as it is now.
static void note_read(sources_t *sources, const char *file, const char *text) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_t digest = keel_digest(keel_str_bytes(keel_str(text)));
    keel_digest_hex(&digest, hex);
    assert_ok(sources_read(sources, file, hex));
}

static void make_run(const place_t *place, const char *run) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", place->root, run);
    assert_ok(keel_directory_make(path));
}

static void assert_known(sources_t *sources, const char *file, const char *text) {
    keel_str_t got;
    assert_ok(sources->face.read(sources->face.context, file, &got));
    assert_int_equal(got.size, strlen(text));
    assert_memory_equal(got.data, text, got.size);
}

static void assert_unknown(sources_t *sources, const char *file) {
    keel_str_t got;
    assert_code(sources->face.read(sources->face.context, file, &got), KEEL_NOT_FOUND);
}

static void a_text_is_kept_as_the_run_read_it(void **state) {
    const place_t *place = *state;
    char train[300], model[300], edited[300], unread[300];
    snprintf(train, sizeof train, "%s/train.py", place->root);
    snprintf(model, sizeof model, "%s/a model.py", place->root);
    snprintf(edited, sizeof edited, "%s/edited.py", place->root);
    snprintf(unread, sizeof unread, "%s/unread.py", place->root);
    write_bytes(train, "x = 1\n", 6);
    write_bytes(model, "y = 22\n", 7);
    write_bytes(edited, "z = 3\n", 6);
    write_bytes(unread, "u = 4\n", 6);
    make_run(place, "r1");
    sources_t sources;
    sources_initialize(&sources, place->root);
    const char *const files[] = {train,        model,        train,
                                 edited,       unread,       "relative.py",
                                 "/w/a\nb.py", "/w/a\tb.py", "/w/site-packages/jax/_src/api.py"};
    note_files(&sources, files, 1); // of no run: nothing
    assert_int_equal(sources.count, 0);
    assert_ok(sources_load(&sources, "r1"));
    note_read(&sources, train, "x = 1\n");
    note_read(&sources, model, "y = 22\n");
    note_read(&sources, edited, "z = 2\n");
    note_files(&sources, files, sizeof files / sizeof *files);
    note_files(&sources, files, 2);
    // In another process, and after the files are gone.
    for (int again = 0; again < 2; ++again) {
        assert_int_equal(sources.count, 4);
        assert_known(&sources, train, "x = 1\n");
        assert_known(&sources, model, "y = 22\n");
        assert_known(&sources, train, "x = 1\n");
        assert_unknown(&sources, edited);
        assert_unknown(&sources, unread);
        assert_unknown(&sources, "relative.py");
        sources_deinitialize(&sources);
        assert_int_equal(unlink(again ? edited : train), 0);
        sources_initialize(&sources, place->root);
        assert_ok(sources_load(&sources, "r1"));
    }
    sources_deinitialize(&sources);
}

static void files_that_are_not_the_user_s_hide_none_behind_them(void **state) {
    const place_t *place = *state;
    char train[300];
    snprintf(train, sizeof train, "%s/train.py", place->root);
    write_bytes(train, "x = 1\n", 6);
    make_run(place, "r1");
    const char *const files[] = {"/w/site-packages/jax/_src/api.py", "relative.py", "/w/a\nb.py",
                                 train};
    sources_t sources;
    sources_initialize(&sources, place->root);
    assert_ok(sources_load(&sources, "r1"));
    note_read(&sources, train, "x = 1\n");
    note_files(&sources, files, sizeof files / sizeof *files);
    assert_int_equal(sources.count, 1);
    assert_known(&sources, train, "x = 1\n");
    sources_deinitialize(&sources);
}

static void a_text_is_shared_by_all_runs_that_had_it(void **state) {
    const place_t *place = *state;
    char file[300], folder[300], path[700] = "";
    snprintf(file, sizeof file, "%s/train.py", place->root);
    snprintf(folder, sizeof folder, "%s/sources", place->root);
    write_bytes(file, "x = 1\n", 6);
    const char *const files[] = {file};
    for (int run = 0; run < 2; ++run) {
        sources_t sources;
        char name[8];
        snprintf(name, sizeof name, "r%d", run);
        make_run(place, name);
        sources_initialize(&sources, place->root);
        assert_ok(sources_load(&sources, name));
        note_read(&sources, file, "x = 1\n");
        note_files(&sources, files, 1);
        assert_known(&sources, file, "x = 1\n");
        sources_deinitialize(&sources);
        DIR *directory = opendir(folder);
        unsigned count = 0;
        for (struct dirent *e; (e = readdir(directory));)
            if (e->d_name[0] != '.')
                ++count, snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        closedir(directory);
        assert_int_equal(count, 1);
        struct stat facts;
        assert_int_equal(stat(path, &facts), 0);
        // What is used again is not old.
        if (run) assert_true(time(NULL) - facts.st_mtime < 3600);
        set_age(path, 100000);
    }
}

#define TRAIN "import settings, numpy\nfrom model import width\n"

// Programs name train.py alone.
static void write_project(const place_t *place, char train[300]) {
    static const char *const files[][2] = {{"train.py", TRAIN},
                                           {"settings.py", "from conf import rates\n"},
                                           {"model.py", "import train\nwidth = 4\n"},
                                           {"conf/__init__.py", ""},
                                           {"conf/rates.py", "RATE = 1\n"},
                                           {"unused.py", "x = 1\n"}};
    char path[400];
    snprintf(path, sizeof path, "%s/conf", place->root);
    assert_ok(keel_directory_make(path));
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        snprintf(path, sizeof path, "%s/%s", place->root, files[i][0]);
        write_bytes(path, files[i][1], strlen(files[i][1]));
    }
    snprintf(train, 300, "%s/train.py", place->root);
}

// A run of the project that first asked for a program then.
static void note_project(const place_t *place, double asked, sources_t *out) {
    char train[300];
    write_project(place, train);
    make_run(place, "r1");
    sources_initialize(out, place->root);
    assert_ok(sources_load(out, "r1"));
    note_read(out, train, TRAIN);
    const char *const files[] = {train};
    note_files_of(out, files, 1, asked);
    assert_known(out, train, TRAIN);
}

static void the_users_modules_are_kept_with_what_imports_them(void **state) {
    const place_t *place = *state;
    char path[400];
    sources_t sources;
    note_project(place, (double)time(NULL) + 60, &sources);
    assert_int_equal(sources.count, 4);
    assert_int_equal(sources.imported, 3);
    snprintf(path, sizeof path, "%s/conf/rates.py", place->root);
    assert_known(&sources, path, "RATE = 1\n");
    snprintf(path, sizeof path, "%s/model.py", place->root);
    assert_known(&sources, path, "import train\nwidth = 4\n");
    snprintf(path, sizeof path, "%s/unused.py", place->root);
    assert_unknown(&sources, path);
    sources_deinitialize(&sources);
}

// The run imported it before it asked for a program, and nobody knows what it said.
static void a_module_that_changed_since_is_unknown(void **state) {
    const place_t *place = *state;
    char path[400];
    sources_t sources;
    note_project(place, (double)time(NULL) - 60, &sources);
    snprintf(path, sizeof path, "%s/settings.py", place->root);
    assert_unknown(&sources, path);
    snprintf(path, sizeof path, "%s/conf/rates.py", place->root);
    assert_unknown(&sources, path);
    sources_deinitialize(&sources);
}

static void a_run_names_64_files_at_most(void **state) {
    const place_t *place = *state;
    sources_t sources;
    make_run(place, "r1");
    sources_initialize(&sources, place->root);
    assert_ok(sources_load(&sources, "r1"));
    char names[70][40];
    const char *files[70];
    for (int i = 0; i < 70; ++i) {
        snprintf(names[i], sizeof names[i], "/w/no%d.py", i);
        files[i] = names[i];
    }
    note_files(&sources, files, 70);
    assert_int_equal(sources.count, SOURCES_NAMED);
    sources_deinitialize(&sources);
    sources_initialize(&sources, place->root);
    assert_ok(sources_load(&sources, "r1"));
    assert_int_equal(sources.count, SOURCES_NAMED);
    assert_string_equal(sources.files[SOURCES_NAMED - 1].file, "/w/no63.py");
    sources_deinitialize(&sources);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_list_names_each_file_and_what_was_known_of_it),
        TEST(a_list_of_another_run_takes_the_place_of_the_last),
        TEST(a_list_may_be_longer_than_what_is_kept),
        TEST(a_text_is_kept_as_the_run_read_it),
        TEST(files_that_are_not_the_user_s_hide_none_behind_them),
        TEST(a_text_is_shared_by_all_runs_that_had_it),
        TEST(the_users_modules_are_kept_with_what_imports_them),
        TEST(a_module_that_changed_since_is_unknown),
        TEST(a_run_names_64_files_at_most),
    };
    return cmocka_run_group_tests_name("analysis sources", tests, NULL, NULL);
}
