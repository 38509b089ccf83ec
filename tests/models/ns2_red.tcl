# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# ns2_red.tcl: RED in packets, not gentle, with thresholds for a slow link. NAME says whether ns-2
# waits between signals, as it does by default. It does not trace p: that changes at each arrival,
# and ns-2 writes its times with six digits.

set kind RED
set limit 60
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set gentle_ false
Queue/RED set adaptive_ 0
Queue/RED set thresh_ 5
Queue/RED set maxthresh_ 15
Queue/RED set q_weight_ 0.001953125
Queue/RED set linterm_ 10
Queue/RED set mean_pktsize_ 1000
Queue/RED set setbit_ $marks
Queue/RED set use_mark_p_ false
Queue/RED set wait_ [expr {![string match *-nowait* $name]}]
