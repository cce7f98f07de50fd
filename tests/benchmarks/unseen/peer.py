"""Another reader, in its own environment: `peer.py pymupdf4llm|markitdown PDF …`.

Prints the Markdown of each PDF as JSON, and the processor time in seconds.
"""

import contextlib
import importlib
import io
import json
import resource
import sys
import warnings


def pymupdf4llm(path: str) -> str:
    return str(importlib.import_module("pymupdf4llm").to_markdown(path))


def markitdown(path: str) -> str:
    return str(importlib.import_module("markitdown").MarkItDown().convert(path).text_content)


def main(name: str, paths: list[str]) -> None:
    read = {"pymupdf4llm": pymupdf4llm, "markitdown": markitdown}[name]
    found = []
    for path in paths:
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                found.append(read(path))
        except Exception as error:
            print(f"{name} fails on {path}: {error}", file=sys.stderr)
            found.append("")
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(used.ru_utime + used.ru_stime for used in usage)
    json.dump({"markdown": found, "seconds": seconds}, sys.stdout)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1], sys.argv[2:])
