#!/usr/bin/env python3
"""summary.py names each skipped test with its reason, and refuses one that is not in the list.   summary_test.py"""
import pathlib
import subprocess
import sys
import tempfile

SUMMARY = pathlib.Path(__file__).with_name("summary.py")
RESULTS = """<?xml version="1.0"?>
<testsuite tests="3" skipped="2">
 <testcase name="known" time="2.4" status="run"><system-out>fine</system-out></testcase>
 <testcase name="view_tex" time="0.1" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
  <system-out>first line
skipped: pdflatex is not installed
</system-out></testcase>
 <testcase name="map" time="0.2" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out></system-out></testcase>
</testsuite>"""

with tempfile.TemporaryDirectory() as folder:
    results, skips = pathlib.Path(folder, "results.xml"), pathlib.Path(folder, "skips.txt")
    results.write_text(RESULTS)

    def run(*words):
        done = subprocess.run([sys.executable, SUMMARY, results, *words], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    code, said = run()
    assert code == 0, said
    assert "longest: known 2 s" in said, said
    assert "skipped: view_tex: pdflatex is not installed" in said, said
    assert "skipped: map: it gives no reason" in said, said
    skips.write_text("# name reason\nview_tex LaTeX takes a gigabyte\n")
    code, said = run("--accept", skips)
    assert code == 1 and "map may not be skipped" in said and "view_tex may" not in said, said
    skips.write_text("view_tex LaTeX takes a gigabyte\nmap no screen\n")
    assert run("--accept", skips)[0] == 0
    skips.write_text("view_tex\nmap no screen\n")
    code, said = run("--accept", skips)
    assert code != 0 and "'view_tex' has no reason" in said, said
