#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# wheel.sh [WHEEL [PYTHON...]]: the wheel has all that a user needs. It is tried in an empty
# environment and an empty folder, without a checkout, and the demo without a compiler too, under
# each Python that is named. Without a WHEEL, one is built as `make setup` builds the engine.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "$#" -gt 0 ]; then
	wheel=$(realpath "$1")
	shift
else
	RUSTFLAGS="${RUSTFLAGS:-} $(tools/profile.sh)" maturin build --release --locked --quiet --out "$work/dist"
	wheel=$(echo "$work"/dist/*.whl)
fi
# The same pinned libraries as everywhere; only those that the wheel itself asks for.
grep -E '^[A-Za-z0-9_.-]+==' requirements.lock | sed 's/ *\\$//' >"$work/pins"

for python in "$@" python3; do
	rm -rf "$work/venv"
	"$python" -m venv "$work/venv"
	"$work/venv/bin/pip" install --quiet --constraint "$work/pins" "$wheel"
	# On this PATH there is no compiler, and nothing else.
	(
		mkdir -p "$work/demo"
		cd "$work/demo"
		export PATH=$work/venv/bin XDG_CACHE_HOME=$work/cache-of-demo
		unset PYTHONPATH VIRTUAL_ENV CC
		sojourn demo >"$work/shown"
		sojourn new mine.c >"$work/shown.new"
		! sojourn run --aqm ./mine.c "$root/python/sojourn/scenarios/home.toml" 2>"$work/refused"
	)
	grep -q 'bufferbloat' "$work/shown"
	[ -s "$work/demo/results/demo/page.html" ]
	[ "$(wc -l <"$work/refused")" = 1 ] && grep -q 'apt install gcc' "$work/refused"
	echo "wheel: the demo runs without a compiler on $("$python" --version)"
	rm -rf "$work/demo" "$work/cache-of-demo"
done

# Linux only where its kernel is built already: that takes minutes.
kernel=$(.venv/bin/python -c '
from sojourn.linux.uml.build import archive_here, kernel_folder
origin = archive_here()
print(kernel_folder(origin) if origin else "")')

mkdir "$work/empty"
cd "$work/empty"
export XDG_CACHE_HOME=$work/cache PATH=$work/venv/bin:/usr/bin:/bin
unset PYTHONPATH VIRTUAL_ENV SOJOURN_KERNEL_SOURCE
sojourn list >"$work/list"
grep -q duk "$work/list"
sojourn show red@ns2 >"$work/preset"
grep -q linterm_ "$work/preset"
cat >scenario.toml <<'TOML'
format = 2
name = "ten flows"
duration = "5 s"

[dumbbell]
rate = "20 Mbit/s"
rtt = "50 ms"
aqm = "codel"

[[dumbbell.flows]]
count = 10
TOML
sojourn run scenario.toml --aqm codel --aqm pie --json >"$work/run.json"
python3 - "$work/run.json" <<'PY'
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
assert [run["aqm"] for run in runs] == ["codel", "pie"], runs
assert all(run["queues"][0]["windows"][0]["utilisation_pct"] > 50 for run in runs), runs
PY
sojourn reproduce duk/1 --quick --json >"$work/reproduce.json"
grep -q '"verdict"' "$work/reproduce.json"
echo "wheel: list, run and reproduce work from an empty folder"
mkdir "$work/tutorial"
(cd "$work/tutorial" && python3 "$root/tests/tutorial.py" "$root/docs/start/your-aqm.md")

if [ ! -e "$kernel/linux" ]; then
	echo "wheel: --host linux not tried, as no kernel is built (sojourn linux build)"
	exit
fi
mkdir -p "$XDG_CACHE_HOME/sojourn"
ln -s "$kernel" "$XDG_CACHE_HOME/sojourn"
# Its tree, and the archive where that is not installed.
ln -s "${kernel%/*}"/{tree-*[!k],source} "$XDG_CACHE_HOME/sojourn"
sojourn run scenario.toml --host linux --aqm codel --aqm kernel:codel --json >"$work/linux.json"
python3 - "$work/linux.json" <<'PY'
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
assert [(run["aqm"], run["host"]) for run in runs] == [("codel", "linux"), ("kernel:codel", "linux")]
assert all(run["queues"][0]["windows"][0]["utilisation_pct"] > 50 for run in runs), runs
PY
# Module and programs came from the wheel's own sources, the kernel from where it was.
(cd "$work/tutorial" && sojourn run scenario.toml --aqm ./my_aqm.c --host linux >"$work/own")
ls -d "$XDG_CACHE_HOME"/sojourn/module-*/sch_sojourn.ko "$XDG_CACHE_HOME"/sojourn/guest-*/play >"$work/built"
echo "wheel: run --host linux works from an empty folder"
