/* SPDX-FileCopyrightText: 2026 The Sojourn authors */
/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * play.h: what the parts of play.c know of each other: scripts as they were read, visits and
 * conversations under way, and who moves them on.
 */
#ifndef SOJOURN_UML_PLAY_H
#define SOJOURN_UML_PLAY_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../traffic/application.h"
#include "../sockets.h"
#include "../transit.h"

#define NEVER UINT64_MAX

/* An end that has heard so many bytes waits, then writes or closes. */
struct move {
	uint64_t heard, wait_ns, bytes, hears_bytes;
	int hears; /* the end that hears `hears_bytes`, a transfer; -1: none does */
	int looks; /* it writes nothing, and does not close either */
};

/* A conversation of a visit. It begins `wait_ns` after the one at place `after` has heard so
 * many bytes, and is over when its opener has heard `done`. */
struct plan {
	int opener, after;
	uint64_t done, heard, wait_ns;
	struct move *moves[2];
	size_t nmoves[2];
	/* Of moves without end; no rate: they are those above. */
	uint64_t even_bytes[2], even_bps[2];
	char *words; /* of an application that decides all moves; else NULL */
};

struct visit {
	uint64_t wait_ns;
	int page;
	struct plan *plans;
	size_t nplans;
};

/* Datagrams of an end, by number. */
struct datagrams {
	uint64_t *sent_ns;
	unsigned char *came; /* a bit for each that has arrived */
	size_t count;
};

struct flow {
	unsigned number;
	char space[2][32], cc[16];
	union endpoint address[2];
	in_port_t port;
	uint64_t start_ns, stop_ns;
	int open, echo, again, udp, dscp, listener, stopped;
	struct visit *visits;
	size_t nvisits, next;
	uint64_t delivered[2], opened;
	struct counts past; /* of connections that are over */
	uint32_t srtt_us;
	struct datagrams sent[2]; /* by sender */
	uint64_t *rtt_ns;         /* of echoes, by number */
	uint64_t *took_ns;        /* of datagrams that arrived at end 1 since they were told */
	size_t ntook;
	struct transit transit[2]; /* by receiver; none of echoes */
	struct application *application;
	uint64_t decided_ns;   /* the last time that it was told */
	struct viewing viewed; /* of an application that is over */
};

/* A visit under way. */
struct stay {
	size_t flow, left, number; /* which of the flow's, from 1 */
	const struct visit *visit;
	uint64_t begun_ns;
	char *begun; /* by conversation */
	int broken;  /* one of them broke off */
};

/* The end that hears it has heard `from` bytes before it, and `bytes` with it. */
struct transfer {
	uint64_t from, bytes, begun_ns, first_ns;
	size_t number; /* of its connection, from 1 */
};

struct side {
	int fd, connected, closed, fin_sent, peer_closed, waiting;
	uint64_t heard, owed;
	uint64_t waited; /* number of the move whose wait is over, plus one */
	size_t next, ndecided;
	struct move decided; /* the last decision */
	int lowat;
	uint32_t events;
	struct transfer *transfers;
	size_t ntransfers, first;
};

/* A conversation under way. */
struct talk {
	size_t flow, stay, place, visit, ntransfers;
	uint64_t opened_ns;
	const struct plan *plan; /* none: free */
	unsigned age;
	int over, broken;
	in_port_t port; /* its opener's */
	struct side sides[2];
};

/* play.c: what happens when. */
extern uint64_t t0_ns;
/* Returns when the event under way was due. A wait counts from then, so delays do not add up.
 * An event of the network is due when the clock says that it came. */
uint64_t here(void);
/* A reading moves the guest's clock by 256 ns: there is one at most for all that happens now.
 */
uint64_t clock_ns(void);
extern int epoll;
/* The kind of a descriptor in `epoll`: a flow's, an end's of a conversation, or the timer. */
enum what { LISTENER, TALK, TIMER };

/* script.c: reads scripts line by line. */
extern struct flow *flows;
extern size_t nflows;
int read_line(const char *line);
/* Room for one more in an array. */
void *more(void *array, size_t count, size_t size);

/* timers.c: reminders, the next one on top. */
enum cause { VISIT, OPENING, MOVE };
struct timer {
	uint64_t at_ns, order;
	enum cause cause;
	size_t number;
	int end;
	unsigned age;
};
void remind(uint64_t at_ns, enum cause cause, size_t number, int end, unsigned age);
uint64_t next_timer_ns(void);
struct timer take_timer(void);

/* visits.c: visits, and when the conversations in them begin and are over. */
extern struct stay *stays;
void on_visit(size_t flow);
void follow(size_t number, uint64_t heard);
void end_talk(size_t number);

/* talks.c: conversations, from their opening to their end. */
extern struct talk *talks;
extern size_t ntalks;
/* Tells whether an end ever writes. */
int writes(const struct plan *plan, int end);
/* Tells whether the counts of its TCP belong to the flow, as in the engine. */
int counts(const struct talk *talk, int end);
void listen_for(size_t flow);
void on_listener(size_t flow);
void start_talk(size_t flow, size_t stay, size_t place, uint64_t wait_ns);
void open_talk(size_t number);
void settle(size_t number);
void stop(size_t flow);

/* applications.c: what decides the moves of a flow's conversation, where no script does. */
void begin_application(struct flow *flow, const char *words);
void end_application(struct flow *flow);
/* Returns the time that its decisions are told. It never goes back. */
uint64_t decision_ns(struct flow *flow);
/* Move n of an end. Each is asked for once, in order. */
struct move decide(struct talk *talk, int end, size_t n);
struct viewing viewing_of(struct flow *flow);

/* moves.c: what an end does when it has heard enough and waited long enough. */
uint64_t even_ns(const struct plan *plan, int end, uint64_t n);
/* How many bytes its next move waits for, where that is known. */
uint64_t awaited(const struct talk *talk, int end);
void speak(size_t number, int end);

/* ends.c: bytes at an end, and what it is woken for. */
void watch(size_t number, int end);
void wake_at_least(size_t number, int end);
void flush(size_t number, int end);
void drain(size_t number, int end);
void on_talk(size_t number, int end, uint32_t events);

/* transfers.c: what an end is to hear, and the table of it. */
extern int tells_transfers;
void begin_transfer(struct talk *talk, const struct move *move);
uint64_t transfer_wakes_at(const struct side *side);
void hear_transfers(struct talk *talk, int end);
void tell_unfinished(const struct talk *talk);
void tell_all_unfinished(void);

/* datagrams.c: those of flows without connections. */
void send_datagram(struct flow *flow, int fd, int end, uint64_t bytes);
void take_datagrams(size_t number, int end);
uint64_t expected_pkts(const struct flow *flow);
void print_echoes(void);
void print_delays(int edge, struct flow *flow);

/* tell.c: what is printed. */
void tell(const char *what, size_t flow, uint64_t begun_ns);
void print_counts(int edge);
void take_sample(void);

#endif
