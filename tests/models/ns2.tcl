# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# ns2.tcl SETTINGS NAME MARKS OUT PROB: a queue of ns-2's between TCP flows of several packet sizes.
#
# SETTINGS is a script that sets the kind of queue, its limit and its variables. OUT is what the
# queue does; PROB its probability at each change, if it traces one.
#
# ns-2 writes times in whole microseconds. Here every packet takes a whole number of them, so that
# they are exact. A queue with a timer sets `late_s`, less than half of one: packets come so much
# later, never as the timer does, and the times that are written stay the same.

lassign $argv settings name marks out prob
set ns [new Simulator]
set traced 0
set late_s 0
source $settings
set end_s 16
Agent/TCP set ecn_ $marks
Agent/TCP set window_ 1000

set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b 10Mb 10ms $kind
$ns simplex-link $b $a 10Mb 10ms DropTail
$ns queue-limit $a $b $limit
set events [open $out w]
$ns trace-queue $a $b $events
set changes [open $prob w]
if {$traced} {
	set queue [[$ns link $a $b] queue]
	$queue attach $changes
	$queue trace prob_
}

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
	$ns at [expr {0.5 * ($number + 1) + $late_s}] "$ftp start"
	$ns at [expr {$end_s - 2.0 * ($number + 1)}] "$ftp stop"
	incr number
}
$ns at $end_s "close $events; close $changes; exit 0"
$ns run
