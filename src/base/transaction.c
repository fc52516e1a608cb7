/*-------------------------------------------------------------------------
 *
 * transaction.c
 *	  Forgetting with a transaction what was remembered in it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/transaction.h"

static void
transaction_ends(XactEvent event, void *arg)
{
	TransactionWatch *watch = arg;

	/* still in it */
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE ||
		event == XACT_EVENT_PARALLEL_PRE_COMMIT)
		return;
	if ((event == XACT_EVENT_ABORT || event == XACT_EVENT_PARALLEL_ABORT) &&
		watch->rolled_back)
		watch->rolled_back();
	if (watch->ended)
		watch->ended();
}

static void
savepoint_ends(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
			   void *arg)
{
	TransactionWatch *watch = arg;

	if (event == SUBXACT_EVENT_ABORT_SUB && watch->rolled_back)
		watch->rolled_back();
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
