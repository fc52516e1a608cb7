/*-------------------------------------------------------------------------
 *
 * restored.c
 *	  The first write in a restored copy of the database.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "flow/requeue.h"
#include "flow/restored.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "store/epoch.h"
#include "utils/memutils.h"
#include "wake/mailbox.h"
#include "wake/notify.h"

static void
restored_void_leases(void)
{
	int64		n;
	List	   *ids = task_list_live(&n);
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch void lease",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each);
	ListCell   *cell;

	foreach(cell, ids)
	{
		Task	   *task = task_lock(*(Slice *) lfirst(cell));

		CHECK_FOR_INTERRUPTS();
		if (task != NULL && task->status == TASK_RUNNING)
			requeue_void(task);
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
}

int
restored_epoch(void)
{
	bool		is_new;
	int			epoch = epoch_current(&is_new);

	if (is_new)
		restored_void_leases();
	/*
	 * Until now, the worker has left everything that is due alone.  That the
	 * copy has begun is not undone by a rollback, so the worker is told at
	 * once.  If it sees no row of the epoch yet, it goes on waiting until it is
	 * told again.
	 */
	if (epoch_begin_copy())
	{
		(void) mailbox_due(clock_now());
		is_new = true;
	}
	if (is_new)
		notify_due(clock_now());
	return epoch;
}
