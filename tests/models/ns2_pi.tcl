# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# ns2_pi.tcl: PI, with gains for a slow link.

set kind PI
set limit 60
set traced 1
set late_s 0.25e-6
Queue/PI set setbit_ $marks
Queue/PI set a_ 0.0005
Queue/PI set b_ 0.00048
Queue/PI set w_ 200
Queue/PI set qref_ 20
