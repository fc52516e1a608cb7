/*-------------------------------------------------------------------------
 *
 * queue_rollback.c
 *	  Rollbacks of transactions that have looked at queues.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/transaction.h"
#include "queue/queue.h"

/*
 * How often a transaction or savepoint of this session has rolled back that
 * looked at a queue: what it took is there again, below the places that the
 * session remembers.  "used" says whether the current one has looked.
 */
static uint64 rollbacks = 0;
static bool used = false;

uint64
queue_rollbacks(void)
{
	return rollbacks;
}

static void
queue_note_rollback(void)
{
	if (used)
		rollbacks++;
}

static void
queue_note_end(void)
{
	used = false;
}

static TransactionWatch queue_watch = {.rolled_back = queue_note_rollback, .ended = queue_note_end};

void
queue_watch_rollbacks(void)
{
	transaction_watch(&queue_watch);
	used = true;
}
