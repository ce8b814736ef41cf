#!/usr/bin/env python3
"""mutate.py SOURCE OUTPUT FROM TO: copies SOURCE with FROM, which must occur once, replaced by TO.

For tests that build a seeded fault and see it caught; a fault whose place is gone must be
noticed, so anything but one occurrence is an error.
"""
import pathlib
import sys


def main():
    source, output, old, new = sys.argv[1:]
    text = pathlib.Path(source).read_text()
    if text.count(old) != 1:
        sys.exit(f"{source}: {text.count(old)} places to seed the fault instead of one: {old}")
    pathlib.Path(output).write_text(text.replace(old, new))


if __name__ == "__main__":
    main()
