"""Work to be cut off: how it begins, what a start says is left of it, and what is there of it."""

import asyncio
import collections
import hashlib
import random
import re
import shlex
import time
from pathlib import Path
from typing import Any

import httpx
from PIL import Image

from carrel.config.profiles import Profile, folders
from carrel.store.cache.readings import Readings
from carrel.store.chat.sessions.saved import SavedSessions
from support.documents import HEADING, digital_pdf, pdf_of_pictures, picture
from support.folders import write
from support.libraries import new_library
from support.model import WORD
from support.terminal import Terminal

_PAGE = 100


class Work:
    """Work of a round; `profile` leads to the service, and `http` looks there by another way."""

    LEFT = ""
    """How a start says what is left, with its number in the first group."""
    AT_ONCE = 1
    """Parts that may have arrived although a start counts them as left."""
    RATE = 20.0
    """Parts a second, more or less: it is cut off before it would be done."""
    READY = "here (● ready|◐ slow)"
    """How the app says that it is connected."""

    def __init__(self, http: httpx.Client, profile: Profile, folder: Path, number: int) -> None:
        self.http = http
        self.profile = profile
        self.folder = folder
        self.number = number

    @staticmethod
    def address(url: str) -> str:
        """The address by which the app knows the service."""
        return url

    def begin(self, app: Terminal) -> None:
        """Begins it in the app, which shows its first screen."""
        raise NotImplementedError

    def command(self) -> list[str]:
        """The command that does it in a shell; empty where it is for the app alone."""
        return []

    def count_left(self, said: re.Match[str]) -> int:
        """How many parts a start says are left."""
        return int(said[1].replace(",", ""))

    def missing(self) -> int:
        """How many parts are not there yet."""
        return self.number - sum((self.expected() & self.there()).values())

    def is_under_way(self, app: Terminal) -> bool:
        """Whether something is still to come."""
        return self.missing() > 0

    def done(self) -> int:
        """A number that grows while it goes on."""
        return -self.missing()

    def check(self) -> None:
        """Asserts that all is there once."""
        assert self.there() == self.expected()

    def check_in(self, app: Terminal) -> None:
        """Asserts what the app then shows of it."""

    def expected(self) -> collections.Counter[Any]:
        """What is there in the end."""
        raise NotImplementedError

    def there(self) -> collections.Counter[Any]:
        """What is there now."""
        raise NotImplementedError

    def pages(self, path: str) -> list[dict[str, Any]]:
        """Everything that the service lists at a path."""
        found: list[dict[str, Any]] = []
        while True:
            query = {"page": len(found) // _PAGE, "page_size": _PAGE}
            data = self.http.get(path, params=query).raise_for_status().json()["data"]
            found += data
            if len(data) < _PAGE:
                return found


class Paste(Work):
    """Files whose paths are pasted, or named to `carrel files upload`."""

    LEFT = r"([\d,]+)(?: of [\d,]+)? uploads? left"

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._paths = [
            write(self.folder / f"{n % 7}" / f"note-{n:04}.md", f"# Note {n}\n{'x' * n}\n")
            for n in range(self.number)
        ]

    def begin(self, app: Terminal) -> None:
        app.paste(" ".join(shlex.quote(str(path)) for path in self._paths))
        if self.number > 50:
            app.wait_for(f"Upload {self.number} files")
            app.press("enter")
        app.wait_for("Uploading|Uploaded")

    def command(self) -> list[str]:
        return ["files", "upload", *map(str, self._paths)]

    def expected(self) -> collections.Counter[Any]:
        return collections.Counter((path.name, path.stat().st_size) for path in self._paths)

    def there(self) -> collections.Counter[Any]:
        return collections.Counter(
            (file["filename"], file["bytes"]) for file in self.pages("/v1/files")
        )


class Sync(Work):
    """A folder with folders in it, synced with a library."""

    LEFT = r"nterrupted (?:at ([\d,]+) of ([\d,]+)|while comparing)"
    AT_ONCE = 6
    RATE = 40

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        for n in range(self.number):
            write(self.folder / f"{n % 20:02}" / f"note-{n:04}.md", f"# Note {n}\n")
        self._library = new_library(self.http)

    def begin(self, app: Terminal) -> None:
        app.press("2")
        app.wait_for("Reading room")
        app.paste(shlex.quote(str(self.folder)))
        app.wait_for(rf"{self.number:,} to upload", timeout=90)
        app.press("f2")
        app.wait_for("Looking at|of [0-9,]+ files|uploaded")

    def command(self) -> list[str]:
        return ["sync", str(self.folder), "--library", self._library.id]

    def count_left(self, said: re.Match[str]) -> int:
        if said[1] is None:  # while comparing: no number is said
            return self.missing()
        done, total = (int(number.replace(",", "")) for number in said.groups())
        return total - done

    def expected(self) -> collections.Counter[Any]:
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return collections.Counter(path.relative_to(self.folder).as_posix() for path in files)

    def there(self) -> collections.Counter[Any]:
        return collections.Counter(
            document["name"] for document in self.pages(f"{self._library.path}/documents")
        )


class Download(Work):
    """All files of the service, saved in a folder."""

    LEFT = r"([\d,]+)(?: of [\d,]+)? downloads? left"
    RATE = 60

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        chosen = random.Random(self.number)
        self._content = {
            f"page-{n:03}.bin": chosen.randbytes(chosen.randint(1, 600_000))
            for n in range(self.number)
        }
        for name, content in self._content.items():
            self.http.post("/v1/files", files={"file": (name, content)}).raise_for_status()
        self.folder.mkdir()

    def begin(self, app: Terminal) -> None:
        app.wait_for("page-")
        app.press("ctrl+a")
        app.wait_for(f"{self.number} marked")
        app.press("w")
        app.wait_for(f"Save {self.number} files to")
        app.press("end", *["backspace"] * 2)
        app.type(str(self.folder))
        app.press("enter")
        app.wait_for("Saving|Saved")

    def expected(self) -> collections.Counter[Any]:
        return collections.Counter(
            (name, hashlib.sha256(content).digest()) for name, content in self._content.items()
        )

    def there(self) -> collections.Counter[Any]:
        return collections.Counter(
            (path.name, hashlib.sha256(path.read_bytes()).digest())
            for path in self.folder.iterdir()
            if not path.name.startswith(".")
        )

    def check(self) -> None:
        super().check()
        assert len([*self.folder.iterdir()]) == self.number, "something half is left"


class Add(Work):
    """All files of the service, added to a library; in a shell, those of a folder."""

    LEFT = Paste.LEFT

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._paths = [
            write(self.folder / f"note-{n:04}.md", f"# Note {n}\n{'x' * n}\n")
            for n in range(self.number)
        ]
        for path in self._paths:
            sent = self.http.post("/v1/files", files={"file": (path.name, path.read_bytes())})
            sent.raise_for_status()
        self._library = new_library(self.http)

    def begin(self, app: Terminal) -> None:
        app.wait_for("note-")
        app.press("ctrl+a")
        app.wait_for(f"{self.number} marked")
        app.press("a")
        app.wait_for(f"Add {self.number} files to library")
        app.press("enter")
        app.wait_for("Uploading|Added")

    def command(self) -> list[str]:
        return ["libraries", "add", self._library.id, *map(str, self._paths)]

    def expected(self) -> collections.Counter[Any]:
        return collections.Counter(path.name for path in self._paths)

    def there(self) -> collections.Counter[Any]:
        return collections.Counter(
            document["name"] for document in self.pages(f"{self._library.path}/documents")
        )


class Export(Work):
    """The pictures of a document that has been read, saved as a file each."""

    LEFT = r"(1) export left"
    AT_ONCE = 1000  # it is left whole until its last file is written
    RATE = 25

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.folder.mkdir()
        path = pdf_of_pictures(self.folder.parent / "plates.pdf", pages=self.number)
        made = self.http.post("/v1/files", files={"file": (path.name, path.read_bytes())})
        self._id = made.raise_for_status().json()["id"]

    def begin(self, app: Terminal) -> None:
        app.wait_for(r"▸ plates\.pdf")
        app.press("o")
        app.wait_for(f"page 1 of {self.number}")
        while (read := asyncio.run(Readings(self.profile).load()).get(self._id)) is None or (
            read.read < self.number
        ):
            assert app.text
        app.press("w")
        app.wait_for("Pictures")
        app.press("end", "enter")
        app.wait_for("Save to")
        app.press("end", *["backspace"] * 2)
        app.type(str(self.folder))
        app.press("enter")
        app.wait_for("◐1|Saved ")

    def count_left(self, said: re.Match[str]) -> int:
        return self.number

    def expected(self) -> collections.Counter[Any]:
        return collections.Counter(range(1, self.number + 1))

    def there(self) -> collections.Counter[Any]:
        names = (path.name for path in self.folder.glob("plates page *.*"))
        return collections.Counter(int(name.split()[2]) for name in names)

    def check(self) -> None:
        super().check()
        found = [*self.folder.iterdir()]
        assert len(found) == self.number, "something half is left"
        for path in found:
            with Image.open(path) as picture:
                picture.load()


class Batch(Work):
    """OCR of files as one batch job, which is for services elsewhere."""

    LEFT = r"(1) batch job left"
    AT_ONCE = 1000  # one job has all of it
    RATE = 100
    READY = "here (▲ hosted|◐ slow)"

    @staticmethod
    def address(url: str) -> str:
        return url.replace("127.0.0.1", "[::ffff:127.0.0.1]")  # not known as this machine

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._ids = []
        for n in range(self.number):
            path = picture(self.folder.parent / f"sheet-{n}.png", f"Sheet {n}")
            made = self.http.post("/v1/files", files={"file": (path.name, path.read_bytes())})
            self._ids.append(made.raise_for_status().json()["id"])

    def begin(self, app: Terminal) -> None:
        app.wait_for("sheet-")
        app.press("ctrl+a")
        app.wait_for(f"{self.number} marked")
        app.press("o")
        app.wait_for("As one batch job")
        app.press("down", "enter")
        app.wait_for("as one batch job\\?")
        app.press("enter")
        app.wait_for("◐1|on its way")

    def count_left(self, said: re.Match[str]) -> int:
        return self.number

    def missing(self) -> int:
        return 0 if self._jobs() else self.number  # what it has, the service goes on with

    def is_under_way(self, app: Terminal) -> bool:
        return self.there() != self.expected()

    def done(self) -> int:
        return sum(1 + job["completed_requests"] for job in self._jobs())

    def expected(self) -> collections.Counter[Any]:
        return collections.Counter(self._ids)

    def there(self) -> collections.Counter[Any]:
        readings = asyncio.run(Readings(self.profile).load())
        return collections.Counter(id for id in self._ids if id in readings)

    def check(self) -> None:
        (job,) = self._jobs()
        assert job["total_requests"] == self.number

    def check_in(self, app: Terminal) -> None:
        deadline = time.monotonic() + 120
        while self.is_under_way(app):
            assert app.text and time.monotonic() < deadline, app.text
        app.press("6")
        app.wait_for(f"OCR of {self.number} files[^\\n]*Done")
        assert len(self._jobs()) == 1

    def _jobs(self) -> list[dict[str, Any]]:
        return self.pages("/v1/batch/jobs")


class OCR(Work):
    """OCR of a document with many pages, which is exported then."""

    LEFT = r"(1) OCR run left"
    AT_ONCE = 1000  # it is left whole until its last page is noted
    RATE = 15

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.folder.mkdir()
        path = digital_pdf(self.folder / "rules.pdf", pages=self.number)
        made = self.http.post("/v1/files", files={"file": (path.name, path.read_bytes())})
        self._id = made.raise_for_status().json()["id"]

    def begin(self, app: Terminal) -> None:
        app.wait_for(r"▸ rules\.pdf")
        app.press("o")
        app.wait_for(f"page 1 of {self.number}")

    def count_left(self, said: re.Match[str]) -> int:
        return self.number

    def expected(self) -> collections.Counter[Any]:
        return collections.Counter(range(self.number))

    def there(self) -> collections.Counter[Any]:
        readings = asyncio.run(Readings(self.profile).load())
        return collections.Counter(range(readings[self._id].read if self._id in readings else 0))

    def check_in(self, app: Terminal) -> None:
        app.press("1")
        app.wait_for(r"▸ rules\.pdf")
        app.press("o")
        app.wait_for(f"page 1 of {self.number}")
        app.wait_for(f"{HEADING} 1")
        app.press("w")
        app.wait_for("Markdown")
        app.press("enter")
        app.wait_for("Save to")
        app.press("end", *["backspace"] * 2)
        app.type(str(self.folder))
        app.press("enter")
        app.wait_for("Saved ")
        text = (self.folder / "rules.md").read_text()
        found = [int(n) for n in re.findall(rf"{HEADING} (\d+)", text)]
        assert found == [*range(1, self.number + 1)]


class Answer(Work):
    """An answer that streams, of so many words."""

    RATE = 50
    QUESTION = "Tell of the reading room."
    ENDS = ("Cut off", "Stopped", "No answer")

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        agent = {"model": "scripted", "name": "clerk"}
        self.http.post("/v1/agents", json=agent).raise_for_status()

    def begin(self, app: Terminal) -> None:
        app.press("4")
        app.wait_for("clerk")
        app.press("c")
        app.wait_for(r"\[5 Chat\]")
        app.type(self.QUESTION)
        app.press("enter")
        app.wait_for(f"{WORD}{WORD}")

    def is_under_way(self, app: Terminal) -> bool:
        return "■ Stop" in app.text

    def missing(self) -> int:
        return 0  # a start says nothing of it, the chat does

    def check(self) -> None:
        (session,) = SavedSessions(folders().state, self.profile.name).all()
        question, answer = session.conversation.turns
        assert question.text == self.QUESTION
        assert answer.text == WORD * len(answer.text.split())
        assert (answer.status == "done") is (answer.text == WORD * self.number)

    def check_in(self, app: Terminal) -> None:
        app.press("5")
        app.wait_for(r"\[5 Chat\][\s\S]*Tell of")
        app.press("enter")
        (session,) = SavedSessions(folders().state, self.profile.name).all()
        if session.conversation.turns[-1].status == "done":
            app.wait_for(WORD * 3)
        else:
            app.wait_for("|".join(self.ENDS))
