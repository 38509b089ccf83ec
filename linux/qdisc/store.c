// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// store.c: where a trace build keeps its records, and shows them as the file `sojourn` of
// debugfs. The memory is taken once; what does not fit is counted and not kept.

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "store.h"

static unsigned int records = 1u << 18;
module_param(records, uint, 0444);
MODULE_PARM_DESC(records, "how many records of 96 bytes there is room for");

static DEFINE_SPINLOCK(lock);
static struct sojourn_records *head;
static struct debugfs_blob_wrapper blob;
static struct dentry *file;
static u32 queues;

static void write_record(const struct sojourn_record *record)
{
	if (head->records == records) {
		head->lost++;
		return;
	}
	memcpy(blob.data + blob.size, record, sizeof(*record));
	blob.size += sizeof(*record);
	head->records++;
}

void store_record(const struct sojourn_record *record)
{
	unsigned long flags;

	BUILD_BUG_ON(sizeof(*record) != 96);
	spin_lock_irqsave(&lock, flags);
	write_record(record);
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

int store_open(void)
{
	head = vzalloc(sizeof(*head) + (size_t)records * sizeof(struct sojourn_record));
	if (!head)
		return -ENOMEM;
	memcpy(head->magic, SOJOURN_RECORDS, sizeof(head->magic));
	head->record_bytes = sizeof(struct sojourn_record);
	head->head_bytes = sizeof(*head);
	blob.data = head;
	blob.size = sizeof(*head);
	file = debugfs_create_blob("sojourn", 0400, NULL, &blob);
	return 0;
}

void store_close(void)
{
	debugfs_remove(file);
	vfree(head);
}
