"""A book on the page: what it costs Debian's chromium to show it and to scroll in it.

    python benchmarks/page.py                   # 450,000 words
    python benchmarks/page.py --words 4500000   # a shelf

The page is the one that the format `html` writes; the server's draws with the same code. The book is made up, one word
in six begins a mention, one sentence in three is a quotation. Printed as a line of JSON: the seconds to write the page;
milliseconds to the first paint and until text and mentions are there, and of processor time until then; megabytes of
the JavaScript heap; and for scrolling on and for jumping from place to place the milliseconds of a frame (median, 95th
percentile, worst), its processor time, the number of tasks over 50 ms and of elements in the page.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from streamcoref.formats import write_documents
from tests.page.conftest import FLAGS
from tests.page.measuring import book, measure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=450_000)
    words = parser.parse_args().words
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "book.html"
        document = book(words)
        mentions = sum(entity.size for entity in document.entities)
        began = time.perf_counter()
        write_documents([document], path, "html")
        written = time.perf_counter() - began
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        found = measure(browser.new_page(viewport={"width": 1280, "height": 900}), path)
        browser.close()
        size = path.stat().st_size / 1e6
    print(json.dumps({"words": words, "mentions": mentions, "page_mb": size, "write_seconds": written, **found}))


if __name__ == "__main__":
    main()
