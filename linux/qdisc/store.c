// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// store.c: where a trace build keeps its records. Memory is taken a piece at a time, as
// packets pass; records without room are counted and not kept.

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/module.h>
#include <linux/spinlock.h>

#include "store.h"

/* Pages of a piece: few pieces are needed, and even a busy kernel has that much. */
#define PIECE_ORDER 6
#define PIECE_BYTES (PAGE_SIZE << PIECE_ORDER)
/* 4 GB of records. */
#define PIECES 16384

static unsigned int records = 1u << 26;
module_param(records, uint, 0444);
MODULE_PARM_DESC(records, "how many records are kept at most");

static DEFINE_SPINLOCK(lock);
static struct sojourn_records head;
static u8 *pieces[PIECES];
static struct dentry *file;
static u32 queues;

/* Records never lie across two pieces. */
static u32 piece_records(void)
{
	return PIECE_BYTES / head.record_bytes;
}

/* Where the next record goes; NULL: nowhere. */
static u8 *room(void)
{
	u64 piece = div_u64(head.records, piece_records());
	u32 nth = head.records - piece * piece_records();

	if (head.records == records || piece == PIECES)
		return NULL;
	if (!pieces[piece])
		pieces[piece] = (u8 *)__get_free_pages(GFP_ATOMIC | __GFP_NOWARN, PIECE_ORDER);
	return pieces[piece] ? pieces[piece] + nth * head.record_bytes : NULL;
}

void store_record(const void *record)
{
	unsigned long flags;
	u8 *at;

	spin_lock_irqsave(&lock, flags);
	at = room();
	if (at) {
		memcpy(at, record, head.record_bytes);
		head.records++;
	} else {
		head.lost++;
	}
	spin_unlock_irqrestore(&lock, flags);
}

u32 store_queue(void)
{
	unsigned long flags;
	u32 number;

	spin_lock_irqsave(&lock, flags);
	number = queues++;
	spin_unlock_irqrestore(&lock, flags);
	return number;
}

/* Up to the end of the head or of a piece; the reader calls again for the rest. */
static ssize_t store_read(struct file *f, char __user *to, size_t bytes, loff_t *at)
{
	size_t full = (size_t)piece_records() * head.record_bytes;
	u64 end = head.records * head.record_bytes, from, piece;
	loff_t within;
	ssize_t done;

	if (*at < sizeof(head))
		return simple_read_from_buffer(to, bytes, at, &head, sizeof(head));
	from = *at - sizeof(head);
	if (from >= end)
		return 0;
	piece = div_u64(from, full);
	within = from - piece * full;
	done = simple_read_from_buffer(to, bytes, &within, pieces[piece],
	                               min_t(u64, full, end - piece * full));
	if (done > 0)
		*at += done;
	return done;
}

static const struct file_operations store_file = {
        .owner = THIS_MODULE,
        .read = store_read,
        .llseek = default_llseek,
};

int store_open(const char *magic, u32 record_bytes)
{
	memcpy(head.magic, magic, sizeof(head.magic));
	head.record_bytes = record_bytes;
	head.head_bytes = sizeof(head);
	file = debugfs_create_file("sojourn", 0400, NULL, NULL, &store_file);
	return 0;
}

void store_close(void)
{
	u32 i;

	debugfs_remove(file);
	for (i = 0; i < PIECES && pieces[i]; i++)
		free_pages((unsigned long)pieces[i], PIECE_ORDER);
}
