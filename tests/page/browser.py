"""The page of `keel report` in a real browser: of a run of real JAX, and of a made run that is too
large and too hostile for any page. At desktop and phone width, light and dark.

With KEEL_REPORT_PICTURES set to a folder, each page's picture is put there, to be looked at.
"""

import os
import pathlib
import subprocess
import sys

import devtools
import made

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "client"))
from harness import KEEL, PYTHON, Report, Workspace, clean_environment  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
SECTIONS = ["questions", "totals", "timeline", "ledger", "patterns", "recompiles", "programs", "causes"]

# What the page measures of itself; check_measures says what is wanted.
SCRIPT = r"""
(() => {
  const parse = text => {
    const parts = text.match(/[\d.]+/g).map(Number);
    return parts.length < 4 ? [...parts, 1] : parts;
  };
  const luminance = color => {
    const [r, g, b] = color.slice(0, 3).map(v => {
      v /= 255;
      return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const color = parse(getComputedStyle(e).backgroundColor);
      if (color[3] > 0.99) return color;
    }
    return [255, 255, 255, 1];
  };
  const name = e => e.tagName.toLowerCase() + (e.getAttribute('class') ? '.' + e.getAttribute('class') : '');
  const shown = e => e.checkVisibility() && e.getClientRects().length;
  const texts = [...document.querySelectorAll('body *')].filter(e => !e.closest('svg') && shown(e) &&
    [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()));
  let faint = [], least = 99;
  for (const e of texts) {
    const value = ratio(parse(getComputedStyle(e).color), behind(e));
    least = Math.min(least, value);
    if (value < 4.5) faint.push(name(e) + ' ' + value.toFixed(2));
  }
  const swatches = [...document.querySelectorAll('.swatch, div.bar')].filter(shown)
    .filter(e => ratio(parse(getComputedStyle(e).backgroundColor), behind(e.parentElement)) < 3)
    .map(name);
  const box = e => e.closest('.wide, .source');
  const outside = texts.filter(e => !box(e)).filter(e => {
    const r = e.getBoundingClientRect();
    return r.left < -0.5 || r.right > innerWidth + 0.5;
  }).map(name);
  const overlaps = [];
  for (const list of document.querySelectorAll('.xs, .ys')) {
    const rects = [...list.children].map(e => e.getBoundingClientRect());
    rects.forEach((a, i) => rects.slice(i + 1).forEach(b => {
      if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
        overlaps.push(list.textContent);
    }));
  }
  const levels = [...document.querySelectorAll('h1,h2,h3,h4')].map(e => Number(e.tagName[1]));
  const unreachable = [...document.querySelectorAll('.wide, .source')]
    .filter(e => e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0).map(name);
  return {
    width: document.documentElement.scrollWidth, inner: innerWidth,
    faint: [...new Set(faint)], least, swatches: [...new Set(swatches)],
    outside: [...new Set(outside)], overlaps: [...new Set(overlaps)], unreachable,
    sections: [...document.querySelectorAll('main section')].map(e => e.id),
    heading_jumps: levels.filter((v, i) => i && v > levels[i - 1] + 1).length,
    first_heading: levels[0],
    scripts: document.scripts.length + document.querySelectorAll('img, iframe, object').length,
    handlers: [...document.querySelectorAll('*')].flatMap(e => [...e.attributes])
      .filter(a => a.name.startsWith('on')).length,
    duplicates: (ids => ids.length - new Set(ids).size)(
      [...document.querySelectorAll('[id]')].map(e => e.id)),
    broken: [...document.querySelectorAll('a[href], svg a')].map(e => e.getAttribute('href'))
      .filter(h => !h.startsWith('#') || !document.getElementById(h.slice(1))),
    plots: [...document.querySelectorAll('svg')].map(e => [e.clientWidth, e.clientHeight,
      e.querySelectorAll('title').length]),
    unnamed_columns: [...document.querySelectorAll('table')].filter(t => !t.querySelector('th')).length,
    articles: document.querySelectorAll('article').length,
    height: document.documentElement.scrollHeight,
  };
})()
"""
OPEN_ALL = "document.querySelectorAll('details').forEach(e => { e.open = true })"


def keel(*words):
    subprocess.run([KEEL, *words], check=True, stdout=subprocess.DEVNULL, env=clean_environment())


def real_page(workspace):
    path = workspace.path("real.html")
    subprocess.run([KEEL, "run", "--cache-dir", workspace.path("cache"), "--run-dir",
                    workspace.path("runs"), "--quiet", "--", PYTHON, HERE / "train.py"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env=clean_environment())
    keel("report", "--run-dir", workspace.path("runs"), "-o", path)
    return path


def made_page(workspace):
    path = workspace.path("made.html")
    made.write(workspace.path("made"))
    keel("report", "--run-dir", workspace.path("made"), "-o", path)
    return path


def complaints(browser):
    """What the page said on the console, and what it asked the network for."""
    found = []
    for event in browser.events:
        method, said = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            found.append(said["exceptionDetails"]["text"])
        elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            found.append(said["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            found.append(str(said["args"]))
        elif method == "Network.requestWillBeSent" and said["type"] != "Document":
            found.append("asked for " + said["request"]["url"])
    return found


def check_measures(report, label, m):
    report.check(f"{label}: the page does not scroll sideways", m["width"] <= m["inner"],
                 f"{m['width']} > {m['inner']}")
    for key, words in (("outside", "no text leaves the screen"),
                       ("faint", "text has a contrast of 4.5 or more"),
                       ("swatches", "bars have a contrast of 3 or more"),
                       ("overlaps", "labels of a chart do not overlap"),
                       ("unreachable", "what scrolls can be reached by keyboard"),
                       ("broken", "links lead to a place of the page")):
        report.equal(f"{label}: {words}", m[key][:5], [])
    report.equal(f"{label}: all sections are there", m["sections"], SECTIONS)
    report.equal(f"{label}: headings do not jump", (m["first_heading"], m["heading_jumps"]), (1, 0))
    report.equal(f"{label}: nothing runs, nothing is embedded", (m["scripts"], m["handlers"]), (0, 0))
    report.equal(f"{label}: each id is there once", m["duplicates"], 0)
    report.equal(f"{label}: each table has headers", m["unnamed_columns"], 0)
    report.check(f"{label}: charts are drawn and told in words",
                 len(m["plots"]) == 2 and all(w > 200 and h > 100 and t for w, h, t in m["plots"]),
                 m["plots"])


def picture(browser, name, width):
    folder = os.environ.get("KEEL_REPORT_PICTURES")
    if folder:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        browser.screenshot(pathlib.Path(folder) / f"{name}.png", width, 6000)


def check_page(report, browser, name, path, looks):
    backgrounds = set()
    for size, dark in looks:
        label = f"{name}, {size}, {'dark' if dark else 'light'}"
        width, height = SIZES[size]
        browser.open(path.as_uri(), width, height, dark)
        backgrounds.add(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
        browser.evaluate(OPEN_ALL)
        report.equal(f"{label}: quiet, and needs no network", complaints(browser), [])
        check_measures(report, label, browser.evaluate(SCRIPT))
        picture(browser, label.replace(", ", "-"), width)
    report.equal(f"{name}: dark is a different scheme than light", len(backgrounds), 2)


def check_print(report, browser, path):
    """On paper what is folded is shown."""
    browser.open(path.as_uri(), *SIZES["desktop"], True)
    browser.call("Emulation.setEmulatedMedia", media="print")
    report.check("what is folded is printed", browser.evaluate("""[...document.querySelectorAll(
        'details:not([open]) li')].every(e => e.getClientRects().length > 0)"""))
    report.equal("paper is white", browser.evaluate(
        "getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
    pages = browser.call("Page.printToPDF")["data"]
    report.check("it prints", len(pages) > 10000, len(pages))


def check_view(report, browser, path):
    """The difference stands side by side, and one above the other where there is no room."""
    places = """(() => {
      const row = [...document.querySelectorAll('.sides .changed')][0];
      const [a, b] = [...row.children].map(e => e.getBoundingClientRect());
      return [a.left < b.left, a.bottom <= b.top + 1];
    })()"""
    browser.open(path.as_uri(), *SIZES["desktop"], False)
    report.equal("side by side where there is room", browser.evaluate(places), [True, False])
    browser.open(path.as_uri(), *SIZES["phone"], False)
    report.equal("one above the other on a phone", browser.evaluate(places), [False, True])


def check_real(report, browser, path):
    browser.open(path.as_uri(), *SIZES["desktop"], False)
    told = browser.evaluate("""[...document.querySelectorAll('article')].map(e => ({
      name: e.querySelector('h3 code').textContent, words: [...e.querySelectorAll('.chip')]
        .map(c => c.textContent),
      source: [...e.querySelectorAll('.line.told')].map(l => l.textContent),
      marked: [...e.querySelectorAll('del, ins')].map(m => m.textContent),
      added: [...e.querySelectorAll('.added td.new')].map(m => m.textContent),
      stack: e.querySelectorAll('.stack li').length }))""")
    steps = [one for one in told if one["name"] == "jit_train_step"]
    report.check("each recompile of the step has an article", len(steps) >= 3, told)
    shape = [one for one in steps if "shape" in one["words"]]
    report.check("the short batch is a shape, with the line and the sizes marked",
                 shape and any("train_step(params, batch" in line for line in shape[0]["source"])
                 and "8" in shape[0]["marked"] and "5" in shape[0]["marked"], steps)
    report.check("the branch is a structure, and what it added is all that is marked",
                 any("structure" in one["words"] and all(m[0] == "%" for m in one["marked"])
                     and any(" multiply " in line for line in one["added"]) for one in steps), steps)
    report.check("the scale is a constant, old and new marked",
                 any("constant" in one["words"] and any("0.25" in m or "0.5" in m
                     for m in one["marked"]) for one in steps), steps)
    report.check("the host's stack is there", all(one["stack"] for one in steps), steps)
    hover = browser.evaluate("""[...document.querySelectorAll('#timeline .bar title')]
      .map(e => e.textContent)""")
    report.check("a bar says step, time and cause", any(text.startswith("step 7: ") and "shape" in text
                                                        for text in hover), hover)


def main():
    program = devtools.find()
    if not program:
        sys.exit("no Chromium; run tools/setup --tests")
    report = Report()
    with Workspace("report") as workspace, devtools.Browser(program) as browser:
        real, large = real_page(workspace), made_page(workspace)
        check_page(report, browser, "real", real,
                   [("desktop", False), ("desktop", True), ("phone", False), ("phone", True)])
        check_page(report, browser, "made", large, [("desktop", False), ("phone", True)])
        check_print(report, browser, real)
        report.check("a page of many recompiles is small enough to send",
                     large.stat().st_size < 8 << 20, large.stat().st_size)
        check_real(report, browser, real)
        check_view(report, browser, real)
    report.finish()


main()
