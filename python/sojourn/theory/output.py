# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The files of a study: a page, each picture as SVG and PNG, and its numbers as CSV."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from sojourn.core.text import csv_text, json_text
from sojourn.show.chart import Chart
from sojourn.show.drawing import draw, png_file, svg_file
from sojourn.show.page import drawn, render
from sojourn.store.folder import claim
from sojourn.theory.charts import charts
from sojourn.theory.study import Study
from sojourn.theory.table import table, title


def write(study: Study, out: Path) -> list[str]:
    """Write the files of a study into a folder of Sojourn's, and return their names."""
    folder = claim(out)
    made = charts(study)
    files = {f"{name}.csv": _csv(rows) for name, rows in _tables(study).items()}
    for chart in made:
        figure = draw(chart)
        files[f"{chart.name}.svg"] = svg_file(figure, chart.words)
        files[f"{chart.name}.png"] = png_file(figure, chart.words)
    files["stability.json"] = json_text(study.to_json()).encode()
    files["stability.html"] = _page(study, made).encode()
    if study.result:
        files["scenario.toml"] = study.result.scenario.encode()
    for name, content in files.items():
        folder.write(name, content)
    return list(files)


def _csv(rows: Sequence[Mapping[str, object]]) -> bytes:
    return csv_text(rows[0], (map(_cell, row.values()) for row in rows)).encode()


def _cell(value: object) -> object:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.9g}"
    return value


def _tables(study: Study) -> dict[str, list[Mapping[str, object]]]:
    """Collect the numbers of each picture, by the name of its file."""
    tables: dict[str, list[Mapping[str, object]]] = {"response": list(_responses(study))}
    if study.maps:
        tables |= {f"map-{n}": list(found.rows()) for n, found in enumerate(study.maps, 1)}
    if study.beside:
        tables["queue"] = list(_queues(study))
        tables["spectrum"] = list(_spectra(study))
    return tables


def _responses(study: Study) -> Iterable[Mapping[str, object]]:
    for model in study.models:
        omega = model.loop.frequencies()
        values = model.loop.gain(1j * omega)
        phase = np.degrees(np.unwrap(np.angle(values)))
        for at, value, angle in zip(omega.tolist(), values.tolist(), phase.tolist(), strict=True):
            yield {
                "model": model.name,
                "frequency_rad_s": at,
                "gain": abs(value),
                "phase_deg": angle,
                "real": value.real,
                "imaginary": value.imag,
            }


def _queues(study: Study) -> Iterable[Mapping[str, object]]:
    for one in study.beside:
        run, course = one.simulated, one.course
        sources = [("simulated", run.time_s, run.queue_pkts)]
        if course:
            # The integration's own steps are finer than a picture can show.
            thin = max(len(course.time_s) // 4000, 1)
            sources.append(("equations", course.time_s[::thin], course.queue_pkts[::thin, 0]))
        for source, times, queue in sources:
            for at, value in zip(times.tolist(), queue.tolist(), strict=True):
                yield {"model": run.name, "source": source, "t_s": at, "queue_pkts": value}


def _spectra(study: Study) -> Iterable[Mapping[str, object]]:
    for one in study.beside:
        run = one.simulated
        sources = [("simulated", run.frequency_hz, run.density_pkts2_per_hz)]
        if one.noise:
            sources.append(("predicted", one.noise.frequency_hz, one.noise.density_pkts2_per_hz))
        for source, frequency, density in sources:
            for at, value in zip(frequency.tolist(), density.tolist(), strict=True):
                yield {
                    "model": run.name,
                    "source": source,
                    "frequency_hz": at,
                    "density_pkts2_per_hz": value,
                }


def _page(study: Study, made: Sequence[Chart]) -> str:
    return render(
        "stability.html",
        title=title(study.network),
        charts=list(map(drawn, made)),
        table=table(study),
        notes=[f"{m.name}: {note}" for m in study.models for note in study.notes(m)],
    )
