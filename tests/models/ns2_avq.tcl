# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# ns2_avq.tcl MARKS OUT: ns-2's AVQ between TCP flows of several packet sizes; what its queue does.
#
# ns-2 writes times in whole microseconds. Here every packet takes a whole number of them, so that
# they are exact.

lassign $argv marks out
set end_s 16
set ns [new Simulator]
Queue/Vq set queue_in_bytes_ true
Queue/Vq set mean_pktsize_ 1000
Queue/Vq set markpkts_ $marks
Queue/Vq set buflim_ 0.8
Agent/TCP set ecn_ $marks
Agent/TCP set window_ 1000

set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b 10Mb 10ms Vq
$ns simplex-link $b $a 10Mb 10ms DropTail
$ns queue-limit $a $b 30
set events [open $out w]
$ns trace-queue $a $b $events

# Flows come and go, so that overload, a filled link and a half-empty one alternate.
set number 0
foreach size {460 960 1460 960 210 1460} {
	set tcp [new Agent/TCP/Sack1]
	set sink [new Agent/TCPSink/Sack1]
	$tcp set packetSize_ $size
	$tcp set fid_ $number
	$ns attach-agent $a $tcp
	$ns attach-agent $b $sink
	$ns connect $tcp $sink
	set ftp [new Application/FTP]
	$ftp attach-agent $tcp
	$ns at [expr {0.5 * ($number + 1)}] "$ftp start"
	$ns at [expr {$end_s - 2.0 * ($number + 1)}] "$ftp stop"
	incr number
}
$ns at $end_s "close $events; exit 0"
$ns run
