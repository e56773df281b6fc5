// The line on a terminal while a compile takes long: each case is a process on its own terminal,
// with what a person would see there, meanwhile and at the end.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/ioctl.h>

#include "door_help.h"

// ---- a terminal --------------------------------------------------------------------------------

enum { ROWS = 6, COLUMNS = 100 };

// As far as the line needs one: text, line ends, index, save and restore, up, down, erase.
typedef struct screen_t {
    char cells[ROWS][COLUMNS + 1];
    int columns, row, column, saved_row, saved_column;
} screen_t;

static void screen_make(screen_t *screen, int columns) {
    *screen = (screen_t){.columns = columns};
    for (int i = 0; i < ROWS; ++i)
        memset(screen->cells[i], ' ', (size_t)columns);
}

static void screen_down(screen_t *screen) {
    if (++screen->row < ROWS) return;
    screen->row = ROWS - 1;
    memmove(screen->cells[0], screen->cells[1], (ROWS - 1) * sizeof screen->cells[0]);
    memset(screen->cells[ROWS - 1], ' ', (size_t)screen->columns);
}

static void screen_erase(screen_t *screen) {
    for (int row = screen->row; row < ROWS; ++row) {
        int from = row == screen->row ? screen->column : 0;
        for (int column = from; column < screen->columns; ++column)
            screen->cells[row][column] = ' ';
    }
}

static void screen_put(screen_t *screen, char c) {
    if (screen->column == screen->columns) {
        screen->column = 0;
        screen_down(screen);
    }
    screen->cells[screen->row][screen->column++] = c;
}

// The length of the sequence behind an escape character.
static size_t screen_escape(screen_t *screen, const char *text) {
    switch (*text) {
        case 'D':
            screen_down(screen);
            return 1;
        case '7':
            screen->saved_row = screen->row;
            screen->saved_column = screen->column;
            return 1;
        case '8':
            screen->row = screen->saved_row;
            screen->column = screen->saved_column;
            return 1;
        case '[':
            if (text[1] == 'A' && screen->row) --screen->row;
            if (text[1] == 'B' && screen->row < ROWS - 1) ++screen->row;
            if (text[1] == 'J') screen_erase(screen);
            if (!strchr("ABJ", text[1])) fail_msg("unknown sequence: %.8s", text);
            return 2;
        default:
            fail_msg("unknown sequence: %.8s", text);
            return 0;
    }
}

static void screen_feed(screen_t *screen, const char *text, size_t size) {
    for (size_t i = 0; i < size; ++i) {
        if (text[i] == '\x1b')
            i += screen_escape(screen, text + i + 1);
        else if (text[i] == '\r')
            screen->column = 0;
        else if (text[i] == '\n')
            screen_down(screen);
        else
            screen_put(screen, text[i]);
    }
}

// All rows without the blanks at their ends, with a bar behind each, up to the last that is filled.
static void screen_read(const screen_t *screen, char out[ROWS * (COLUMNS + 1) + 1]) {
    size_t size = 0, filled = 0;
    for (int row = 0; row < ROWS; ++row) {
        int end = screen->columns;
        while (end && screen->cells[row][end - 1] == ' ')
            --end;
        memcpy(out + size, screen->cells[row], (size_t)end);
        size += (size_t)end;
        out[size++] = '|';
        if (end) filled = size;
    }
    out[filled] = 0;
}

// ---- a case ------------------------------------------------------------------------------------

typedef struct show_t {
    const char *settings;
    door_body_t *body;
    int columns;
    bool errors_to_file;
    door_t *door;
    pid_t child;
    int terminal;
    char seen[1 << 16];
    size_t size;
    double took; // the first compile, by the journal
} show_t;

static void become_child(const show_t *show, const char *name) {
    setsid();
    int slave = open(name, O_RDWR);
    CHECK(slave >= 0 && ioctl(slave, TIOCSCTTY, 0) == 0);
    struct winsize window = {.ws_row = ROWS, .ws_col = (unsigned short)show->columns};
    ioctl(slave, TIOCSWINSZ, &window);
    CHECK(dup2(slave, STDOUT_FILENO) >= 0);
    int errors = show->errors_to_file ? open(show->door->errors, O_WRONLY | O_CREAT, 0600) : slave;
    CHECK(errors >= 0 && dup2(errors, STDERR_FILENO) >= 0);
    setenv("TERM", "xterm", 1);
    door_environment(show->door, show->settings);
    show->body(show->door);
    fflush(stdout);
    exit(0);
}

static void show_start(show_t *show) {
    void *state;
    door_setup(&state);
    show->door = state;
    show->terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(show->terminal >= 0);
    assert_int_equal(grantpt(show->terminal) | unlockpt(show->terminal), 0);
    char name[128];
    assert_int_equal(ptsname_r(show->terminal, name, sizeof name), 0);
    fflush(stdout);
    show->child = fork();
    assert_true(show->child >= 0);
    if (!show->child) become_child(show, name);
}

static double first_compile(const door_t *door) {
    char command[700], text[64] = "";
    snprintf(command, sizeof command,
             "cat $(ls -d %s/2*/journal.ndjson) | grep '\"event\":\"compile\"' | head -n 1 | "
             "sed 's/.*\"seconds\":\\([0-9.]*\\).*/\\1/'",
             door->runs);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    if (!fgets(text, sizeof text, pipe)) *text = 0;
    pclose(pipe);
    return strtod(text, NULL);
}

static void show_finish(show_t *show) {
    for (ssize_t got; (got = read(show->terminal, show->seen + show->size,
                                  sizeof show->seen - 1 - show->size)) > 0;)
        show->size += (size_t)got;
    show->seen[show->size] = 0;
    close(show->terminal);
    int status = door_wait(show->child);
    if (status) print_message("%s\n", show->seen);
    assert_int_equal(status, 0);
    show->took = first_compile(show->door);
    void *state = show->door;
    door_teardown(&state);
}

// What the screen shows at the end.
#define assert_screen(show, expected)                                                              \
    do {                                                                                           \
        screen_t screen_;                                                                          \
        char text_[ROWS * (COLUMNS + 1) + 1];                                                      \
        screen_make(&screen_, (show)->columns);                                                    \
        screen_feed(&screen_, (show)->seen, (show)->size);                                         \
        screen_read(&screen_, text_);                                                              \
        assert_string_equal(text_, expected);                                                      \
    } while (0)

static void assert_seen(const show_t *show, const char *text) {
    if (!strstr(show->seen, text)) fail_msg("'%s' is not in: %s", text, show->seen);
}

static void assert_not_seen(const show_t *show, const char *text) {
    if (strstr(show->seen, text)) fail_msg("'%s' is in: %s", text, show->seen);
}

// How many different numbers of seconds follow on the text.
static unsigned count_seconds(const show_t *show, const char *text) {
    unsigned count = 0;
    long last = -1;
    for (const char *at = show->seen; (at = strstr(at, text)); ++at) {
        char *end;
        long now = strtol(at + strlen(text), &end, 10);
        count += end > at && strncmp(end, " s", 2) == 0 && now > last;
        last = now;
    }
    return count;
}

// The time of the last such compile, as it was printed; to the tenth of a second.
static void assert_took(const show_t *show) {
    static const char words[] = " s; last time it took ";
    assert_seen(show, words);
    double told = strtod(strstr(show->seen, words) + strlen(words), NULL);
    assert_true(show->took > 1 && told > show->took - 0.11 && told < show->took + 0.11);
}

// ---- what the children do ----------------------------------------------------------------------

static void say(const char *text) {
    fputs(text, stdout);
    fflush(stdout);
}

static keel_bytes_t sample(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", KEEL_TEST_SAMPLES, name);
    uint8_t *data;
    size_t size;
    CHECK(!keel_file_read(path, 1 << 24, &data, &size));
    return keel_bytes(data, size);
}

static void compile_sample(const PJRT_Api *api, PJRT_Client *client, const char *name) {
    keel_bytes_t code = sample(name);
    PJRT_LoadedExecutable *loaded;
    NO_ERROR(api, door_compile_bytes(api, client, "mlir", code, &loaded));
    door_destroy(api, loaded);
    keel_free((void *)(uintptr_t)code.data);
}

// Half a line stands on the screen while the step is compiled.
static void step(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    say("one\ntwo ... ");
    compile_sample(api, client, "mlir/nested_jit.mlir");
    say("done\n");
    door_close(api, client);
}

static void step_at_the_end_of_the_screen(const door_t *door) {
    say("1\n2\n3\n4\n5\n6\n7\n");
    step(door);
}

typedef struct other_t {
    PJRT_Client *client;
    const char *text;
} other_t;

static void *compile_other(void *context) {
    const other_t *other = context;
    const PJRT_Api *api = keel_shim_api();
    door_destroy(api, door_compile(api, other->client, other->text));
    return NULL;
}

static void compile_several(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    other_t others[] = {{client, "another"}, {client, "one more"}};
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i) {
        CHECK(pthread_create(&threads[i], NULL, compile_other, &others[i]) == 0);
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    }
    // So that it goes on alone for some seconds.
    nanosleep(&(struct timespec){.tv_sec = 3}, NULL);
    compile_sample(api, client, "mlir/nested_jit.mlir");
    for (int i = 0; i < 2; ++i)
        pthread_join(threads[i], NULL);
    door_close(api, client);
}

static void compile_once(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    compile_sample(api, client, "mlir/nested_jit.mlir");
    door_close(api, client);
}

// The second of two compiles of one program knows what the first took.
static void compile_again(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    compile_sample(api, client, "mlir/nested_jit.mlir");
    say("again\n");
    compile_sample(api, client, "mlir/nested_jit.mlir");
    door_close(api, client);
}

static void *write_lines(void *unused) {
    (void)unused;
    nanosleep(&(struct timespec){.tv_sec = 2, .tv_nsec = 500000000}, NULL);
    say("loader: ready\n");
    return NULL;
}

// So does the first of a run, when an earlier one had it.
static void compile_in_two_processes(const door_t *door) {
    pid_t first = fork();
    CHECK(first >= 0);
    if (!first) {
        setenv("KEEL_QUIET", "1", 1);
        compile_once(door);
        exit(0);
    }
    int status;
    CHECK(waitpid(first, &status, 0) == first && status == 0);
    compile_once(door);
}

static void write_meanwhile(const door_t *door) {
    pthread_t writer;
    CHECK(pthread_create(&writer, NULL, write_lines, NULL) == 0);
    step(door);
    pthread_join(writer, NULL);
}

// ---- the cases ---------------------------------------------------------------------------------

// Long enough for a line, or two of them, though the machine be busy.
#define LONG "TEST_PLUGIN=compile_ms=6800"
#define TWICE "TEST_PLUGIN=compile_ms=3700\nKEEL_MODE=refresh"

static show_t shows[] = {
    {.settings = LONG, .body = step, .columns = COLUMNS},
    {.settings = LONG, .body = step_at_the_end_of_the_screen, .columns = COLUMNS},
    {.settings = LONG, .body = step, .columns = 24},
    {.settings = TWICE, .body = compile_again, .columns = 60},
    {.settings = LONG, .body = write_meanwhile, .columns = COLUMNS},
    {.settings = LONG, .body = compile_several, .columns = COLUMNS},
    {.settings = TWICE, .body = compile_again, .columns = COLUMNS},
    {.settings = TWICE, .body = compile_in_two_processes, .columns = COLUMNS},
    {.settings = "TEST_PLUGIN=compile_ms=200", .body = step, .columns = COLUMNS},
    {.settings = LONG "\nKEEL_QUIET=1", .body = step, .columns = COLUMNS},
    {.settings = LONG "\nTERM=dumb", .body = step, .columns = COLUMNS},
    {.settings = LONG, .body = step, .columns = COLUMNS, .errors_to_file = true},
};
enum {
    PLAIN,
    BOTTOM,
    NARROW,
    HALF,
    MEANWHILE,
    SEVERAL,
    AGAIN,
    LATER,
    SHORT,
    QUIET,
    DUMB,
    FILED,
    SHOWS
};

// All at once: they do nothing but sleep.
static int start_all(void **state) {
    (void)state;
    for (int i = 0; i < SHOWS; ++i)
        show_start(&shows[i]);
    for (int i = 0; i < SHOWS; ++i)
        show_finish(&shows[i]);
    return 0;
}

static void test_a_long_compile_is_told_each_second_and_then_no_more(void **state) {
    (void)state;
    const show_t *show = &shows[PLAIN];
    assert_seen(show, "keel: compiling jit_");
    assert_seen(show, " operations, ");
    assert_true(count_seconds(show, "KiB) ") >= 2);
    assert_not_seen(show, ") 0 s");
    assert_not_seen(show, ") 1 s");
    assert_not_seen(show, "last time it took");
    assert_screen(show, "one|two ... done|");
}

static void test_at_the_end_of_the_screen_it_makes_room(void **state) {
    (void)state;
    assert_seen(&shows[BOTTOM], "keel: compiling jit_");
    assert_screen(&shows[BOTTOM], "5|6|7|one|two ... done|");
}

static void test_it_fits_a_narrow_terminal(void **state) {
    (void)state;
    assert_seen(&shows[NARROW], "keel: compiling jit_");
    assert_not_seen(&shows[NARROW], "operations");
    assert_screen(&shows[NARROW], "one|two ... done|");
}

static void test_on_less_room_whole_parts_are_left_out(void **state) {
    (void)state;
    assert_true(count_seconds(&shows[HALF], " operations) ") >= 1);
    assert_not_seen(&shows[HALF], "the last");
    assert_screen(&shows[HALF], "again|");
}

static void test_what_is_written_meanwhile_stays_whole(void **state) {
    (void)state;
    assert_seen(&shows[MEANWHILE], "loader: ready");
    assert_non_null(strstr(strstr(shows[MEANWHILE].seen, "loader: ready"), "KiB) "));
    assert_screen(&shows[MEANWHILE], "one|two ... loader: ready|done|");
}

static void test_of_several_compiles_the_longest_is_shown(void **state) {
    (void)state;
    assert_seen(&shows[SEVERAL], "keel: compiling a program (7 B) and 2 more ");
    assert_seen(&shows[SEVERAL], "keel: compiling jit_"); // once the others are done
    assert_not_seen(&shows[SEVERAL], "jit_nested_jit and");
}

static void test_what_the_last_such_compile_took_is_told(void **state) {
    (void)state;
    assert_took(&shows[AGAIN]);
    assert_screen(&shows[AGAIN], "again|");
    assert_took(&shows[LATER]);
    assert_screen(&shows[LATER], "");
}

static void test_nothing_is_told_where_nobody_waits_long_or_looks(void **state) {
    (void)state;
    for (int i = SHORT; i < SHOWS; ++i) {
        assert_not_seen(&shows[i], "keel:");
        assert_not_seen(&shows[i], "\x1b");
        assert_string_equal(shows[i].seen, "one\r\ntwo ... done\r\n");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_long_compile_is_told_each_second_and_then_no_more),
        cmocka_unit_test(test_at_the_end_of_the_screen_it_makes_room),
        cmocka_unit_test(test_it_fits_a_narrow_terminal),
        cmocka_unit_test(test_on_less_room_whole_parts_are_left_out),
        cmocka_unit_test(test_what_is_written_meanwhile_stays_whole),
        cmocka_unit_test(test_of_several_compiles_the_longest_is_shown),
        cmocka_unit_test(test_what_the_last_such_compile_took_is_told),
        cmocka_unit_test(test_nothing_is_told_where_nobody_waits_long_or_looks),
    };
    return cmocka_run_group_tests(tests, start_all, NULL);
}
