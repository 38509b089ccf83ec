// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * play.c: scripts of conversations over real sockets, as the engine's
 * crates/sim/src/net/play.rs plays them. All ends are in one process, which is asleep whenever
 * possible: a guest that spins would stop virtual time.
 *
 *   play T0_NS < SCRIPTS > PLAYED        times are after T0_NS of the wall clock
 *
 *   edge NS                              read all counters then; the last one ends the run
 *   steps, group                         see steps.h
 *   flow NUMBER PORT FROM TO SOURCE TARGET CC START_NS STOP_NS OPEN ECHO
 *       FROM and TO are network namespaces, SOURCE and TARGET addresses in them, ends 0 and 1.
 *       With OPEN a visit waits from the begin of the one before, else from its end. With the
 *       word `udp` for CC the writes of end 0 are datagrams, which with ECHO end 1 sends back.
 *   visit WAIT_NS PAGE                   of the flow above; PAGE: how long it takes is told
 *   talk OPENER DONE AFTER HEARD WAIT_NS of the visit above: a connection. Its opener is done
 * when it has heard DONE bytes (-1: when both ends are closed). It is opened WAIT_NS after the
 * opener of talk AFTER of the visit has heard HEARD bytes (-1: at once). move END HEARD WAIT_NS
 * BYTES HEARS HEARS_BYTES of the talk above: when END has heard HEARD bytes, and WAIT_NS later,
 * it writes BYTES (0: it closes). A transfer is complete when end HEARS (-1: none) has heard
 * HEARS_BYTES.
 *
 *   count EDGE FLOW DELIVERED_BYTES ANSWERED_BYTES OPENED DATA_PKTS RETRANSMITTED_PKTS TIMEOUTS
 *       SRTT_US ARRIVED_PKTS DELAY_NS DIFFERENCES DIFFERENCES_NS EXPECTED_PKTS
 *       delivered to end 1, answered to end 0; the last five of datagrams, as in traffic.c
 *   done FLOW AT_NS TOOK_NS              a transfer that is complete
 *   page FLOW AT_NS TOOK_NS              a visit that is over
 *   echo FLOW SENT_NS RTT_NS             at the end of the run: a datagram, and when it came
 * back (0: it has not)
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "steps.h"

enum { MAX_EDGES = 4096, MAX_SPACES = 1024, EVENTS = 64 };
/* As in traffic.c: how much wakes a reader, and how much unsent data a socket holds. */
enum { READ_AT_LEAST_BYTES = 16384, UNSENT_BYTES = 131072 };
/* Newer than the headers that programs are built with: behind rcv_wnd and rehash. */
enum { TOTAL_RTO_AT = offsetof(struct tcp_info, tcpi_snd_wnd) + 12 };
enum what { LISTENER, TALK, TIMER };
enum cause { VISIT, OPENING, MOVE };

#define NEVER UINT64_MAX

struct move {
	uint64_t heard, wait_ns, bytes, hears_bytes;
	int hears;
};

struct plan {
	int opener, after;
	uint64_t done, heard, wait_ns;
	struct move *moves[2];
	size_t nmoves[2];
};

struct visit {
	uint64_t wait_ns;
	int page;
	struct plan *plans;
	size_t nplans;
};

struct counts {
	uint64_t data_pkts, retransmitted_pkts, timeouts;
};

struct transit {
	uint64_t arrived_pkts, delay_ns, differences, differences_ns, last_ns;
};

struct flow {
	unsigned number;
	char space[2][32], cc[16];
	struct sockaddr_in address[2];
	in_port_t port;
	uint64_t start_ns, stop_ns;
	int open, echo, udp, listener, stopped;
	struct visit *visits;
	size_t nvisits, next;
	uint64_t delivered[2], opened;
	struct counts past; /* of connections that are over */
	uint32_t srtt_us;
	uint64_t *sent_ns, *rtt_ns; /* of datagrams, by number */
	size_t nsent;
	struct transit transit;
};

/* A visit under way. */
struct stay {
	size_t flow, left;
	const struct visit *visit;
	uint64_t begun_ns;
	char *begun; /* by conversation */
};

struct transfer {
	uint64_t bytes, begun_ns;
};

struct side {
	int fd, connected, closed, fin_sent, peer_closed, waiting;
	uint64_t heard, owed, waited; /* number of the move whose wait is over, plus one */
	size_t next;
	int lowat;
	uint32_t events;
	struct transfer *transfers;
	size_t ntransfers, first;
};

/* A conversation under way. */
struct talk {
	size_t flow, stay, place;
	const struct plan *plan; /* none: free */
	unsigned age;
	int over;
	in_port_t port; /* its opener's */
	struct side sides[2];
};

struct timer {
	uint64_t at_ns, order;
	enum cause cause;
	size_t number;
	int end;
	unsigned age;
};

static struct flow *flows;
static struct stay *stays;
static struct talk *talks;
static struct timer *timers;
static size_t nflows, nstays, ntalks, ntimers, timers_max;
static uint64_t edges_ns[MAX_EDGES], t0_ns, orders;
/* When what happens now was due: waits do not add up how late they were. */
static uint64_t here_ns;
static uint64_t longest_ns; /* delay of any datagram so far */
static int nedges, epoll;
static char payload[1 << 16];

_Noreturn static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *more(void *array, size_t count, size_t size)
{
	/* Doubled at each power of two. */
	if (count & (count - 1) && count)
		return array;
	array = realloc(array, (count ? 2 * count : 1) * size);
	if (!array)
		die("memory");
	return array;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void enter(const char *space)
{
	static struct {
		char name[32];
		int fd;
	} known[MAX_SPACES];
	static int n, inside = -1;
	char path[64];
	int i;

	for (i = 0; i < n && strcmp(known[i].name, space); i++)
		;
	if (i == n) {
		snprintf(path, sizeof(path), "/run/netns/%s", space);
		if (n == MAX_SPACES || (known[n].fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
			die(path);
		snprintf(known[n++].name, sizeof(known->name), "%s", space);
	}
	if (i != inside && setns(known[i].fd, CLONE_NEWNET))
		die(space);
	inside = i;
}

static void option(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		die("setsockopt");
}

static int open_socket(const struct flow *flow, int end)
{
	int fd;

	enter(flow->space[end]);
	fd = socket(AF_INET, (flow->udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK, 0);
	if (fd < 0)
		die("socket");
	if (flow->udp)
		return fd;
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, flow->cc, strlen(flow->cc)))
		die(flow->cc);
	option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_BYTES);
	return fd;
}

/* Timers, the next one on top. */
static int sooner(const struct timer *a, const struct timer *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void remind(uint64_t at_ns, enum cause cause, size_t number, int end, unsigned age)
{
	struct timer timer = {at_ns, orders++, cause, number, end, age};
	size_t i = ntimers++;

	if (ntimers > timers_max) {
		timers_max = timers_max ? 2 * timers_max : 64;
		timers = realloc(timers, timers_max * sizeof(*timers));
		if (!timers)
			die("memory");
	}
	for (; i && sooner(&timer, &timers[(i - 1) / 2]); i = (i - 1) / 2)
		timers[i] = timers[(i - 1) / 2];
	timers[i] = timer;
}

static struct timer take_timer(void)
{
	struct timer first = timers[0], last = timers[--ntimers];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < ntimers) {
		child += child + 1 < ntimers && sooner(&timers[child + 1], &timers[child]);
		if (!sooner(&timers[child], &last))
			break;
		timers[i] = timers[child];
		i = child;
	}
	timers[i] = last;
	return first;
}

/* What an end is to be woken for. */
static void watch(size_t number, int end)
{
	struct side *side = &talks[number].sides[end];
	struct epoll_event event = {.data.u64 =
	                                    (uint64_t)number << 3 | (uint64_t)end << 2 | TALK};
	int how = side->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (side->fd < 0)
		return;
	event.events = EPOLLERR; /* which is always told: so none is zero */
	event.events |= side->peer_closed ? 0 : EPOLLIN;
	if (!flows[talks[number].flow].udp)
		event.events |= side->owed || !side->connected ? EPOLLOUT : 0;
	if (event.events == side->events)
		return;
	if (epoll_ctl(epoll, how, side->fd, &event))
		die("epoll_ctl");
	side->events = event.events;
}

static struct counts counts_of(int fd, uint32_t *srtt_us)
{
	char info[512] = {0};
	const struct tcp_info *tcp = (void *)info;
	socklen_t size = sizeof(info);
	uint16_t timeouts = 0;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &size))
		die("TCP_INFO");
	if (size >= TOTAL_RTO_AT + sizeof(timeouts))
		memcpy(&timeouts, info + TOTAL_RTO_AT, sizeof(timeouts));
	if (srtt_us)
		*srtt_us = tcp->tcpi_rtt;
	return (struct counts){tcp->tcpi_data_segs_out, tcp->tcpi_total_retrans, timeouts};
}

static void add(struct counts *sum, struct counts counts)
{
	sum->data_pkts += counts.data_pkts;
	sum->retransmitted_pkts += counts.retransmitted_pkts;
	sum->timeouts += counts.timeouts;
}

static void leave(struct talk *talk, int end)
{
	struct flow *flow = &flows[talk->flow];
	struct side *side = &talk->sides[end];

	if (side->fd < 0)
		return;
	if (!flow->udp)
		add(&flow->past, counts_of(side->fd, end ? NULL : &flow->srtt_us));
	close(side->fd);
	side->fd = -1;
}

static void free_talk(struct talk *talk)
{
	for (int end = 0; end < 2; end++)
		free(talk->sides[end].transfers);
	talk->plan = NULL;
	talk->age++;
}

static void end_talk(size_t number);
static void open_talk(size_t number);
static void drain(size_t number, int end);

static size_t claim_talk(size_t flow, size_t stay, size_t place)
{
	struct talk *talk;
	size_t i;
	unsigned age;
	static size_t hint;

	for (i = 0; i < ntalks && talks[(i + hint) % ntalks].plan; i++)
		;
	if (i == ntalks) {
		talks = more(talks, ntalks, sizeof(*talks));
		memset(&talks[ntalks], 0, sizeof(*talks));
		hint = ntalks++;
	} else {
		hint = (i + hint) % ntalks;
	}
	talk = &talks[hint];
	age = talk->age;
	*talk = (struct talk){.flow = flow, .stay = stay, .place = place, .age = age};
	talk->plan = &stays[stay].visit->plans[place];
	talk->sides[0].fd = talk->sides[1].fd = -1;
	return hint;
}

/* Begins a conversation of a visit, now or after a wait. */
static void start_talk(size_t flow, size_t stay, size_t place, uint64_t wait_ns)
{
	size_t number = claim_talk(flow, stay, place);

	stays[stay].begun[place] = 1;
	if (wait_ns)
		remind(here_ns + wait_ns, OPENING, number, 0, talks[number].age);
	else
		open_talk(number);
}

static void begin_visit(size_t flow)
{
	const struct visit *visit = &flows[flow].visits[flows[flow].next++];
	struct stay *stay;
	size_t number;

	for (number = 0; number < nstays && stays[number].visit; number++)
		;
	if (number == nstays) {
		stays = more(stays, nstays, sizeof(*stays));
		nstays++;
	}
	stay = &stays[number];
	*stay = (struct stay){flow, visit->nplans, visit, here_ns,
	                      calloc(1, visit->nplans + 1)};
	if (!stay->begun)
		die("memory");
	for (size_t i = 0; i < visit->nplans; i++)
		if (visit->plans[i].after < 0)
			start_talk(flow, number, i, 0);
}

static void remind_of_visit(size_t number)
{
	struct flow *flow = &flows[number];

	if (!flow->stopped && flow->next < flow->nvisits)
		remind(here_ns + flow->visits[flow->next].wait_ns, VISIT, number, 0, 0);
}

static void on_visit(size_t flow)
{
	if (flows[flow].stopped)
		return;
	begin_visit(flow);
	if (flows[flow].open)
		remind_of_visit(flow);
}

static void tell(const char *what, size_t flow, uint64_t begun_ns)
{
	printf("%s %u %llu %llu\n", what, flows[flow].number,
	       (unsigned long long)(here_ns - t0_ns), (unsigned long long)(here_ns - begun_ns));
}

/* The opener is done with a conversation, and perhaps with the visit. */
static void end_talk(size_t number)
{
	struct talk *talk = &talks[number];
	struct stay *stay = &stays[talk->stay];
	size_t flow = talk->flow;

	if (talk->over)
		return;
	talk->over = 1;
	if (--stay->left)
		return;
	if (stay->visit->page)
		tell("page", flow, stay->begun_ns);
	free(stay->begun);
	stay->visit = NULL;
	if (!flows[flow].open)
		remind_of_visit(flow);
}

/* Begins what waits for so many bytes at this conversation. */
static void follow(size_t number, uint64_t heard)
{
	size_t stay = talks[number].stay, place = talks[number].place,
	       flow = talks[number].flow;
	const struct visit *visit = stays[stay].visit;

	if (talks[number].over)
		return;
	for (size_t i = 0; i < visit->nplans; i++) {
		const struct plan *plan = &visit->plans[i];

		if (plan->after == (int)place && plan->heard <= heard && !stays[stay].begun[i])
			start_talk(flow, stay, i, plan->wait_ns);
	}
	if (talks[number].plan->done <= heard)
		end_talk(number);
}

/* At how many bytes an end has something to do: it is woken then, or for as many as are worth
 * it. */
static void wake_at_least(size_t number, int end)
{
	struct talk *talk = &talks[number];
	struct side *side = &talk->sides[end];
	const struct plan *plan = talk->plan;
	uint64_t wake = NEVER, most = side->heard + READ_AT_LEAST_BYTES;

	if (side->fd < 0 || flows[talk->flow].udp)
		return;
	if (!side->waiting && side->next < plan->nmoves[end] &&
	    plan->moves[end][side->next].heard > side->heard)
		wake = plan->moves[end][side->next].heard;
	if (side->first < side->ntransfers && side->transfers[side->first].bytes < wake)
		wake = side->transfers[side->first].bytes;
	if (end == plan->opener && !talk->over) {
		const struct visit *visit = stays[talk->stay].visit;

		if (plan->done < wake)
			wake = plan->done;
		for (size_t i = 0; i < visit->nplans; i++)
			if (visit->plans[i].after == (int)talk->place &&
			    !stays[talk->stay].begun[i] && visit->plans[i].heard < wake)
				wake = visit->plans[i].heard;
	}
	if (wake <= side->heard || wake > most)
		wake = most;
	if ((int)(wake - side->heard) != side->lowat) {
		side->lowat = (int)(wake - side->heard);
		option(side->fd, SOL_SOCKET, SO_RCVLOWAT, side->lowat);
	}
}

/* Hands over what is owed, then the end of it. */
static void flush(size_t number, int end)
{
	struct side *side = &talks[number].sides[end];

	while (side->fd >= 0 && side->connected && side->owed) {
		size_t most = side->owed < sizeof(payload) ? side->owed : sizeof(payload);
		ssize_t sent = send(side->fd, payload, most, MSG_NOSIGNAL);

		if (sent <= 0)
			break;
		side->owed -= (uint64_t)sent;
	}
	if (side->fd >= 0 && side->connected && !side->owed && side->closed &&
	    !side->fin_sent) {
		side->fin_sent = 1;
		shutdown(side->fd, SHUT_WR);
	}
}

/* No two datagrams are equal: taps identify them by their content. The receiver also reads from
 * it when they were sent. */
static void send_datagram(struct flow *flow, int fd, uint64_t bytes)
{
	uint64_t number = flow->nsent;

	flow->sent_ns = more(flow->sent_ns, flow->nsent, sizeof(*flow->sent_ns));
	flow->rtt_ns = more(flow->rtt_ns, flow->nsent, sizeof(*flow->rtt_ns));
	flow->sent_ns[flow->nsent] = here_ns;
	flow->rtt_ns[flow->nsent++] = 0;
	memcpy(payload, &number, sizeof(number));
	if (send(fd, payload, bytes, 0) < 0 && errno != EAGAIN)
		die("send");
}

static void note_datagram(struct transit *transit, uint64_t delay_ns)
{
	if (delay_ns > longest_ns)
		longest_ns = delay_ns;
	if (transit->arrived_pkts) {
		transit->differences++;
		transit->differences_ns += delay_ns > transit->last_ns
		                                   ? delay_ns - transit->last_ns
		                                   : transit->last_ns - delay_ns;
	}
	transit->arrived_pkts++;
	transit->delay_ns += delay_ns;
	transit->last_ns = delay_ns;
}

static void take_datagrams(struct flow *flow, int fd, int end)
{
	struct sockaddr_in peer;
	socklen_t size = sizeof(peer);
	uint64_t number = 0;
	ssize_t bytes;

	while ((bytes = recvfrom(fd, &number, sizeof(number), MSG_TRUNC, (void *)&peer,
	                         &size)) > 0) {
		uint64_t took_ns = here_ns - flow->sent_ns[number];

		flow->delivered[end] += (uint64_t)bytes;
		if (!end) {
			flow->rtt_ns[number] = took_ns;
			continue;
		}
		note_datagram(&flow->transit, took_ns);
		memcpy(payload, &number, sizeof(number));
		if (flow->echo &&
		    sendto(fd, payload, (size_t)bytes, 0, (void *)&peer, size) < 0 &&
		    errno != EAGAIN)
			die("sendto");
		number = 0;
	}
}

/* Datagrams sent longer ago than the longest delay so far: they have arrived, or are lost. */
static uint64_t expected_pkts(const struct flow *flow)
{
	size_t low = 0, high = flow->nsent;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (flow->sent_ns[middle] + longest_ns < here_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void act(size_t number, int end, const struct move *move)
{
	struct talk *talk = &talks[number];
	struct side *side = &talk->sides[end];

	if (flows[talk->flow].udp) {
		if (move->bytes)
			send_datagram(&flows[talk->flow], side->fd, move->bytes);
		return;
	}
	if (move->hears >= 0) {
		struct side *hears = &talk->sides[move->hears];

		hears->transfers =
		        more(hears->transfers, hears->ntransfers, sizeof(struct transfer));
		hears->transfers[hears->ntransfers++] =
		        (struct transfer){move->hears_bytes, here_ns};
		wake_at_least(number, move->hears);
	}
	side->owed += move->bytes;
	side->closed |= !move->bytes;
	flush(number, end);
}

/* Waits of a move whose bytes were heard, until its time. */
static int waits(size_t number, int end, size_t next)
{
	struct side *side = &talks[number].sides[end];
	const struct move *move = &talks[number].plan->moves[end][next];

	if (move->heard > side->heard)
		return 1;
	if (!move->wait_ns || side->waited == next + 1)
		return 0;
	side->waiting = 1;
	side->waited = next + 1;
	remind(here_ns + move->wait_ns, MOVE, number, end, talks[number].age);
	return 1;
}

/* Lets an end do all that it can do now. */
static void speak(size_t number, int end)
{
	const struct plan *plan = talks[number].plan;

	for (;;) {
		struct side *side = &talks[number].sides[end];
		size_t next = side->next;

		if (side->waiting)
			break;
		if (next == plan->nmoves[end]) {
			if (side->peer_closed && !side->closed) {
				side->closed = 1;
				flush(number, end);
			}
			break;
		}
		if (waits(number, end, next))
			break;
		side->next++;
		/* The wait of the one behind it begins with it. */
		if (side->next < plan->nmoves[end])
			waits(number, end, side->next);
		act(number, end, &plan->moves[end][next]);
	}
	wake_at_least(number, end);
	watch(number, end);
}

static void open_talk(size_t number)
{
	struct talk *talk = &talks[number];
	struct flow *flow = &flows[talk->flow];
	int end = talk->plan->opener;
	struct sockaddr_in from = flow->address[end], to = flow->address[!end];
	socklen_t size = sizeof(from);
	int fd = open_socket(flow, end);

	flow->opened++;
	/* The port is drawn when the peer is known: more connections than ports. */
	option(fd, IPPROTO_IP, 24 /* IP_BIND_ADDRESS_NO_PORT */, 1);
	if (bind(fd, (void *)&from, sizeof(from)))
		die("bind");
	to.sin_port = flow->port;
	if (connect(fd, (void *)&to, sizeof(to)) && errno != EINPROGRESS)
		die("connect");
	if (getsockname(fd, (void *)&from, &size))
		die("getsockname");
	talk->port = from.sin_port;
	talk->sides[end].fd = fd;
	if (flow->udp) {
		talk->sides[!end].fd = flow->listener;
		watch(number, !end);
	}
	speak(number, end);
}

static void on_listener(size_t flow)
{
	struct sockaddr_in peer;
	socklen_t size = sizeof(peer);
	int fd;

	while ((fd = accept4(flows[flow].listener, (void *)&peer, &size, SOCK_NONBLOCK)) >= 0) {
		size_t i;

		for (i = 0; i < ntalks; i++) {
			const struct talk *talk = &talks[i];

			if (talk->plan && talk->flow == flow && talk->port == peer.sin_port &&
			    talk->sides[!talk->plan->opener].fd < 0)
				break;
		}
		if (i == ntalks) {
			close(fd); /* its opener is gone */
			continue;
		}
		option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_BYTES);
		talks[i].sides[!talks[i].plan->opener].fd = fd;
		talks[i].sides[!talks[i].plan->opener].connected = 1;
		speak(i, !talks[i].plan->opener);
		drain(i, !talks[i].plan->opener);
	}
}

/* Both ends have closed, or one was reset. */
static void settle(size_t number)
{
	struct talk *talk = &talks[number];
	int gone[2];

	for (int end = 0; end < 2; end++) {
		struct side *side = &talk->sides[end];

		if (side->fd >= 0 && side->fin_sent && side->peer_closed)
			leave(talk, end);
		gone[end] = side->fd < 0 && side->fin_sent && side->peer_closed;
	}
	if (gone[talk->plan->opener])
		end_talk(number);
	if (gone[0] && gone[1])
		free_talk(talk);
}

static void on_heard(size_t number, int end)
{
	struct side *side = &talks[number].sides[end];

	while (side->first < side->ntransfers &&
	       side->transfers[side->first].bytes <= side->heard) {
		tell("done", talks[number].flow, side->transfers[side->first++].begun_ns);
		if (side->first == side->ntransfers)
			side->first = side->ntransfers = 0;
	}
	if (end == talks[number].plan->opener)
		follow(number, side->heard);
	speak(number, end);
}

/* Reads what there is. Conversations that begin meanwhile move the arrays. */
static void drain(size_t number, int end)
{
	ssize_t bytes = 0;

	while (talks[number].sides[end].fd >= 0 && !talks[number].sides[end].peer_closed &&
	       (bytes = recv(talks[number].sides[end].fd, NULL, 1 << 24, MSG_TRUNC)) > 0) {
		talks[number].sides[end].heard += (uint64_t)bytes;
		flows[talks[number].flow].delivered[end] += (uint64_t)bytes;
		on_heard(number, end);
	}
	if (talks[number].sides[end].fd < 0)
		return;
	if (bytes == 0 || (bytes < 0 && errno != EAGAIN)) {
		talks[number].sides[end].peer_closed = 1;
		if (bytes < 0)
			talks[number].sides[end].fin_sent = talks[number].sides[end].closed = 1;
		speak(number, end);
	}
	settle(number);
}

static void on_talk(size_t number, int end, uint32_t events)
{
	struct side *side = &talks[number].sides[end];

	if (!talks[number].plan || side->fd < 0)
		return;
	if (flows[talks[number].flow].udp) {
		take_datagrams(&flows[talks[number].flow], side->fd, end);
		return;
	}
	if (events & EPOLLOUT) {
		side->connected = 1;
		flush(number, end);
		watch(number, end);
	}
	drain(number, end);
}

/* Without a packet to the peer, as in the engine: repair mode sends no reset. */
static void stop(size_t flow)
{
	flows[flow].stopped = 1;
	flows[flow].stop_ns = NEVER;
	for (size_t i = 0; i < ntalks; i++) {
		struct talk *talk = &talks[i];

		if (!talk->plan || talk->flow != flow)
			continue;
		for (int end = 0; end < 2; end++) {
			if (talk->sides[end].fd >= 0 && !flows[flow].udp)
				option(talk->sides[end].fd, IPPROTO_TCP, TCP_REPAIR, 1);
			leave(talk, end);
		}
		free_talk(talk);
	}
}

static void on_timer(const struct timer *timer)
{
	struct talk *talk = &talks[timer->number];

	if (timer->cause == VISIT) {
		on_visit(timer->number);
		return;
	}
	if (!talk->plan || talk->age != timer->age)
		return;
	if (timer->cause == OPENING) {
		open_talk(timer->number);
		return;
	}
	talk->sides[timer->end].waiting = 0;
	speak(timer->number, timer->end);
	if (!flows[talk->flow].udp)
		settle(timer->number);
}

static void print_counts(int edge)
{
	for (size_t i = 0; i < ntalks; i++)
		for (int end = 0; end < 2; end++)
			on_talk(i, end, 0);
	for (size_t i = 0; i < nflows; i++) {
		struct flow *flow = &flows[i];
		struct counts counts = flow->past;

		counts.data_pkts += flow->nsent;
		for (size_t j = 0; j < ntalks; j++)
			for (int end = 0; end < 2 && !flow->udp; end++)
				if (talks[j].plan && talks[j].flow == i &&
				    talks[j].sides[end].fd >= 0)
					add(&counts, counts_of(talks[j].sides[end].fd,
					                       end ? NULL : &flow->srtt_us));
		printf("count %d %u %llu %llu %llu %llu %llu %llu %u %llu %llu %llu %llu "
		       "%llu\n",
		       edge, flow->number, (unsigned long long)flow->delivered[1],
		       (unsigned long long)flow->delivered[0], (unsigned long long)flow->opened,
		       (unsigned long long)counts.data_pkts,
		       (unsigned long long)counts.retransmitted_pkts,
		       (unsigned long long)counts.timeouts, flow->srtt_us,
		       (unsigned long long)flow->transit.arrived_pkts,
		       (unsigned long long)flow->transit.delay_ns,
		       (unsigned long long)flow->transit.differences,
		       (unsigned long long)flow->transit.differences_ns,
		       (unsigned long long)expected_pkts(flow));
	}
}

static void print_step(void)
{
	for (size_t i = 0; i < nflows; i++)
		steps_flow(flows[i].number, flows[i].delivered[0], flows[i].delivered[1]);
	for (size_t i = 0; i < ntalks; i++)
		for (int end = 0; end < 2; end++)
			if (talks[i].plan && talks[i].sides[end].fd >= 0 &&
			    !flows[talks[i].flow].udp)
				steps_socket(flows[talks[i].flow].number, end,
				             talks[i].sides[end].fd);
	steps_print();
}

static void print_echoes(void)
{
	for (size_t i = 0; i < nflows; i++)
		for (size_t n = 0; flows[i].echo && n < flows[i].nsent; n++)
			printf("echo %u %llu %llu\n", flows[i].number,
			       (unsigned long long)(flows[i].sent_ns[n] - t0_ns),
			       (unsigned long long)flows[i].rtt_ns[n]);
}

static void handle(const struct epoll_event *event, int timer)
{
	uint64_t expired;

	switch ((enum what)(event->data.u64 & 3)) {
	case LISTENER:
		on_listener(event->data.u64 >> 3);
		break;
	case TALK:
		on_talk(event->data.u64 >> 3, event->data.u64 >> 2 & 1, event->events);
		break;
	case TIMER:
		if (read(timer, &expired, sizeof(expired)) < 0 && errno != EAGAIN)
			die("timer");
		break;
	}
}

static uint64_t next_ns(int edge)
{
	uint64_t next = edges_ns[edge];

	if (steps_next_ns() < next)
		next = steps_next_ns();
	if (ntimers && timers[0].at_ns < next)
		next = timers[0].at_ns;
	for (size_t i = 0; i < nflows; i++)
		next = flows[i].stop_ns < next ? flows[i].stop_ns : next;
	return next;
}

static void run(void)
{
	int timer = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
	struct epoll_event on = {.events = EPOLLIN, .data.u64 = TIMER}, events[EVENTS];

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &on))
		die("epoll_ctl");
	for (int edge = 0; edge < nedges;) {
		uint64_t next = next_ns(edge), now;
		struct itimerspec when = {.it_value = {next / 1000000000, next % 1000000000}};

		if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL))
			die("timerfd_settime");
		for (int i = 0, n = epoll_wait(epoll, events, EVENTS, -1); i < n; i++) {
			here_ns = now_ns();
			handle(&events[i], timer);
		}
		now = here_ns = now_ns();
		/* A reading comes before what happens at its time, as in the engine. */
		while (steps_next_ns() <= now)
			print_step();
		while (edge < nedges && edges_ns[edge] <= now)
			print_counts(edge++);
		for (size_t i = 0; i < nflows; i++)
			if (flows[i].stop_ns <= now)
				stop(i);
		while (ntimers && timers[0].at_ns <= now) {
			struct timer due = take_timer();

			here_ns = due.at_ns;
			on_timer(&due);
		}
	}
}

static int read_flow(const char *line)
{
	struct flow *flow;
	char address[2][32];
	unsigned port;
	unsigned long long start_ns, stop_ns;

	flows = more(flows, nflows, sizeof(*flows));
	flow = memset(&flows[nflows++], 0, sizeof(*flow));
	if (sscanf(line, "flow %u %u %31s %31s %31s %31s %15s %llu %llu %d %d", &flow->number,
	           &port, flow->space[0], flow->space[1], address[0], address[1], flow->cc,
	           &start_ns, &stop_ns, &flow->open, &flow->echo) != 11)
		return -1;
	flow->udp = !strcmp(flow->cc, "udp");
	for (int end = 0; end < 2; end++) {
		flow->address[end].sin_family = AF_INET;
		inet_pton(AF_INET, address[end], &flow->address[end].sin_addr);
	}
	flow->port = htons((uint16_t)port);
	flow->start_ns = t0_ns + start_ns;
	flow->stop_ns = stop_ns ? t0_ns + stop_ns : NEVER;
	return 0;
}

static int read_part(const char *line)
{
	struct flow *flow = nflows ? &flows[nflows - 1] : NULL;
	struct visit *visit = flow && flow->nvisits ? &flow->visits[flow->nvisits - 1] : NULL;
	struct plan *plan = visit && visit->nplans ? &visit->plans[visit->nplans - 1] : NULL;
	unsigned long long a, b, c, d;
	long long done;
	int end, other;

	if (flow && sscanf(line, "visit %llu %d", &a, &end) == 2) {
		flow->visits = more(flow->visits, flow->nvisits, sizeof(*visit));
		flow->visits[flow->nvisits++] = (struct visit){.wait_ns = a, .page = end};
	} else if (visit && sscanf(line, "talk %d %lld %d %llu %llu", &end, &done, &other, &a,
	                           &b) == 5) {
		visit->plans = more(visit->plans, visit->nplans, sizeof(*plan));
		visit->plans[visit->nplans++] =
		        (struct plan){.opener = end & 1,
		                      .after = other,
		                      .heard = a,
		                      .wait_ns = b,
		                      .done = done < 0 ? NEVER : (uint64_t)done};
	} else if (plan && sscanf(line, "move %d %llu %llu %llu %d %llu", &end, &a, &b, &c,
	                          &other, &d) == 6) {
		end &= 1;
		plan->moves[end] =
		        more(plan->moves[end], plan->nmoves[end], sizeof(struct move));
		plan->moves[end][plan->nmoves[end]++] = (struct move){a, b, c, d, other};
	} else {
		return -1;
	}
	return 0;
}

static void listen_for(size_t number)
{
	struct flow *flow = &flows[number];
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = number << 3 | LISTENER};
	struct sockaddr_in address;
	int end;

	if (!flow->nvisits)
		return;
	end = !flow->visits[0].plans[0].opener;
	address = flow->address[end];
	address.sin_port = flow->port;
	flow->listener = open_socket(flow, end);
	if (bind(flow->listener, (void *)&address, sizeof(address)) ||
	    (!flow->udp && listen(flow->listener, 512)))
		die("listen");
	if (!flow->udp && epoll_ctl(epoll, EPOLL_CTL_ADD, flow->listener, &event))
		die("epoll_ctl");
	remind(flow->start_ns + flow->visits[0].wait_ns, VISIT, number, 0, 0);
}

int main(int argc, char **argv)
{
	char line[512];
	/* A listener for each flow, and both ends of each connection. */
	struct rlimit files = {1 << 18, 1 << 18};

	if (argc != 2) {
		fprintf(stderr, "play T0_NS < SCRIPTS\n");
		return 2;
	}
	t0_ns = strtoull(argv[1], NULL, 10);
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("RLIMIT_NOFILE");
	epoll = epoll_create1(0);
	while (fgets(line, sizeof(line), stdin)) {
		unsigned long long ns;

		if (sscanf(line, "edge %llu", &ns) == 1 && nedges < MAX_EDGES) {
			edges_ns[nedges++] = t0_ns + ns;
		} else if (steps_line(line, t0_ns)) {
			continue;
		} else if (strncmp(line, "flow ", 5) ? read_part(line) : read_flow(line)) {
			fprintf(stderr, "play: what is '%s'?\n", line);
			return 2;
		}
	}
	for (size_t i = 0; i < nflows; i++)
		listen_for(i);
	run();
	print_echoes();
	return 0;
}
