# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# ns2_rem.tcl: REM, with a gain that moves the price within seconds.

set kind REM
set limit 60
set traced 1
set late_s 0.25e-6
Queue/REM set gamma_ 0.5
Queue/REM set pupdtime_ 0.004
Queue/REM set markpkts_ $marks
Queue/REM set qib_ [string match *-bytes $name]
