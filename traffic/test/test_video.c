// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* test_video.c: the viewer of video.c, by cases that were worked out by hand. */
#include "../../aqm/test/test.h"
#include "../video.c"

#define S NS_PER_S

static const char THREE[] = "4000000000 240000000000 1000000 2000000 3000000";

static struct stream *stream_of(const char *words)
{
	return (struct stream *)video_of(words);
}

static size_t rung_of(uint64_t level_s, size_t before)
{
	struct stream *stream = stream_of(THREE);
	size_t rung;

	stream->player.level_ns = level_s * S;
	stream->player.rung = before;
	rung = next_rung(&stream->player);
	end(&stream->application);
	return rung;
}

TEST(the_rung_follows_the_map_of_the_paper_and_keeps_still_between_its_neighbours)
{
	/* The reservoir, and what is above the cushion. */
	CHECK_EQ(rung_of(0, 2), 0);
	CHECK_EQ(rung_of(90, 2), 0);
	CHECK_EQ(rung_of(216, 0), 2);
	CHECK_EQ(rung_of(240, 0), 2);
	/* In the middle, at 153 s, the map allows 2 Mbit/s: the rung below from either side. */
	CHECK_EQ(rung_of(152, 0), 0);
	CHECK_EQ(rung_of(152, 1), 1);
	CHECK_EQ(rung_of(152, 2), 1);
	CHECK_EQ(rung_of(154, 0), 1);
	CHECK_EQ(rung_of(154, 1), 1);
	CHECK_EQ(rung_of(154, 2), 2);
}

TEST(a_stall_lasts_from_the_empty_buffer_to_the_next_segment)
{
	struct stream *stream = stream_of(THREE);
	struct player *player = &stream->player;

	take(player, 10 * S);
	CHECK_EQ(player->viewing.stalls, 0);
	/* 4 s were there, and 6 s passed. */
	take(player, 16 * S);
	take(player, 17 * S);
	player->rung = 2;
	take(player, 30 * S);
	CHECK_EQ(player->viewing.segments, 4);
	CHECK_EQ(player->viewing.bps, 6000000);
	CHECK_EQ(player->viewing.rungs, 6);
	CHECK_EQ(player->viewing.switches, 1);
	CHECK_EQ(player->viewing.stalls, 2);
	CHECK_EQ(player->viewing.stalled_ns, 2 * S + 6 * S);
	end(&stream->application);
}

TEST(a_stall_that_goes_on_is_counted_at_each_reading)
{
	struct stream *stream = stream_of(THREE);
	struct viewing seen;

	take(&stream->player, S);
	CHECK_EQ(viewing(&stream->application, 5 * S).stalls, 0);
	seen = viewing(&stream->application, 8 * S);
	CHECK_EQ(seen.stalls, 1);
	CHECK_EQ(seen.stalled_ns, 3 * S);
	take(&stream->player, 9 * S);
	seen = viewing(&stream->application, 9 * S);
	CHECK_EQ(seen.stalls, 1);
	CHECK_EQ(seen.stalled_ns, 4 * S);
	end(&stream->application);
}

TEST(a_full_buffer_waits_until_a_segment_has_room)
{
	struct stream *stream = stream_of(THREE);

	stream->player.level_ns = 239 * S;
	CHECK_EQ(choose(&stream->player), 3 * S);
	stream->player.level_ns = 236 * S;
	CHECK_EQ(choose(&stream->player), 0);
	end(&stream->application);
}

TEST(viewer_and_server_agree_on_every_byte)
{
	struct stream *stream = stream_of("4000000000 60000000000 1000000 2000000 3000000");
	struct application *both = &stream->application;
	uint64_t asked = 0;

	for (uint64_t second = 0; second < 40; second++) {
		struct decision request = next(both, END_TO, second * S);

		CHECK_EQ(request.bytes, REQUEST_BYTES);
		CHECK_EQ(next(both, END_FROM, second * S).heard_bytes,
		         (second + 1) * REQUEST_BYTES);
		asked += next(both, END_FROM, second * S).bytes;
		CHECK_EQ(request.hears, END_TO);
		CHECK_EQ(request.hears_bytes, asked);
		CHECK_EQ(next(both, END_TO, second * S).heard_bytes, asked);
	}
	/* Four seconds of video came each second: the buffer is full, and allows the top. */
	CHECK_EQ(stream->player.rung, 2);
	end(both);
}

TEST(a_stream_that_broke_off_in_a_segment_asks_anew_and_keeps_what_it_has)
{
	struct stream *stream = stream_of("4000000000 60000000000 1000000 2000000 3000000");
	struct application *both = &stream->application;
	struct decision request;

	for (uint64_t second = 0; second < 2; second++) {
		next(both, END_TO, second * S);
		for (int i = 0; i < 2; i++)
			next(both, END_FROM, second * S);
		next(both, END_TO, second * S);
	}
	/* One segment came, at 1 s; the second breaks off. */
	begins_anew(both);
	request = next(both, END_TO, 8 * S);
	CHECK_EQ(request.bytes, REQUEST_BYTES);
	CHECK_EQ(request.hears_bytes, 500000);
	CHECK_EQ(next(both, END_FROM, 8 * S).heard_bytes, REQUEST_BYTES);
	CHECK_EQ(next(both, END_FROM, 8 * S).bytes, 500000);
	CHECK_EQ(next(both, END_TO, 8 * S).heard_bytes, 500000);
	CHECK_EQ(viewing(both, 8 * S).segments, 1);
	CHECK_EQ(viewing(both, 8 * S).stalls, 1);
	CHECK_EQ(viewing(both, 8 * S).stalled_ns, 3 * S);
	end(both);
}

TEST(the_bytes_of_a_segment_are_rounded_up_at_any_rate)
{
	static const struct {
		uint64_t bps, ns, bytes;
	} CASES[] = {
	        {8, 1000000000, 1},
	        {9, 1000000000, 2},
	        {235000, 4000000000, 117500},
	        {1000001, 4000000000, 500001},
	        /* 3 Gbit/s for 1.5 s and a nanosecond: 4.5 * 10^9 + 3 bits. */
	        {3000000000, 1500000001, 562500001},
	        {10000000000000, 60000000000, 75000000000000},
	        {9999999999999, 59999999999, 74999999998743},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		char words[80];
		struct stream *stream;

		snprintf(words, sizeof(words), "%llu 1 %llu", (unsigned long long)CASES[i].ns,
		         (unsigned long long)CASES[i].bps);
		stream = stream_of(words);
		CHECK_EQ(segment_bytes(&stream->player), CASES[i].bytes);
		end(&stream->application);
	}
}
