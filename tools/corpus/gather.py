"""Takes a small part of each public repository that the corpus names, out of clones on the disk."""

import random
import subprocess
from pathlib import Path

REPOSITORIES: dict[str, tuple[str, ...]] = {
    # prose, lists and tables in Markdown, of many languages
    "jlevy/the-art-of-command-line": (".md",),
    "github/opensource.guide": (".md",),
    "EbookFoundation/free-programming-books": (".md",),
    "donnemartin/system-design-primer": (".md",),
    "trekhleb/javascript-algorithms": (".md",),
    "rust-lang/book": (".md",),
    "18F/handbook": (".md",),
    "uswds/uswds-site": (".md",),
    "nhsuk/nhsuk-service-manual": (".njk", ".md"),
    "alphagov/govuk-design-system": (".md",),
    "bundestag/gesetze": (".md",),
    "carpentries/instructor-training": (".md",),
    "rstudio/bookdown": (".Rmd", ".md"),
    "ethereum/EIPs": (".md",),
    "progit/progit2-ru": (".asc",),
    "progit/progit2-zh": (".asc",),
    "GITenberg/Pride-and-Prejudice_1342": (".txt",),
    "python/peps": (".rst",),
    # tables
    "fivethirtyeight/data": (".csv", ".md"),
    "vincentarelbundock/Rdatasets": (".csv",),
    "datasets/country-codes": (".csv",),
    "datasets/gdp": (".csv",),
    "mwaskom/seaborn-data": (".csv",),
    "plotly/datasets": (".csv",),
    "owid/owid-datasets": (".csv",),
    # formulas and prose in LaTeX
    "HoTT/book": (".tex",),
    "stacks/stacks-project": (".tex",),
    "AllenDowney/ThinkStats2": (".tex",),
}
LARGEST = 400_000
SMALLEST = 1_200
FILES = 70
"""Of one repository, so that none of them decides how pages look."""
_OF_MANY_LANGUAGES = {
    "github/opensource.guide": 400,
    "EbookFoundation/free-programming-books": 160,
    "trekhleb/javascript-algorithms": 120,
    "vincentarelbundock/Rdatasets": 200,
    "owid/owid-datasets": 120,
}


def gather(clones: Path, content: Path, seed: int = 0) -> int:
    """Copy each repository's part into `content/OWNER+NAME/`; return how many files there are."""
    copied = 0
    for repository, suffixes in REPOSITORIES.items():
        folder = repository.replace("/", "+")
        for clone in (clones / folder / "repo", clones / folder):
            if (clone / "HEAD").is_file() or (clone / ".git").exists():
                break
        else:
            print(f"{repository} is not in {clones}: passed over")
            continue
        listed = _git(clone, "ls-tree", "-r", "-l", "-z", "HEAD").decode().split("\0")
        paths = []
        for line in filter(None, listed):
            about, path = line.split("\t", 1)
            size = about.split()[3]
            if path.endswith(suffixes) and size.isdigit() and SMALLEST <= int(size) <= LARGEST:
                paths.append(path)
        random.Random(f"{seed} {repository}").shuffle(paths)
        for path in paths[: _OF_MANY_LANGUAGES.get(repository, FILES)]:
            target = content / folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_git(clone, "show", f"HEAD:{path}"))
            copied += 1
    return copied


def _git(clone: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True).stdout
