# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# The bench scenario for ns-2: usage `ns dumbbell.tcl SECONDS FLOWS QUEUE LIMIT`.
#
# As the scenario file has it: 100 Mbit/s, 50 ms round trip, CUBIC, an ACK for two packets.
# The graph is the scenario's as `sojourn show --expand` prints it: sender, router, receiver, and
# acknowledgements straight back. To ns-2's advantage only the packet headers in use are kept and
# nothing is traced or monitored. Prints how many packets the receivers have acknowledged.

if {$argc != 4} {
    puts stderr "usage: ns dumbbell.tcl SECONDS FLOWS QUEUE LIMIT"
    exit 2
}
foreach {seconds flows queue limit} $argv {}

remove-all-packet-headers
add-packet-header IP TCP Flags

Agent/TCP set packetSize_ 1460
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set window_ 100000
Agent/TCP set timestamps_ true
Agent/TCP set windowInit_ 10
# A random delay of up to one packet time at the sender, as in the scenario.
Agent/TCP set overhead_ 0.00012

set sim [new Simulator]
set sender [$sim node]
set router [$sim node]
set receiver [$sim node]
# Links without a rate do not exist here; at 1000 Gb/s a packet takes 12 ns.
$sim simplex-link $sender $router 1000Gb 0ms DropTail
$sim simplex-link $router $receiver 100Mb 25ms $queue
$sim simplex-link $receiver $sender 1000Gb 25ms DropTail
$sim queue-limit $sender $router 1000000
$sim queue-limit $router $receiver $limit
$sim queue-limit $receiver $sender 1000000

set start [new RandomVariable/Uniform]
$start set min_ 0.0
$start set max_ 1.0
for {set i 0} {$i < $flows} {incr i} {
    set tcp [new Agent/TCP/Linux]
    set sink [new Agent/TCPSink/Sack1/DelAck]
    $sink set ts_echo_rfc1323_ true
    $tcp set fid_ $i
    $sim attach-agent $sender $tcp
    $sim attach-agent $receiver $sink
    $sim connect $tcp $sink
    lappend senders $tcp
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $sim at 0 "$tcp select_ca cubic"
    $sim at [$start value] "$ftp start"
}

$sim at $seconds {
    set packets 0
    foreach tcp $senders { incr packets [$tcp set ack_] }
    puts "packets $packets"
    exit 0
}
$sim run
