"""Turns pages into pictures as scanners and copiers make them; the truth stays that of the page."""

import io
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2
from PIL import Image, ImageFilter

Pixels = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Damage:
    dpi: int
    skew: float
    """In degrees, against the clock."""
    blur: float
    """Radius in pixels."""
    noise: float
    """Standard deviation, of 255."""
    speckles: int
    """On a page."""
    contrast: float
    """How dark ink stays, of 1."""
    paper: tuple[int, int, int]
    shadow: float
    """How dark the edge by the spine is, of 1."""
    through: float
    """How much of the page behind shines through, of 1."""
    quality: int
    """Of the JPEG."""
    bilevel: bool
    """As fax machines and old copiers do."""


def random_damage(rng: random.Random) -> Damage:
    bad = rng.random()
    """Most scans are good; a few are bad in several ways."""
    return Damage(
        dpi=rng.choice((100, 120, 150, 150, 200, 200, 300)),
        skew=rng.gauss(0, 0.3 + bad * 1.2),
        blur=rng.uniform(0, 0.4 + bad * 0.9),
        noise=rng.uniform(0, 4 + 14 * bad),
        speckles=int(rng.expovariate(1) * 60 * bad),
        contrast=rng.uniform(1 - 0.55 * bad, 1),
        paper=rng.choice(((255, 255, 255), (255, 255, 255), (250, 247, 238), (236, 232, 220))),
        shadow=rng.choice((0.0, 0.0, rng.uniform(0.05, 0.45))),
        through=rng.choice((0.0, 0.0, 0.0, rng.uniform(0.02, 0.12))),
        quality=rng.choice((35, 50, 70, 85, 92)),
        bilevel=rng.random() < 0.12,
    )


def damaged(page: Image.Image, damage: Damage, rng: random.Random) -> Image.Image:
    """Return the picture of a page as a scan of it."""
    noise = np.random.default_rng(rng.getrandbits(32))
    turned = page.convert("RGB").rotate(
        damage.skew, Image.Resampling.BICUBIC, fillcolor=(255, 255, 255)
    )
    if damage.blur:
        turned = turned.filter(ImageFilter.GaussianBlur(damage.blur))
    ink: Pixels = (255 - np.asarray(turned, np.float32)) / np.float32(255)
    if damage.through:
        behind = turned.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        behind = behind.filter(ImageFilter.GaussianBlur(2))
        shine: Pixels = (255 - np.asarray(behind, np.float32)) * np.float32(damage.through / 255)
        np.maximum(ink, shine, out=ink)
    ink = ink * damage.contrast
    height, width = ink.shape[:2]
    for _ in range(damage.speckles):
        y, x, size = rng.randrange(height), rng.randrange(width), rng.choice((1, 1, 2, 3))
        ink[y : y + size, x : x + size] = rng.uniform(0.3, 1)
    light = np.ones((height, width, 1), np.float32)
    if damage.shadow:
        across = np.linspace(0, 1, width, dtype=np.float32)[None, :, None]
        light = light - damage.shadow * np.exp(-across * rng.uniform(6, 20))
    pixels = np.asarray(damage.paper, np.float32) * (1 - ink) * light
    pixels = pixels + noise.normal(0, damage.noise, (height, width, 1)).astype(np.float32)
    picture = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    if damage.bilevel:
        return picture.convert("L").point(lambda value: 255 if value > 150 else 0).convert("RGB")
    written = io.BytesIO()
    picture.save(written, "JPEG", quality=damage.quality)
    return Image.open(io.BytesIO(written.getvalue())).convert("RGB")


def scan(source: Path, target: Path, rng: random.Random) -> int:
    """Write a document of the corpus as a PDF of pictures, with its truth; return its pages."""
    about: dict[str, Any] = json.loads(source.with_suffix(".json").read_text("utf-8"))
    damage = random_damage(rng)
    document = pypdfium2.PdfDocument(source)
    pictures = []
    for page in document:
        picture = page.render(scale=damage.dpi / 72).to_pil()
        pictures.append(damaged(picture, damage, rng))
    document.close()
    target.parent.mkdir(parents=True, exist_ok=True)
    pictures[0].save(
        target.with_suffix(".pdf"),
        "PDF",
        resolution=damage.dpi,
        save_all=True,
        append_images=pictures[1:],
        quality=damage.quality,
    )
    about["typesetter"] = f"scan-{about['typesetter']}"
    target.with_suffix(".json").write_text(json.dumps(about, ensure_ascii=False), "utf-8")
    return len(pictures)


def scans(folder: Path, wanted: int, seed: int) -> int:
    """Scan documents of `SPLIT/TYPESETTER` into `SPLIT/scan-TYPESETTER`; return how many pages."""
    made = 0
    paths = sorted(folder.glob("*.pdf"))
    random.Random(seed).shuffle(paths)
    for path in paths:
        if made >= wanted:
            break
        target = folder.with_name(f"scan-{folder.name}") / path.name
        made += scan(path, target, random.Random(f"{seed} {path.stem}"))
    return made
