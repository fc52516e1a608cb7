/*-------------------------------------------------------------------------
 *
 * transaction.c
 *	  Callbacks for the end of transactions and savepoints.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/transaction.h"
#include "commands/trigger.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

static TransactionWatch *first_watch = NULL;
static TransactionWatch **last_link = &first_watch;

/* calls one function of each watch, by the name of its member */
#define CALL_EACH(member) \
	do { \
		TransactionWatch *w_; \
		for (w_ = first_watch; w_ != NULL; w_ = w_->next) \
			if (w_->member) \
				w_->member(); \
	} while (0)

/* -------------------------------------------------------- before the commit */

static bool
transaction_watch_is_unsettled(const TransactionWatch *watch)
{
	return watch->settling != NULL && (watch->unsettled == NULL || watch->unsettled());
}

/* A watch may open a table to find out. */
static bool
transaction_is_unsettled(void)
{
	ResourceOwner owner = CurrentResourceOwner;
	bool		unsettled = false;
	TransactionWatch *watch;

	CurrentResourceOwner = TopTransactionResourceOwner;
	for (watch = first_watch; watch != NULL && !unsettled; watch = watch->next)
		unsettled = transaction_watch_is_unsettled(watch);
	CurrentResourceOwner = owner;
	return unsettled;
}

/*
 * A subtransaction may be started while the transaction is about to end, but
 * if one is rolled back there, RollbackAndReleaseCurrentSubTransaction fails
 * an assertion about the state of its parent (PostgreSQL 15 to 18).
 * Therefore, a server with assertions is given another parent.
 */
static bool
transaction_call_settling(TransactionWatch *watch)
{
#ifdef USE_ASSERT_CHECKING
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	bool		did_something;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	did_something = watch->settling();
	ReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return did_something;
#else
	return watch->settling();
#endif
}

/*
 * SET TRANSACTION READ ONLY does not affect what has been written before, so
 * it must not affect the consequences either.  After an error, the next
 * transaction sets XactReadOnly again.
 */
static bool
transaction_call_settling_writable(TransactionWatch *watch)
{
	bool		was_read_only = XactReadOnly;
	bool		did_something;

	XactReadOnly = false;
	did_something = transaction_call_settling(watch);
	XactReadOnly = was_read_only;
	return did_something;
}

/*
 * Calls each watch once, on a snapshot that includes what the previous one has
 * done.
 */
static bool
transaction_settle_each(void)
{
	TransactionWatch *watch;
	bool		did_something = false;

	for (watch = first_watch; watch != NULL; watch = watch->next)
	{
		if (!transaction_watch_is_unsettled(watch))
			continue;
		PushActiveSnapshot(GetTransactionSnapshot());
		if (transaction_call_settling_writable(watch))
			did_something = true;
		PopActiveSnapshot();
	}
	return did_something;
}

/*
 * CommitTransaction and PrepareTransaction have fired deferred triggers and
 * closed portals before they call us, and will not do so again.  So we must
 * fire the triggers that settling has queued, and close the cursors that those
 * have opened.
 */
static void
transaction_settle_until_done(bool is_prepare)
{
	while (transaction_is_unsettled() && transaction_settle_each())
	{
		do
			AfterTriggerFireDeferred();
		while (PreCommit_Portals(is_prepare));
	}
}

static bool committing = false;

bool
transaction_is_committing(void)
{
	return committing;
}

/*
 * After an error, aborting the transaction restores the memory context and the
 * resource owner.
 */
static void
transaction_settle(bool is_prepare)
{
	ResourceOwner owner = CurrentResourceOwner;
	MemoryContext context = AllocSetContextCreate(TopTransactionContext, "clutch settling",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	CurrentResourceOwner = TopTransactionResourceOwner;
	committing = true;
	transaction_settle_until_done(is_prepare);
	committing = false;
	CurrentResourceOwner = owner;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* ------------------------------------------------------------- the callbacks */

static void
transaction_ends(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			if (transaction_is_unsettled())
				transaction_settle(false);
			CALL_EACH(committing);
			return;
		case XACT_EVENT_PRE_PREPARE:
			CALL_EACH(preparing);
			if (transaction_is_unsettled())
				transaction_settle(true);
			return;
		case XACT_EVENT_PARALLEL_PRE_COMMIT:
			return;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_ABORT:
			committing = false;
			CALL_EACH(rolled_back);
			break;
		case XACT_EVENT_COMMIT:
			CALL_EACH(committed);
			break;
		case XACT_EVENT_PREPARE:
			CALL_EACH(prepared);
			break;
		case XACT_EVENT_PARALLEL_COMMIT:
			break;
	}
	CALL_EACH(ended);
}

static void
transaction_savepoint_ends(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
						   void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		CALL_EACH(rolled_back);
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
		CALL_EACH(released);
}

/*
 * The new watch goes to the end of the list, so that it is still called in the
 * current phase if another watch registers it there.
 */
void
transaction_watch(TransactionWatch *watch)
{
	if (watch->watching)
		return;
	if (first_watch == NULL)
	{
		RegisterXactCallback(transaction_ends, NULL);
		RegisterSubXactCallback(transaction_savepoint_ends, NULL);
	}
	*last_link = watch;
	last_link = &watch->next;
	watch->watching = true;
}
