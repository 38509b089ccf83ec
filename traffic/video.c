// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * video.c: adaptive streaming. A viewer asks for a video segment by segment over one
 * connection, each at a rung of a ladder of bit rates. The buffer alone chooses the rung: BBA-0
 * of Huang et al., "A Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014.
 *
 *   video SEGMENT_NS BUFFER_NS RATE_BPS ...    video in a segment; that is kept at most; the
 *       ladder, from the least rate on
 */
#include "kind.h"

/* Bytes of a request for a segment. */
static const uint64_t REQUEST_BYTES = 300;
/* Bounds of the cushion, of a buffer of 240 s (section 4: 90 s, and 126 s from there). */
static const double CUSHION_FROM = 90.0 / 240.0, CUSHION_TO = 216.0 / 240.0;

/* The buffer, and what is played from it. */
struct player {
	uint64_t *ladder_bps;
	size_t rungs; /* at least one */
	uint64_t segment_ns, buffer_ns;
	size_t rung;              /* of the segment that was asked for last */
	size_t before;            /* of the one that came last */
	int has_begun;            /* one has come */
	uint64_t level_ns, at_ns; /* video in the buffer, then */
	int stalls;               /* the picture stands still now */
	struct viewing viewing;
};

/* Viewer and server of one stream. */
struct stream {
	struct application application;
	struct player player;
	uint64_t asked_bytes; /* of all segments that were asked for */
	uint64_t requests;
	uint64_t answers; /* requests that the server waited for, and those that it answered */
	int waits;        /* the viewer waits for the segment that it asked for */
};

/* Rounded up. Both factors are split at 10^9, so that no product leaves 64 bits: a segment has
 * less than 2^36 ns. */
static uint64_t segment_bytes(const struct player *player)
{
	uint64_t bps = player->ladder_bps[player->rung], ns = player->segment_ns;
	uint64_t part = bps % NS_PER_S * (ns % NS_PER_S);
	uint64_t bits = bps / NS_PER_S * ns + bps % NS_PER_S * (ns / NS_PER_S) +
	                (part + NS_PER_S - 1) / NS_PER_S;

	return (bits + 7) / 8;
}

/* Plays until now. Before the first segment nothing stalls. */
static void play(struct player *player, uint64_t now_ns)
{
	uint64_t since_ns = now_ns - player->at_ns;

	player->at_ns = now_ns;
	if (!player->has_begun)
		return;
	if (since_ns <= player->level_ns) {
		player->level_ns -= since_ns;
		return;
	}
	player->viewing.stalls += !player->stalls;
	player->viewing.stalled_ns += since_ns - player->level_ns;
	player->stalls = 1;
	player->level_ns = 0;
}

/* A segment has come: it is played at once if the picture stands still. */
static void take(struct player *player, uint64_t now_ns)
{
	play(player, now_ns);
	player->stalls = 0;
	player->level_ns += player->segment_ns;
	player->viewing.segments++;
	player->viewing.bps += player->ladder_bps[player->rung];
	player->viewing.rungs += player->rung + 1;
	player->viewing.switches += player->has_begun && player->before != player->rung;
	player->before = player->rung;
	player->has_begun = 1;
}

static double rate_bps(const struct player *player, size_t rung)
{
	return (double)player->ladder_bps[rung];
}

/* Algorithm 1 of the paper. */
static size_t next_rung(const struct player *player)
{
	size_t top = player->rungs - 1, rung = player->rung;
	size_t above = rung < top ? rung + 1 : top, below = rung ? rung - 1 : 0;
	double level = (double)player->level_ns, buffer = (double)player->buffer_ns;
	double from = CUSHION_FROM * buffer, to = CUSHION_TO * buffer, least, allowed;

	if (level <= from)
		return 0;
	if (level >= to)
		return top;
	least = rate_bps(player, 0);
	allowed = least + (rate_bps(player, top) - least) * (level - from) / (to - from);
	if (allowed >= rate_bps(player, above)) {
		for (rung = top; rung && rate_bps(player, rung) >= allowed; rung--)
			;
	} else if (allowed <= rate_bps(player, below)) {
		for (rung = 0; rung < top && rate_bps(player, rung) <= allowed; rung++)
			;
	}
	return rung;
}

/* Chooses the next segment's rung; gives how long to wait until the buffer has room for it. */
static uint64_t choose(struct player *player)
{
	uint64_t full_ns = player->level_ns + player->segment_ns;

	player->rung = next_rung(player);
	return full_ns > player->buffer_ns ? full_ns - player->buffer_ns : 0;
}

/* The viewer asks, waits for the whole segment, and asks for the next one. */
static struct decision view(struct stream *stream, uint64_t now_ns)
{
	uint64_t wait_ns;

	if (stream->waits) {
		stream->waits = 0;
		return (struct decision){.heard_bytes = stream->asked_bytes, .hears = -1};
	}
	if (stream->requests)
		take(&stream->player, now_ns);
	else
		play(&stream->player, now_ns);
	wait_ns = choose(&stream->player);
	stream->asked_bytes += segment_bytes(&stream->player);
	stream->requests++;
	stream->waits = 1;
	return (struct decision){.wait_ns = wait_ns,
	                         .bytes = REQUEST_BYTES,
	                         .hears = END_TO,
	                         .hears_bytes = stream->asked_bytes};
}

/* The server hears a request, and then answers it. It knows the rung without being told: so all
 * requests have one length. */
static struct decision serve(struct stream *stream)
{
	struct decision decision = {.hears = -1};

	if (stream->answers++ % 2)
		decision.bytes = segment_bytes(&stream->player);
	else
		decision.heard_bytes = (stream->answers + 1) / 2 * REQUEST_BYTES;
	return decision;
}

static struct decision next(struct application *application, int end, uint64_t now_ns)
{
	struct stream *stream = (struct stream *)application;

	return end == END_TO ? view(stream, now_ns) : serve(stream);
}

static void begins_anew(struct application *application)
{
	struct stream *stream = (struct stream *)application;

	stream->asked_bytes = stream->requests = stream->answers = 0;
	stream->waits = 0;
}

static struct viewing viewing(const struct application *application, uint64_t now_ns)
{
	struct player player = ((const struct stream *)application)->player;

	play(&player, now_ns);
	return player.viewing;
}

static void end(struct application *application)
{
	free(((struct stream *)application)->player.ladder_bps);
	free(application);
}

struct application *video_of(const char *words)
{
	static const struct kind KIND = {.opener = END_TO,
	                                 .next = next,
	                                 .viewing = viewing,
	                                 .begins_anew = begins_anew,
	                                 .end = end};
	struct stream *stream = room(NULL, sizeof(*stream));
	struct player *player = &stream->player;
	uint64_t bps;

	*stream = (struct stream){.application.kind = &KIND};
	if (read_u64(&words, &player->segment_ns) && read_u64(&words, &player->buffer_ns))
		while (read_u64(&words, &bps)) {
			player->ladder_bps =
			        room(player->ladder_bps, (player->rungs + 1) * sizeof(bps));
			player->ladder_bps[player->rungs++] = bps;
		}
	if (player->rungs)
		return &stream->application;
	end(&stream->application);
	return NULL;
}
