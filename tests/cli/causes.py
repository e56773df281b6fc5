"""Every cause and every pattern has a page in docs/causes, with the sentence of the program's own
table, and the index names every page."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "causes"
sys.path.insert(0, str(ROOT / "tests"))
from tables import rows  # noqa: E402

SECTIONS = ["How it happens", "What to do", "What it costs", "Is it gone?"]


causes = [texts for _, texts in rows("src/explain/cause.h", "KEEL_CAUSES")]
patterns = [texts for _, texts in rows("src/why/why.h", "KEEL_PATTERNS")]
sentences = {row[0]: row[1] for row in causes + patterns}
pages = {path.stem: path.read_text() for path in FOLDER.glob("*.md") if path.stem != "README"}
index = (FOLDER / "README.md").read_text()

for word in sorted(sentences.keys() - pages.keys()):
    print(f"{word} has no page")
for word in sorted(pages.keys() - sentences.keys()):
    print(f"{word}.md is neither a cause nor a pattern")
for word, sentence in sentences.items():
    if f"| [{word}]({word}.md) | {sentence} |" not in index:
        print(f"README.md does not say of {word} '{sentence}'")
    page = pages.get(word, "")
    if page and not page.startswith(f"# `{word}`: {sentence}\n"):
        print(f"{word}.md does not begin with '{sentence}'")
    for section in SECTIONS:
        if page and f"\n## {section}\n" not in page:
            print(f"{word}.md does not tell: {section}")
    if page and "PyTorch/XLA" not in page:
        print(f"{word}.md does not speak of PyTorch/XLA")
for name, page in [*pages.items(), ("README", index)]:
    for target in re.findall(r"\]\(([a-z_]+)\.md\)", page):
        if target not in pages:
            print(f"{name}.md leads to {target}.md, which is not there")
for _, (note, advice) in rows("src/explain/cause.h", "KEEL_NOTES"):
    if not any(f"- `{note}`: {advice}\n" in page for page in pages.values()):
        print(f"no page tells '{note}' with its advice")
for word, *_, jax, torch in causes:
    for advice in (jax, torch):
        if len(advice) > 100:
            print(f"the advice for {word} is longer than a line: {advice}")
print(f"{len(causes)} causes, {len(patterns)} patterns" if len(causes) > 10 and len(patterns) > 3 else "unread")
