"""Checks of an answer, and the reasons for their results."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from carrel.store.core.formatting import one_line
from carrel.store.evals.cases import Case, Check, Judge, Number, Similar, Source
from carrel.store.evals.records import Checked
from carrel.system import patterns

if TYPE_CHECKING:
    from carrel.wire.generation.completions import Passage

_SHOWN = 80
"""Letters of a shown line."""
_NUMBER = re.compile(r"[-−+]?\d(?:[\d.,'\u00a0\u202f]*\d)?(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Given:
    """An answer, and the passages given to it."""

    text: str
    passages: Sequence[Passage]


class Service(Protocol):
    """The service as some checks need it."""

    async def similarity(self, one: str, other: str, model: str) -> float:
        """Return the cosine similarity of two texts."""

    async def verdict(self, judge: Judge, case: Case, answer: str) -> tuple[bool, str]:
        """Return an agent's verdict on an answer by a criterion, and its reason."""


async def run_checks(case: Case, given: Given, service: Service) -> list[Checked]:
    """Return the result of each check of a case."""
    found = []
    for check in case.checks:
        passed, reason = await _result(check, case, given, service)
        found.append(Checked(check=check_words(check), passed=passed, reason=reason))
    return found


def check_words(check: Check) -> str:
    """Return `contains “three months”`, `source lease.pdf, page 2`."""
    value = getattr(check, check.kind)
    match value:
        case Source():
            page = f", page {value.page}" if value.page else ""
            return f"source {one_line(value.document)}{page}"
        case Number():
            tolerance = f" ± {value.tolerance:g}" if value.tolerance else ""
            return f"number {value.value:g}{tolerance}"
        case Similar():
            low = f" at least {value.at_least:g}" if value.at_least is not None else ""
            high = f" at most {value.at_most:g}" if value.at_most is not None else ""
            return f"similarity{low}{high}"
        case Judge():
            return f"judged by {one_line(value.agent)}"
        case dict():
            return "JSON schema"
    return f"{check.kind} “{_short(str(value))}”"


async def _result(check: Check, case: Case, given: Given, service: Service) -> tuple[bool, str]:
    value = getattr(check, check.kind)
    match value:
        case Source():
            return _source(value, given.passages)
        case Number():
            return _number(value, given.text)
        case Similar():
            return _judge_similarity(
                value, await service.similarity(given.text, value.to, value.model)
            )
        case Judge():
            return await service.verdict(value, case, given.text)
        case dict():
            return _schema(value, given.text)
    if check.kind == "regex":
        return _matches(value, given.text)
    there = one_line(value).casefold() in one_line(given.text).casefold()
    return there, "it is there" if there else "it is not there"


def _matches(pattern: str, text: str) -> tuple[bool, str]:
    try:
        found = patterns.search(pattern, text)
    except patterns.PatternError as error:
        return False, str(error)
    return found is not None, "nothing matches" if found is None else f"found “{_short(found)}”"


def _source(wanted: Source, passages: Sequence[Passage]) -> tuple[bool, str]:
    of_document = [passage for passage in passages if passage.document_name == wanted.document]
    if not of_document:
        names = list(dict.fromkeys(one_line(passage.document_name) for passage in passages))
        return False, f"the passages are from {', '.join(names)}" if names else "there are none"
    pages = sorted({one.page + 1 for one in of_document if one.page is not None})
    if wanted.page is None or wanted.page in pages:
        return True, "a passage is from there"
    said = ", ".join(map(str, pages)) or "no known page"
    return False, f"the passages are from page {said}"


def _number(wanted: Number, text: str) -> tuple[bool, str]:
    found = list(dict.fromkeys(_numbers(text)))
    if not found:
        return False, "there is no number"
    nearest = min(found, key=lambda one: abs(one - wanted.value))
    # As decimals: 0.3 is within 0.1 of 0.2, which floats deny.
    near = abs(nearest - wanted.value) <= wanted.tolerance + 1e-9 * max(1.0, abs(wanted.value))
    return near, f"the nearest is {nearest:g}"


def _numbers(text: str) -> Iterator[float]:
    """Yield the numbers in a text, with any thousands separator."""
    for match in _NUMBER.finditer(text):
        written = re.sub(r"['\u00a0\u202f]", "", match[0]).replace("−", "-")
        for thousands, point in ((",", "."), (".", ",")):
            plain = written.replace(thousands, "").replace(point, ".")
            try:
                yield float(plain)
            except ValueError:
                continue


def _schema(schema: dict[str, Any], text: str) -> tuple[bool, str]:
    fenced = re.fullmatch(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", text, re.DOTALL)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return False, "the answer is not JSON"
    try:
        error = next(iter(patterns.validator(schema).iter_errors(value)), None)
    except patterns.PatternError as problem:
        return False, str(problem)
    if error is None:
        return True, "it matches"
    where = ".".join(str(part) for part in error.absolute_path)
    return False, _short(f"{where}: {error.message}" if where else error.message)


def _judge_similarity(wanted: Similar, similarity: float) -> tuple[bool, str]:
    low = -math.inf if wanted.at_least is None else wanted.at_least
    high = math.inf if wanted.at_most is None else wanted.at_most
    # Away from the bound: a failure never reads like it.
    too_high = similarity > high
    hundredths = math.ceil(100 * similarity) if too_high else math.floor(100 * similarity + 1e-4)
    return low <= similarity <= high, f"it is {hundredths / 100:.2f}"


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
