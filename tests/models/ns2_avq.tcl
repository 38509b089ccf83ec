# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# ns2_avq.tcl: AVQ.

set kind Vq
set limit 30
Queue/Vq set queue_in_bytes_ true
Queue/Vq set mean_pktsize_ 1000
Queue/Vq set markpkts_ $marks
Queue/Vq set buflim_ 0.8
