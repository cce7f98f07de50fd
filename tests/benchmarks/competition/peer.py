"""Another reader of tables, in its own environment: `peer.py camelot|pdfplumber PDF …`.

Prints the tables of each PDF as JSON, a table as its rows of texts, and the processor time in
seconds.
"""

import importlib
import json
import resource
import sys
import warnings


def camelot(path: str) -> list[list[list[str]]]:
    library = importlib.import_module("camelot")

    tables = library.read_pdf(path, pages="all", flavor="auto", suppress_stdout=True)
    return [table.df.values.tolist() for table in tables]


def pdfplumber(path: str) -> list[list[list[str]]]:
    library = importlib.import_module("pdfplumber")

    with library.open(path) as document:
        return [
            [[text or "" for text in row] for row in table]
            for page in document.pages
            for table in page.extract_tables()
        ]


def main(name: str, paths: list[str]) -> None:
    read = {"camelot": camelot, "pdfplumber": pdfplumber}[name]
    found = []
    for path in paths:
        try:
            found.append(read(path))
        except Exception as error:
            print(f"{name} fails on {path}: {error}", file=sys.stderr)
            found.append([])
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(used.ru_utime + used.ru_stime for used in usage)
    json.dump({"tables": found, "seconds": seconds}, sys.stdout)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1], sys.argv[2:])
