// Two charts over one axis: steps, or seconds if the run had none. The first has the time that
// compiles took or, if that is not known of any, their number. The axis ends soon after the
// last compile, since a long run is flat. Labels are beside the drawing, not in it, so that they
// keep their size on a narrow screen.
#include <inttypes.h>
#include <stdio.h>

#include "page/part.h"
#include "text/write.h"

enum {
    COLUMNS = 120,
    WIDTH = 1000,
    HEIGHT = 200,
    LEAST_HEIGHT = 3,
    WIDEST = 36,
    TICKS = 5,
    POINTS = 400, // of a line
};

typedef struct column_t {
    double amounts[KEEL_PAGE_TONE_COUNT]; // seconds, or compiles
    keel_took_t took;
    size_t entry; // the most expensive with an article; SIZE_MAX: none
    const keel_timeline_event_t *dearest;
} column_t;

typedef struct chart_t {
    keel_page_t *page;
    const keel_timeline_t *timeline;
    bool by_step;
    bool by_time;
    double first, last; // ends of the axis
    double column;      // width of one column on it
    size_t column_count;
    column_t *columns;
    double highest;
    uint64_t quiet_from; // from this step on nothing was compiled and nothing is drawn; 0: none
} chart_t;

// ---- the axis ----------------------------------------------------------------------------------

static double axis_position(const chart_t *c, const keel_timeline_event_t *event) {
    return c->by_step ? (double)event->step : event->at;
}

static void set_axis(chart_t *c) {
    const keel_timeline_t *t = c->timeline;
    uint64_t last = t->count ? t->events[t->count - 1].step : 1;
    c->by_step = t->steps > 1;
    if (!c->by_step) {
        double end = t->duration;
        for (size_t i = 0; i < t->count; ++i)
            if (t->events[i].at > end) end = t->events[i].at;
        c->first = 0;
        c->last = end > 0 ? end : 1;
        c->column_count = 60;
        c->column = c->last / 60;
        return;
    }
    uint64_t end = t->steps > last ? t->steps : last;
    if (end > 2 * last + 16) {
        c->quiet_from = last + 1;
        end = last + last / 4 + 8;
    }
    uint64_t column = (end + COLUMNS - 1) / COLUMNS;
    c->first = 1;
    c->column = (double)column;
    c->column_count = (size_t)((end + column - 1) / column);
    c->last = 1 + (double)column * (double)c->column_count;
}

static double x_of(const chart_t *c, double place) {
    return (place - c->first) / (c->last - c->first) * WIDTH;
}

static size_t column_of(const chart_t *c, const keel_timeline_event_t *event) {
    double at = (axis_position(c, event) - c->first) / c->column;
    if (!(at > 0)) return 0;
    return at >= (double)c->column_count ? c->column_count - 1 : (size_t)at;
}

// The smallest of 1, 2, 5, 10, ... that is not smaller.
static double round_up(double value) {
    if (!(value > 0) || value > 1e15) return value > 0 ? value : 1;
    double power = 1;
    while (power > value && power > 1e-9)
        power /= 10;
    while (power * 10 <= value)
        power *= 10;
    static const double steps[] = {1, 2, 5};
    for (size_t i = 0; i < 3; ++i)
        if (steps[i] * power >= value * 0.999999) return steps[i] * power;
    return 10 * power;
}

static void axis_number(const chart_t *c, double value) {
    if (c->by_step)
        keel_buffer_format(c->page->out, "%.0f", value);
    else
        keel_page_seconds(c->page->out, value);
}

// "step 24", "steps 24 to 31", "1.2 s".
static void column_label(const chart_t *c, size_t index, keel_buffer_t *out) {
    double first = c->first + (double)index * c->column;
    if (!c->by_step) {
        char text[24];
        keel_format_seconds(first, text);
        keel_buffer_format(out, "after %s", text);
    } else if (c->column <= 1) {
        keel_buffer_format(out, "step %.0f", first);
    } else {
        keel_buffer_format(out, "steps %.0f to %.0f", first, first + c->column - 1);
    }
}

static void ticks(const chart_t *c) {
    keel_buffer_t *out = c->page->out;
    double span = c->last - c->first, apart = round_up(span / TICKS);
    if (c->by_step && apart < 1) apart = 1;
    keel_buffer_text(out, "<div class=\"xs\" aria-hidden=\"true\">");
    for (double at = c->by_step ? 1 : 0; at < c->last; at = at < apart ? apart : at + apart) {
        double middle = c->by_step && c->column <= 1 ? 0.5 : 0;
        double share = x_of(c, at + middle) / WIDTH * 100;
        if (share > 86) break;
        keel_buffer_format(out, "<span style=\"left:%.2f%%\">", share);
        axis_number(c, at);
        keel_buffer_text(out, "</span>");
    }
    keel_buffer_format(out, "<span class=\"axis\">%s</span></div>\n", c->by_step ? "step" : "time");
}

static void grid(const chart_t *c) {
    keel_buffer_format(c->page->out, "<path class=\"grid\" d=\"M0 %dH%dM0 %dH%dM0 %dH%d\"/>\n", 1,
                       WIDTH, HEIGHT / 2, WIDTH, HEIGHT - 1, WIDTH);
}

// ---- compiles ----------------------------------------------------------------------------------

// Uses the same shares as the ledger.
static void divide(const chart_t *c, const keel_timeline_event_t *event, column_t *column) {
    const keel_why_t *why = c->page->input->why;
    double amount = c->by_time ? event->took.seconds : (double)event->took.times;
    if (event->entry >= why->entry_count) {
        column->amounts[keel_page_tone(c->page, KEEL_CAUSE_COUNT)] += amount;
        return;
    }
    const keel_why_entry_t *entry = &why->entries[event->entry];
    size_t count = keel_why_share_count(entry);
    for (size_t i = 0; i < count; ++i)
        column->amounts[keel_page_tone(c->page, keel_why_share(entry, i).kind)] +=
            amount / (double)count;
}

static bool is_dearer(const keel_timeline_event_t *event, const keel_timeline_event_t *than) {
    return !than || keel_took_order(&event->took, event->ops, &than->took, than->ops) <= 0;
}

static void fill_columns(chart_t *c) {
    for (size_t i = 0; i < c->timeline->count; ++i) {
        const keel_timeline_event_t *event = &c->timeline->events[i];
        if (event->is_load) continue;
        column_t *column = &c->columns[column_of(c, event)];
        divide(c, event, column);
        keel_took_add(&column->took, &event->took);
        bool whole =
            event->entry < c->page->input->why->entry_count && c->page->is_whole[event->entry];
        bool is_dearest = is_dearer(event, column->dearest);
        if (is_dearest) column->dearest = event;
        if (whole && (column->entry == SIZE_MAX || is_dearest)) column->entry = event->entry;
    }
}

static double sum_of(const column_t *column) {
    double sum = 0;
    for (int tone = 0; tone < KEEL_PAGE_TONE_COUNT; ++tone)
        sum += column->amounts[tone];
    return sum;
}

// The names of a tone's causes, for the legend.
static void tone_name(const keel_page_t *page, int tone, keel_buffer_t *out) {
    if (tone == KEEL_PAGE_TONE_OTHER || tone == KEEL_PAGE_TONE_UNKNOWN) {
        keel_buffer_text(out, tone == KEEL_PAGE_TONE_OTHER ? "other" : "not explained");
        return;
    }
    for (int i = 0; i < KEEL_CAUSE_COUNT; ++i)
        if (page->tones[i] == tone) {
            keel_buffer_text(out, keel_cause_facts((keel_cause_t)i)->word);
            return;
        }
}

// Of compiles with several causes.
static void number(keel_buffer_t *out, double value) {
    keel_buffer_format(out, "%.3g", value);
}

static void column_title(const chart_t *c, size_t index, keel_buffer_t *out) {
    const column_t *column = &c->columns[index];
    column_label(c, index, out);
    keel_buffer_text(out, ": ");
    keel_page_count(out, column->took.times, "compile");
    if (c->by_time) keel_buffer_text(out, ", ");
    if (c->by_time) keel_write_took(out, &column->took);
    keel_buffer_text(out, " (");
    bool any = false;
    for (int tone = 0; tone < KEEL_PAGE_TONE_COUNT; ++tone) {
        if (column->amounts[tone] <= 0) continue;
        keel_buffer_text(out, any ? ", " : "");
        tone_name(c->page, tone, out);
        keel_buffer_byte(out, ' ');
        if (c->by_time)
            keel_write_seconds(out, column->amounts[tone]);
        else
            number(out, column->amounts[tone]);
        any = true;
    }
    keel_buffer_text(out, any ? ")" : "no time)");
    if (!column->dearest || !*column->dearest->name) return;
    keel_buffer_text(out, column->took.times == 1 ? "; "
                          : c->by_time            ? "; most expensive: "
                                                  : "; largest: ");
    keel_page_cut(out, column->dearest->name, 80);
}

static void bar(const chart_t *c, size_t index) {
    keel_buffer_t *out = c->page->out;
    const column_t *column = &c->columns[index];
    double slot = (double)WIDTH / (double)c->column_count;
    double width = slot * 0.84 < WIDEST ? slot * 0.84 : WIDEST;
    double x = slot * ((double)index + 0.5) - width / 2;
    double y = HEIGHT;
    bool link = column->entry != SIZE_MAX;
    if (link) keel_buffer_format(out, "<a href=\"#r%zu\">", column->entry);
    keel_buffer_text(out, "<g class=\"bar\"><title>");
    column_title(c, index, out);
    keel_buffer_text(out, "</title>");
    keel_buffer_format(out, "<rect class=\"hit\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%d\"/>",
                       slot * (double)index, slot, HEIGHT);
    for (int tone = KEEL_PAGE_TONE_COUNT; tone-- > 0;) {
        if (column->amounts[tone] <= 0) continue;
        double height = column->amounts[tone] / c->highest * HEIGHT;
        if (height < LEAST_HEIGHT) height = LEAST_HEIGHT;
        y -= height;
        keel_buffer_format(out,
                           "<rect class=\"t%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                           "height=\"%.1f\"/>",
                           tone, x, y > 0 ? y : 0, width, height);
    }
    keel_buffer_text(out, link ? "</g></a>\n" : "</g>\n");
}

static void legend(const chart_t *c) {
    keel_buffer_t *out = c->page->out;
    keel_buffer_text(out, "<ul class=\"legend\">");
    for (int tone = 0; tone < KEEL_PAGE_TONE_COUNT; ++tone) {
        double sum = 0;
        for (size_t i = 0; i < c->column_count; ++i)
            sum += c->columns[i].amounts[tone];
        if (sum <= 0) continue;
        keel_buffer_format(out, "<li><span class=\"swatch t%d\"></span>", tone);
        tone_name(c->page, tone, out);
        keel_buffer_text(out, " <span class=\"muted\">");
        if (c->by_time)
            keel_page_seconds(out, sum);
        else
            number(out, sum);
        keel_buffer_text(out, "</span></li>");
    }
    keel_buffer_text(out, "</ul>\n");
}

static void open_plot(const chart_t *c, const char *id, const char *title, const char *top,
                      const char *half) {
    keel_buffer_t *out = c->page->out;
    keel_buffer_format(out,
                       "<div class=\"chart\"><div class=\"ys\" aria-hidden=\"true\"><span>%s</span>"
                       "<span>%s</span><span>0</span></div>\n<div class=\"plot\">"
                       "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"group\" "
                       "aria-labelledby=\"%s\"><title id=\"%s\">%s</title>\n",
                       top, half, WIDTH, HEIGHT, id, id, title);
    grid(c);
}

static void close_plot(const chart_t *c) {
    keel_buffer_text(c->page->out, "</svg>\n");
    ticks(c);
    keel_buffer_text(c->page->out, "</div></div>\n");
}

static void as_table(const chart_t *c) {
    keel_buffer_t *out = c->page->out;
    keel_buffer_text(out, "<details><summary>As a table</summary>\n");
    keel_page_open_table(out, "when,compiles#,time#");
    for (size_t i = 0; i < c->column_count; ++i) {
        if (!c->columns[i].took.times) continue;
        keel_buffer_text(out, "<tr><td>");
        column_label(c, i, out);
        keel_buffer_text(out, "</td>");
        keel_page_number_cell(out, c->columns[i].took.times);
        keel_page_took_cell(out, &c->columns[i].took);
        keel_buffer_text(out, "</tr>\n");
    }
    keel_page_close_table(out);
    keel_buffer_text(out, "</details>\n");
}

// Short, because the column is narrow.
static void height_label(const chart_t *c, double value, char out[24]) {
    const char *unit = !c->by_time ? "" : value < 1 ? " ms" : " s";
    snprintf(out, 24, "%.4g%s", c->by_time && value < 1 ? value * 1e3 : value, unit);
}

static void compiles(chart_t *c) {
    keel_buffer_t *out = c->page->out;
    double most = 0;
    for (size_t i = 0; i < c->column_count; ++i) {
        double sum = sum_of(&c->columns[i]);
        if (sum > most) most = sum;
    }
    c->highest = round_up(most);
    char top[24], half[24];
    height_label(c, c->highest, top);
    height_label(c, c->highest / 2, half);
    const char *what = c->by_time ? "Compile time" : "Compiles";
    keel_buffer_format(out, "<figure><figcaption>%s, by %s and cause</figcaption>\n", what,
                       c->by_step ? "step" : "time");
    legend(c);
    open_plot(c, "chart-compiles", what, top, half);
    for (size_t i = 0; i < c->column_count; ++i)
        if (c->columns[i].took.times) bar(c, i);
    close_plot(c);
    as_table(c);
    keel_buffer_text(out, "</figure>\n");
}

// ---- unique programs ---------------------------------------------------------------------------

static void step_line(const chart_t *c, uint64_t most, bool filled) {
    keel_buffer_t *out = c->page->out;
    const keel_timeline_t *t = c->timeline;
    size_t stride = t->count / POINTS + 1;
    keel_buffer_format(out, "<path class=\"%s\" d=\"M0 %d", filled ? "area" : "curve", HEIGHT);
    for (size_t i = stride - 1; i < t->count; i += stride) {
        if (i + stride >= t->count) i = t->count - 1; // the last is always drawn
        double y = HEIGHT - (double)t->events[i].programs / (double)most * (HEIGHT - 2);
        keel_buffer_format(out, "H%.1fV%.1f", x_of(c, axis_position(c, &t->events[i])), y);
    }
    keel_buffer_format(out, filled ? "H%dV%dZ\"/>\n" : "H%d\"/>\n", WIDTH, HEIGHT);
}

static void draw_programs(const chart_t *c) {
    keel_buffer_t *out = c->page->out;
    const keel_timeline_t *t = c->timeline;
    uint64_t all = t->count ? t->events[t->count - 1].programs : 0;
    for (size_t i = 0; i < t->count; ++i)
        if (t->events[i].programs > all) all = t->events[i].programs;
    uint64_t most = (uint64_t)round_up((double)all);
    if (most < 2) most = 2;
    char top[24], half[24], title[64];
    snprintf(top, sizeof top, "%" PRIu64, most);
    snprintf(half, sizeof half, most % 2 ? "%" PRIu64 ".5" : "%" PRIu64, most / 2);
    snprintf(title, sizeof title, "Different programs: %" PRIu64 " at the end", all);
    keel_buffer_text(out, "<figure><figcaption>Different programs so far: ");
    keel_buffer_format(out, "%" PRIu64 " at the end</figcaption>\n", all);
    open_plot(c, "chart-programs", title, top, half);
    step_line(c, most, true);
    step_line(c, most, false);
    close_plot(c);
    if (c->quiet_from)
        keel_buffer_format(out,
                           "<p class=\"muted\">No program was new from step %" PRIu64
                           " to the end, step %" PRIu64
                           "; the charts leave most of that out.</p>\n",
                           c->quiet_from, t->steps);
    keel_buffer_text(out, "</figure>\n");
}

static keel_status_t charts(keel_page_t *page, const keel_timeline_t *timeline) {
    chart_t c = {.page = page, .timeline = timeline};
    keel_buffer_text(page->out, "<section id=\"timeline\"><h2>Timeline</h2>\n");
    if (!timeline->count) {
        keel_buffer_text(page->out, "<p>Nothing was compiled or loaded.</p></section>\n");
        return NULL;
    }
    set_axis(&c);
    void *memory;
    KEEL_TRY(keel_calloc(c.column_count, sizeof *c.columns, &memory));
    c.columns = memory;
    for (size_t i = 0; i < c.column_count; ++i)
        c.columns[i].entry = SIZE_MAX;
    c.by_time = keel_took_is_known(&page->input->why->run.compiles);
    fill_columns(&c);
    compiles(&c);
    draw_programs(&c);
    keel_free(memory);
    keel_buffer_text(page->out, "</section>\n");
    return NULL;
}

keel_status_t keel_page_charts(keel_page_t *page) {
    keel_timeline_t timeline;
    KEEL_TRY(keel_timeline_make(&page->input->why->run, &timeline));
    keel_status_t status = charts(page, &timeline);
    keel_timeline_deinitialize(&timeline);
    return status;
}
