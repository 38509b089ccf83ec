// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * tap.c: the packets of a router's queue, seen from outside: a packet socket where
 * they enter the router, one where they leave it.
 *
 *   tap IN OUT T0_NS END_MS NAME    all packets seen, in NAME.in and NAME.out: struct
 *                                   seen, with times after T0_NS; and in NAME.drops how
 *                                   many packets the queue 10: of OUT has dropped: struct
 *                                   reading. With - for IN only NAME.out
 *
 * The router must do nothing but forward.
 * Rings are shared memory read every 100 ms: no wake-up and no system call for a
 * packet, so that the tap costs the run little. Drops are read every 10 ms, since nothing else
 * tells when a packet went that is the last of its flow.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/gen_stats.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "attribute.h"

/* Only bytes that identify a packet are copied, to the end of the TCP timestamps: each page of
 * a ring is expensive in the guest. */
enum { V4_BYTES = 60, V6_BYTES = 72, SEEN_BYTES = ETH_HLEN + V6_BYTES, FRAME_BYTES = 176 };
/* 32736 frames hold 100 ms at 3.9 Gbit/s of full packets. */
enum { BLOCK_BYTES = 1 << 16, BLOCKS = 88, FRAMES_OF_BLOCK = BLOCK_BYTES / FRAME_BYTES };
enum { FRAMES = BLOCKS * FRAMES_OF_BLOCK };
static const uint64_t POLL_NS = 100000000, READ_NS = 10000000;
static const uint32_t QUEUE = 0x10 << 16; /* its handle, 10: */

struct seen {
	uint64_t at_ns;
	uint64_t key; /* hash of the bytes that identify this packet */
	uint32_t bytes;
	uint32_t flow; /* hash of addresses and ports */
	uint32_t ecn;
	uint32_t pad;
};

struct tap {
	int fd;
	uint8_t *ring;
	uint32_t next;
	struct seen *log;
	size_t n, room;
};

struct reading {
	uint64_t since_ns; /* the reading before */
	uint64_t at_ns;
	uint64_t dropped_pkts;
	uint64_t more_pkts; /* than at that */
};

struct counter {
	int fd, device;
	struct reading *log;
	uint64_t read_ns, dropped_pkts;
	size_t n, room;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* IP of one direction only: arrivals at one end, departures at the other. */
static void keep_only(int fd, int type)
{
	int outgoing = type == PACKET_OUTGOING;
	struct sock_filter code[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PROTOCOL)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 1, 0),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, 0, 3),
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, !outgoing, outgoing),
	        BPF_STMT(BPF_RET | BPF_K, SEEN_BYTES),
	        BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(*code), .filter = code};

	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)))
		die("filter");
}

static void open_tap(struct tap *tap, const char *interface, int type)
{
	/* Not ETH_P_IP: departures are shown only to sockets for all protocols. */
	struct sockaddr_ll where = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
	struct tpacket_req ring = {BLOCK_BYTES, BLOCKS, FRAME_BYTES, FRAMES};
	int version = TPACKET_V2, large = 1;

	tap->fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (tap->fd < 0)
		die("socket");
	keep_only(tap->fd, type);
	if (setsockopt(tap->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(tap->fd, SOL_PACKET, PACKET_VNET_HDR, &large, sizeof(large)) ||
	    setsockopt(tap->fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)))
		die("ring");
	tap->ring = mmap(NULL, (size_t)BLOCKS * BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
	                 tap->fd, 0);
	where.sll_ifindex = (int)if_nametoindex(interface);
	if (tap->ring == MAP_FAILED || bind(tap->fd, (void *)&where, sizeof(where)))
		die(interface);
}

static int is_v4(const uint8_t *ip)
{
	return ip[0] >> 4 == 4;
}

/* FNV-1a over the bytes behind the ECN bits to the TCP timestamps, without those that
 * forwarding changes: time to live and checksum; hop limit. */
static uint64_t key_of(const uint8_t *ip, uint32_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325u;
	uint32_t end = is_v4(ip) ? V4_BYTES : V6_BYTES;

	for (uint32_t i = 4; i < bytes && i < end; i++)
		if (is_v4(ip) ? i != 8 && i != 10 && i != 11 : i != 7)
			hash = (hash ^ ip[i]) * 0x100000001b3u;
	return hash;
}

/* FNV-1a over addresses and ports. */
static uint32_t flow_of(const uint8_t *ip)
{
	uint32_t hash = 0x811c9dc5u;
	uint32_t from = is_v4(ip) ? 12 : 8, to = is_v4(ip) ? 24 : 44;

	for (uint32_t i = from; i < to; i++)
		hash = (hash ^ ip[i]) * 0x01000193u;
	return hash;
}

static uint32_t ecn_of(const uint8_t *ip)
{
	return (is_v4(ip) ? ip[1] : ip[1] >> 4) & 3;
}

/* On the wire a large segment of TCP is several packets, each with the headers of all. */
static uint32_t wire_bytes(const uint8_t *frame, const volatile struct tpacket2_hdr *head)
{
	const uint8_t *ip = frame + head->tp_net, *tcp;
	struct virtio_net_hdr large;
	uint32_t headers, payload;

	memcpy(&large, frame + head->tp_mac - sizeof(large), sizeof(large));
	if (!large.gso_size)
		return head->tp_len;
	tcp = ip + (is_v4(ip) ? 4 * (ip[0] & 15) : 40);
	headers = ETH_HLEN + (uint32_t)(tcp - ip) + 4 * (tcp[12] >> 4);
	payload = head->tp_len - headers;
	return payload + (payload + large.gso_size - 1) / large.gso_size * headers;
}

static void drain(struct tap *tap)
{
	while (tap->ring) {
		uint8_t *frame = tap->ring +
		                 (size_t)(tap->next / FRAMES_OF_BLOCK) * BLOCK_BYTES +
		                 (size_t)(tap->next % FRAMES_OF_BLOCK) * FRAME_BYTES;
		volatile struct tpacket2_hdr *head = (void *)frame;
		struct seen *seen;

		if (!(head->tp_status & TP_STATUS_USER))
			return;
		if (tap->n == tap->room) {
			tap->room = tap->room ? 2 * tap->room : 1 << 16;
			tap->log = realloc(tap->log, tap->room * sizeof(*tap->log));
			if (!tap->log)
				die("log");
		}
		seen = &tap->log[tap->n++];
		seen->at_ns = head->tp_sec * 1000000000ull + head->tp_nsec;
		seen->bytes = wire_bytes(frame, head);
		seen->key = key_of(frame + head->tp_net, head->tp_snaplen - ETH_HLEN);
		seen->flow = flow_of(frame + head->tp_net);
		seen->ecn = ecn_of(frame + head->tp_net);
		head->tp_status = TP_STATUS_KERNEL;
		tap->next = (tap->next + 1) % FRAMES;
	}
}

static void open_counter(struct counter *counter, const char *interface)
{
	counter->fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	counter->device = (int)if_nametoindex(interface);
	if (counter->fd < 0 || !counter->device)
		die(interface);
}

/* What `tc -s qdisc show` says of the queue. */
static uint64_t ask(const struct counter *counter)
{
	static _Alignas(struct nlmsghdr) char answer[1 << 14];
	struct {
		struct nlmsghdr head;
		struct tcmsg body;
	} request = {
	        .head = {sizeof(request), RTM_GETQDISC, NLM_F_REQUEST | NLM_F_ECHO, 0, 0},
	        .body = {.tcm_ifindex = counter->device, .tcm_handle = QUEUE},
	};
	const struct nlmsghdr *head = (void *)answer;
	const struct tcmsg *message = NLMSG_DATA(head);
	const void *first = (const char *)message + NLMSG_ALIGN(sizeof(*message));
	const struct rtattr *stats;
	struct gnet_stats_queue queue;
	ssize_t bytes;

	if (send(counter->fd, &request, sizeof(request), 0) < 0)
		die("send");
	bytes = recv(counter->fd, answer, sizeof(answer), 0);
	if (bytes < 0 || !NLMSG_OK(head, (size_t)bytes) || head->nlmsg_type != RTM_NEWQDISC)
		die("the queue's statistics");
	stats = attribute(first, NLMSG_PAYLOAD(head, sizeof(*message)), TCA_STATS2);
	stats = inside(stats, TCA_STATS_QUEUE);
	if (!stats)
		die("the queue's counters");
	memcpy(&queue, RTA_DATA(stats), sizeof(queue));
	return queue.drops;
}

static void count(struct counter *counter, uint64_t at_ns)
{
	uint64_t dropped_pkts = ask(counter);

	if (dropped_pkts != counter->dropped_pkts) {
		if (counter->n == counter->room) {
			counter->room = counter->room ? 2 * counter->room : 1 << 12;
			counter->log =
			        realloc(counter->log, counter->room * sizeof(*counter->log));
			if (!counter->log)
				die("log");
		}
		counter->log[counter->n++] =
		        (struct reading){counter->read_ns, at_ns, dropped_pkts,
		                         dropped_pkts - counter->dropped_pkts};
		counter->dropped_pkts = dropped_pkts;
	}
	counter->read_ns = at_ns;
}

static void check_nothing_lost(const struct tap *tap)
{
	struct tpacket_stats stats;
	socklen_t size = sizeof(stats);

	if (!tap->ring)
		return;
	if (getsockopt(tap->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size))
		die("statistics");
	if (stats.tp_drops) {
		fprintf(stderr, "tap: ring overrun, %u packets not seen\n", stats.tp_drops);
		exit(1);
	}
}

/* At the end, in one piece: writing during the run would cost readings of the clock. */
static void write_log(const char *name, const char *end, const void *log, size_t size, size_t n)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s.%s", name, end);
	file = fopen(path, "wb");
	if (!file || fwrite(log, size, n, file) != n || fclose(file))
		die(path);
}

static void write_packets(struct tap *tap, const char *name, const char *end, uint64_t t0_ns)
{
	if (!tap->ring)
		return;
	for (size_t i = 0; i < tap->n; i++)
		tap->log[i].at_ns -= t0_ns;
	write_log(name, end, tap->log, sizeof(*tap->log), tap->n);
}

/* Until the end, with the rings as often as they need it. */
static void read_drops(struct tap *in, struct tap *out, struct counter *drops, uint64_t t0_ns,
                       uint64_t end_ns)
{
	for (uint64_t at_ns = t0_ns; at_ns <= end_ns; at_ns += READ_NS) {
		struct timespec at = {(time_t)(at_ns / 1000000000), (long)(at_ns % 1000000000)};

		clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL);
		count(drops, at_ns - t0_ns);
		if (at_ns % POLL_NS == 0) {
			drain(in);
			drain(out);
		}
	}
}

int main(int argc, char **argv)
{
	static struct tap in, out;
	static struct counter drops;
	uint64_t t0_ns, end_ns;

	if (argc != 6) {
		fprintf(stderr, "tap IN OUT T0_NS END_MS NAME\n");
		return 2;
	}
	t0_ns = strtoull(argv[3], NULL, 10);
	end_ns = t0_ns + strtoull(argv[4], NULL, 10) * 1000000;
	if (strcmp(argv[1], "-")) {
		open_tap(&in, argv[1], PACKET_HOST);
		open_counter(&drops, argv[2]);
	}
	open_tap(&out, argv[2], PACKET_OUTGOING);
	printf("tap ready\n");
	fflush(stdout);
	if (in.ring)
		read_drops(&in, &out, &drops, t0_ns, end_ns);
	for (uint64_t now_ns = 0; now_ns <= end_ns;) {
		struct timespec pause = {.tv_nsec = POLL_NS}, now;

		nanosleep(&pause, NULL);
		drain(&in);
		drain(&out);
		clock_gettime(CLOCK_REALTIME, &now);
		now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	}
	check_nothing_lost(&in);
	check_nothing_lost(&out);
	write_packets(&in, argv[5], "in", t0_ns);
	write_packets(&out, argv[5], "out", t0_ns);
	if (in.ring)
		write_log(argv[5], "drops", drops.log, sizeof(*drops.log), drops.n);
	return 0;
}
