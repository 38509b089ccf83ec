# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The numbers of a study as columns, a row for each model."""

from __future__ import annotations

import math

from sojourn.core.text import Column, Table
from sojourn.theory.models import Model
from sojourn.theory.network import Network
from sojourn.theory.noise import noise, swing_hz
from sojourn.theory.study import Study

NOTHING = "–"


def title(network: Network) -> str:
    """Describe the network."""
    return (
        f"{network.flows:g} flows, {network.capacity_pkts_s:.6g} packets/s of "
        f"{network.packet_bytes} B, {network.rtt_s * 1e3:g} ms"
    )


def verdict(model: Model) -> str:
    """Tell in a word whether the model is stable."""
    return "stable" if model.margins.is_stable else "unstable"


def table(study: Study) -> Table:
    """Make a row for each model."""
    names = [Column("model", [model.name for model in study.models])]
    return Table(title(study.network), names, _columns(study))


def _columns(study: Study) -> list[Column]:
    """Make the columns: equilibrium, margins, verdict, swing, and simulated numbers."""
    models = study.models
    noises = [noise(model) for model in models]
    beside = {one.model.name: one.simulated for one in study.beside}
    runs = [beside.get(model.name) for model in models]
    of = [model.margins for model in models]
    found = [
        _column("queue\npackets", [m.at.queue_pkts for m in models], ".1f"),
        _column("window\npackets", [m.at.window_pkts for m in models], ".2f"),
        _column("signal\n%", [100 * m.at.signal for m in models], ".3f"),
        _column("round trip\nms", [1e3 * m.at.round_trip_s for m in models], ".1f"),
        _column("crossover\nrad/s", [one.crossover_rad_s for one in of], ".4g"),
        _column("crossover\nHz", [one.crossover_rad_s / math.tau for one in of], ".4g"),
        _column("phase\nmargin °", [one.phase_deg for one in of], ".1f"),
        _column("gain\nmargin", [one.gain for one in of], ".3g"),
        _column("delay\nmargin ms", [1e3 * one.delay_s for one in of], ".0f"),
        Column("Nyquist\ncriterion", [verdict(m) for m in models]),
        _column("swing\nHz", [swing_hz(m) for m in models], ".3g"),
        _column("queue sd\npackets", [n.deviation_pkts if n else math.nan for n in noises], ".1f"),
    ]
    if study.beside:
        found += [
            _column("simulated\nqueue", [r.mean_pkts if r else math.nan for r in runs], ".1f"),
            _column("simulated\nsd", [r.deviation_pkts if r else math.nan for r in runs], ".1f"),
            _column("simulated\npeak Hz", [r.peak_hz if r else math.nan for r in runs], ".3g"),
            _column(
                "simulated\nsignal %", [100 * r.signal if r else math.nan for r in runs], ".3f"
            ),
            _column(
                "simulated\nload %", [r.utilisation_pct if r else math.nan for r in runs], ".1f"
            ),
        ]
    return found


def _column(heading: str, values: list[float], form: str) -> Column:
    return Column(heading, [_text(value, form) for value in values])


def _text(value: float, form: str) -> str:
    if math.isnan(value):
        return NOTHING
    return "none" if math.isinf(value) else f"{value:{form}}"
