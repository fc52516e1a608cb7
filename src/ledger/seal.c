/*-------------------------------------------------------------------------
 *
 * seal.c
 *	  Adding the committed events of the log to the tree.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xlog.h"
#include "base/array.h"
#include "base/guard.h"
#include "ledger/checkpoint.h"
#include "ledger/leaf.h"
#include "ledger/seal.h"
#include "ledger/tree.h"
#include "miscadmin.h"
#include "settings.h"
#include "store/epoch.h"
#include "store/event.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* an event to be sealed */
typedef struct SealEvent
{
	int64		seq;
	uint64		xid;
	MerkleHash	leaf;
} SealEvent;

/* the events of one epoch, found in the order of their transactions */
typedef struct SealBatch
{
	int			epoch;
	uint64		before;			/* no transactions from here on */
	int			most;
	SealEvent  *events;
	int			n;
	int			room;
} SealBatch;

/* Was the last batch of this session full? */
static bool seal_has_more = false;

/* --------------------------------------------------------------- collecting */

static void
seal_add(SealBatch *batch, const RowScan *scan, uint64 xid)
{
	SealEvent  *event;

	array_make_room(batch->events, batch->n, batch->room);
	event = &batch->events[batch->n++];
	event->seq = rows_int8(scan, Anum_event_seq);
	event->xid = xid;
	event->leaf = leaf_hash(event->seq, rows_timestamp(scan, Anum_event_received_at),
							rows_jsonb(scan, Anum_event_envelope));
}

/*
 * Adds the events that carry this epoch, from a transaction on.  When the
 * batch has enough, it ends before the next transaction.
 */
static void
seal_collect(SealBatch *batch, int epoch, uint64 from, MemoryContext each)
{
	int			enough = batch->n + batch->most;
	uint64		last = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_POSITION, ROWS_LATEST, AccessShareLock);
	rows_key_int4(&scan, 1, BTEqualStrategyNumber, epoch);
	rows_key_xid8(&scan, 2, BTGreaterEqualStrategyNumber, from);
	rows_key_xid8(&scan, 2, BTLessStrategyNumber, batch->before);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		uint64		xid = rows_xid8(&scan, Anum_event_xid);
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		if (batch->n >= enough && xid != last)
		{
			batch->before = xid;
			break;
		}
		last = xid;
		old = MemoryContextSwitchTo(each);
		seal_add(batch, &scan, xid);
		MemoryContextSwitchTo(old);
		MemoryContextReset(each);
	}
	rows_end(&scan);
}

/*
 * Drops events after the end of the batch.  The second of two collections may
 * have ended before some events of the first.
 */
static void
seal_drop_later(SealBatch *batch)
{
	int			kept = 0;
	int			i;

	for (i = 0; i < batch->n; i++)
		if (batch->events[i].xid < batch->before)
			batch->events[kept++] = batch->events[i];
	batch->n = kept;
}

/*
 * Events that arrived by replication have the same transaction IDs, and the
 * negated epoch (store/epoch.h).
 */
static void
seal_collect_epoch(SealBatch *batch, uint64 from)
{
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch seal event",
											   ALLOCSET_DEFAULT_SIZES);

	seal_collect(batch, batch->epoch, from, each);
	seal_collect(batch, EPOCH_ELSEWHERE(batch->epoch), from, each);
	seal_drop_later(batch);
	MemoryContextDelete(each);
}

/* ----------------------------------------------------------------- the place */

/*
 * Returns a transaction such that all transactions of this epoch before it are
 * over.
 */
static uint64
seal_horizon(int epoch, int current)
{
	if (epoch < current)
		return PG_INT64_MAX;
	return epoch_full_xid(GetLatestSnapshot()->xmin);
}

/* Finds the first epoch that has events, starting at the last checkpoint. */
static void
seal_find(SealBatch *batch, const Checkpoint *newest)
{
	int			current = epoch_look();
	int			first = Max(newest->epoch, 1);
	int			epoch;

	for (epoch = first; epoch <= current && batch->n == 0; epoch++)
	{
		batch->epoch = epoch;
		batch->before = seal_horizon(epoch, current);
		seal_collect_epoch(batch, epoch == newest->epoch ? newest->xid : 0);
	}
}

/* ------------------------------------------------------------------- sealing */

static int
seal_compare(const void *a, const void *b)
{
	int64		x = ((const SealEvent *) a)->seq;
	int64		y = ((const SealEvent *) b)->seq;

	return x < y ? -1 : x > y;
}

/*
 * Returns the origin.  The name of the log stays the same, even in a copy of
 * the database.
 */
static Slice
seal_origin(const Checkpoint *newest)
{
	if (clutch_log_origin[0] != '\0')
		return slice_of_cstring(clutch_log_origin);
	if (newest->size > 0)
		return newest->origin;
	return slice_of_cstring(psprintf("clutch/" UINT64_FORMAT "-%u", GetSystemIdentifier(), MyDatabaseId));
}

static void
seal_append(SealBatch *batch, const Checkpoint *newest)
{
	TreeWriter *writer = tree_begin(newest->size);
	int64	   *seqs = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(int64) * batch->n);
	Checkpoint	next = {
		.size = newest->size + batch->n,
		.epoch = batch->epoch,
		.xid = batch->before,
		.sealed_at = GetCurrentTimestamp(),
		.origin = seal_origin(newest),
	};
	int			i;

	qsort(batch->events, batch->n, sizeof(SealEvent), seal_compare);
	for (i = 0; i < batch->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		seqs[i] = batch->events[i].seq;
		tree_add(writer, &batch->events[i].leaf);
	}
	tree_end(writer);
	next.root = merkle_root(next.size, tree_subtree);
	checkpoint_insert(&next, seqs, batch->n);
}

/*
 * The guard is kept until the transaction ends.  The next batch begins where
 * this one ends, so it must see this one committed.
 */
int64
seal_batch(int max_events)
{
	SealBatch	batch = {.most = max_events, .room = 1024};
	Checkpoint	newest;

	if (!guard_try_keep(guard_key(GUARD_LEDGER, SLICE_OF("ledger"), SLICE_NONE, 0)))
		return 0;
	newest = checkpoint_newest(ROWS_LATEST);
	batch.events = palloc(sizeof(SealEvent) * batch.room);
	seal_find(&batch, &newest);
	if (batch.n > 0)
		seal_append(&batch, &newest);
	seal_has_more = batch.n >= max_events;
	pfree(batch.events);
	return batch.n;
}

int64
seal_if_due(int max_events)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz last;

	if (clutch_seal_interval == 0)
		return 0;
	if (seal_has_more)
		return seal_batch(max_events);
	last = checkpoint_newest(ROWS_LATEST).sealed_at;
	if (last <= now && now - last < clutch_seal_interval * USECS_PER_SEC)
		return 0;
	return seal_batch(max_events);
}
