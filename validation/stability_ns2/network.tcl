# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# network.tcl QUEUE LIMIT FTP FILES FIRST GAP SMALL REVERSE SEED: the network and the traffic of
# papers/stability in ns-2, with its own queue of that kind, at its defaults.
#
# The counts of connections are FTP, FILES (from path FIRST on, a file each GAP seconds), SMALL
# and REVERSE. What the paper leaves open is as in 90/scenario.toml: NewReno, no limit of the
# window, all from 0 s on, 50 packets on access links, files one behind the other, and each packet
# sent up to a packet's time later (overhead_). Prints, of 30 to 100 s: mean queue and its standard
# deviation over time (packets), throughput (Mbit/s), drops (%), connections that got through.

lassign $argv kind limit ftp files first gap small reverse seed
ns-random $seed
set ns [new Simulator]
$ns use-scheduler Heap
remove-all-packet-headers
add-packet-header IP TCP Flags
set begin_s 30.0
set end_s 100.0

set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b 100Mb 65ms $kind
$ns simplex-link $b $a 100Mb 65ms DropTail
$ns queue-limit $a $b $limit
foreach delay {0 12 25} {
	lappend senders [set node [$ns node]]
	$ns duplex-link $node $a 100Mb ${delay}ms DropTail
}
foreach delay {2 37 75} {
	lappend receivers [set node [$ns node]]
	$ns duplex-link $b $node 100Mb ${delay}ms DropTail
}
proc ends {path} {
	global senders receivers
	list [lindex $senders [expr {$path / 3 % 3}]] [lindex $receivers [expr {$path % 3}]]
}

# A packet's length is its data and the 40 bytes that ns-2 counts for headers.
proc connection {path data} {
	global ns tcps
	lassign [ends $path] from to
	set tcp [new Agent/TCP/Newreno]
	set sink [new Agent/TCPSink]
	$tcp set packetSize_ $data
	$tcp set window_ 1000000
	$tcp set overhead_ [expr {($data + 40) * 8 / 100e6}]
	$ns attach-agent $from $tcp
	$ns attach-agent $to $sink
	$ns connect $tcp $sink
	lappend tcps $tcp
	return $tcp
}
proc bulk {path data} {
	global ns
	set source [new Application/FTP]
	$source attach-agent [connection $path $data]
	$ns at 0 "$source start"
}

set gaps [new RandomVariable/Exponential]
$gaps set avg_ $gap
set sizes [new RandomVariable/Pareto]
$sizes set avg_ 50000
$sizes set shape_ 1.3
proc next_file {tcp} {
	global ns gaps
	$ns at [expr {[$ns now] + [$gaps value]}] "file $tcp"
}
rename file file_of_tcl
proc file {tcp} {
	global sizes
	$tcp advanceby [expr {int(ceil([$sizes value] / 1460))}]
	next_file $tcp
}

for {set path 0} {$path < $ftp} {incr path} {
	bulk $path 1460
}
for {set path 0} {$path < $files} {incr path} {
	next_file [connection [expr {$first - 1 + $path}] 1460]
}
for {set path 0} {$path < $small} {incr path} {
	bulk $path 496
}
for {set path 0} {$path < $reverse} {incr path} {
	lassign [ends $path] to from
	set udp [new Agent/UDP]
	set null [new Agent/Null]
	$ns attach-agent $from $udp
	$ns attach-agent $to $null
	$ns connect $udp $null
	set source [new Application/Traffic/CBR]
	$source set packetSize_ 1000
	$source set rate_ [expr {10e6 / $reverse}]
	$source attach-agent $udp
	$ns at 0 "$source start"
}

# The queue at each 10 ms; what passed, arrived and was dropped from the start of the window on.
set monitor [$ns monitor-queue $a $b ""]
set count 0
set sum 0
set squares 0
proc sample {} {
	global ns monitor count sum squares
	set packets [$monitor set pkts_]
	incr count
	incr sum $packets
	incr squares [expr {$packets * $packets}]
	$ns at [expr {[$ns now] + 0.01}] sample
}
proc counters {} {
	global monitor
	list [$monitor set bdepartures_] [$monitor set parrivals_] [$monitor set pdrops_]
}
proc finish {} {
	global before tcps count sum squares begin_s end_s
	foreach was $before is [counters] {
		lappend passed [expr {$is - $was}]
	}
	lassign $passed bytes arrived dropped
	set mean [expr {double($sum) / $count}]
	set sd [expr {sqrt(double($squares) / $count - $mean * $mean)}]
	set through 0
	foreach tcp $tcps {
		incr through [expr {[$tcp set ack_] > 0}]
	}
	puts "$mean $sd [expr {$bytes * 8 / ($end_s - $begin_s) / 1e6}] [expr {100.0 * $dropped / $arrived}] $through"
	exit 0
}
$ns at $begin_s {set before [counters]; sample}
$ns at $end_s finish
$ns run
