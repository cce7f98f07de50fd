"""A recording as a self-contained HTML page.

It embeds asciinema's player, which reads the format and has a terminal emulator (73 kB). The page's
content security policy forbids all requests.
"""

import re
from html import escape
from importlib.resources import files
from string import Template

from carrel.recording.asciicast import Recording, event_line, header_line

_PAGE = Template("""\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; \
img-src data:; font-src data:; worker-src blob:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
$style
html, body { height: 100%; margin: 0; background: #16181d; color: #c9ccd3;
  font: 15px/1.5 system-ui, sans-serif; }
body { display: flex; flex-direction: column; }
header { padding: 10px 16px; }
#player { flex: 1; min-height: 0; }
</style>
<header>Recording · $title</header>
<div id="player"></div>
<script>
$player
</script>
<script id="recording" type="application/x-asciicast">
$recording</script>
<script>
AsciinemaPlayer.create(
  { data: document.getElementById("recording").textContent.trim() },
  document.getElementById("player"),
  { autoPlay: true, fit: "both", preload: true },
);
</script>
<script type="text/plain" data-what="The licence of the player">
$licence
</script>
</html>
""")
_COMMENT = re.compile(r"/\*.*?\*/", re.S)


def page(recording: Recording) -> str:
    """Return the page of a recording."""
    player = files("carrel.recording") / "player"

    def read(name: str) -> str:
        return (player / name).read_text(encoding="utf-8")

    lines = [header_line(recording.width, recording.height, recording.title, 0)]
    lines += [event_line(event) for event in recording.events]
    return _PAGE.substitute(
        title=escape(recording.title or "Carrel"),
        style=_COMMENT.sub("", read("asciinema-player.css")),
        player=read("asciinema-player.min.js"),
        # “<” occurs only inside strings, and unescaped could end the script.
        recording="".join(lines).replace("<", "\\u003c"),
        licence=read("LICENSE"),
    )
