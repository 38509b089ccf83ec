# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A folder for Matplotlib's list of fonts, imported before Matplotlib. Where its own cannot be
written, Matplotlib says so in several lines, and makes the list anew for each command."""

import os
from pathlib import Path

import platformdirs

from sojourn.store.store import default_root, why_not

_OWN = (platformdirs.user_config_dir("matplotlib"), platformdirs.user_cache_dir("matplotlib"))

if not os.environ.get("MPLCONFIGDIR") and any(why_not(Path(folder)) for folder in _OWN):
    os.environ["MPLCONFIGDIR"] = str(default_root().parent / "matplotlib")
