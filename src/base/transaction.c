/*-------------------------------------------------------------------------
 *
 * transaction.c
 *	  Doing with the end of a transaction what was remembered in it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/transaction.h"

static void
call(void (*function) (void))
{
	if (function)
		function();
}

static void
transaction_ends(XactEvent event, void *arg)
{
	TransactionWatch *watch = arg;

	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			call(watch->committing);
			return;
		case XACT_EVENT_PRE_PREPARE:
		case XACT_EVENT_PARALLEL_PRE_COMMIT:
			return;				/* still in it */
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_ABORT:
			call(watch->rolled_back);
			break;
		case XACT_EVENT_COMMIT:
			call(watch->committed);
			break;
		case XACT_EVENT_PREPARE:
			call(watch->prepared);
			break;
		case XACT_EVENT_PARALLEL_COMMIT:
			break;
	}
	call(watch->ended);
}

static void
savepoint_ends(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
			   void *arg)
{
	TransactionWatch *watch = arg;

	if (event == SUBXACT_EVENT_ABORT_SUB)
		call(watch->rolled_back);
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
		call(watch->released);
}

void
transaction_watch(TransactionWatch *watch)
{
	if (watch->watching)
		return;
	RegisterXactCallback(transaction_ends, watch);
	RegisterSubXactCallback(savepoint_ends, watch);
	watch->watching = true;
}
