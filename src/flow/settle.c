/*-------------------------------------------------------------------------
 *
 * settle.c
 *	  Settling: handling what a transaction has caused for other tasks.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/rows.h"
#include "base/savepoint.h"
#include "base/transaction.h"
#include "base/wait.h"
#include "flow/agenda.h"
#include "flow/callee.h"
#include "flow/cancel.h"
#include "flow/dependency.h"
#include "flow/displace.h"
#include "flow/due.h"
#include "flow/emission.h"
#include "flow/join.h"
#include "flow/lift.h"
#include "flow/liveness.h"
#include "flow/offer.h"
#include "flow/postponed.h"
#include "flow/settle.h"
#include "flow/suspend.h"
#include "flow/tick.h"
#include "miscadmin.h"
#include "settings.h"
#include "task/task.h"
#include "trust/principal.h"
#include "utils/memutils.h"

/*
 * Set while handlers are at work.  What they append goes through the door,
 * which must not settle again.
 */
static bool settling = false;

/*
 * how many postponed entries are handled by a transaction that does a share of
 * a tick's work
 */
#define POSTPONED_SHARE	16

/* Returns false if a task is busy, so that the entry must be postponed. */
static bool
settle_one(const Consequence *consequence)
{
	switch (consequence->kind)
	{
		case CONSEQUENCE_CANCEL_CHILDREN:
			return cancel_settle_children(consequence);
		case CONSEQUENCE_CANCEL:
			return cancel_settle(consequence);
		case CONSEQUENCE_ORPHAN:
			return cancel_settle_orphan(consequence);
		case CONSEQUENCE_DEPENDENT:
			return dependency_settle(consequence);
		case CONSEQUENCE_JOIN:
			return join_settle(consequence);
		case CONSEQUENCE_WAKE:
			return suspend_settle(consequence);
		case CONSEQUENCE_LIFT:
			return lift_settle(consequence);
		case CONSEQUENCE_SHARE:
			return emission_settle_share(consequence);
		case CONSEQUENCE_ROUTE:
			return offer_settle_task(consequence);
		case CONSEQUENCE_DISPLACE:
			return displace_settle(consequence);
		case CONSEQUENCE_CALL:
			return callee_settle(consequence);
		case CONSEQUENCE_TAKE_AWAY:
			return liveness_settle_task(consequence);
		case CONSEQUENCE_EMIT:
			return emission_settle(consequence);
		case CONSEQUENCE_GIVE_UP:
			return liveness_settle_agent(consequence);
		case CONSEQUENCE_TIMED_OUT:
			return liveness_settle_timeout(consequence);
		case CONSEQUENCE_OFFER:
			return offer_settle(consequence);
		case CONSEQUENCE_TIMERS:
			(void) settle_postponed(POSTPONED_SHARE);
			return due_settle(consequence);
		case CONSEQUENCE_TICK:
			(void) settle_postponed(clutch_tick_batch);
			return tick_settle(consequence);
	}
	pg_unreachable();
}

/* ------------------------------------------------------------------- rounds */

/*
 * Puts an entry off.  A share of a tick's work is not put off: the next tick
 * does it anyway, and when it handles what was put off, it would begin with
 * what was put off, without end.
 */
static void
settle_put_off(const Consequence *consequence)
{
	if (!consequence_is_share(consequence->kind))
		postponed_put(consequence);
}

/* what one subtransaction handles */
typedef struct Round
{
	List	   *entries;		/* Consequence * */
	int			handled;
} Round;

static void
settle_entries(void *arg)
{
	Round	   *round = arg;
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch consequence",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each);
	ListCell   *cell;

	foreach(cell, round->entries)
	{
		const Consequence *consequence = lfirst(cell);

		CHECK_FOR_INTERRUPTS();
		if (settle_one(consequence))
			round->handled++;
		else
			settle_put_off(consequence);
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
}

/*
 * Handles the entries and those that they add, so that cancelling a deep tree
 * takes only one subtransaction.
 */
static void
settle_entries_and_theirs(void *arg)
{
	Round	   *round = arg;

	settle_entries(round);
	while (!agenda_is_empty())
	{
		round->entries = agenda_take();
		settle_entries(round);
	}
}

/* an entry, and the agent that may know of it */
typedef struct Concern
{
	const Consequence *consequence;
	Slice		agent_id;
} Concern;

static void
settle_find_requester(void *arg)
{
	Concern    *concern = arg;
	Task	   *task = task_look(concern->consequence->subject, ROWS_LATEST);

	if (task != NULL)
		concern->agent_id = task->from_agent;
}

/*
 * Returns the requester of the task of the entry, or the agent of the entry,
 * or an absent slice if only operators may know of it.  The problem may be
 * that the task cannot be read.
 */
static Slice
settle_concerned(const Consequence *consequence)
{
	Concern		concern = {consequence, SLICE_NONE};

	if (consequence->subject.len == 0)
		return SLICE_NONE;
	if (consequence->kind >= CONSEQUENCE_GIVE_UP)
		return consequence->subject;
	return savepoint_run(settle_find_requester, &concern) == NULL ? concern.agent_id : SLICE_NONE;
}

/*
 * Reports a failure.  A wait that is not allowed, or a deadlock, is no more
 * worth reporting than a busy task.
 */
static void
settle_report_failure(const Consequence *consequence, const ErrorData *error)
{
	if (savepoint_failed_by_chance(error))
		return;
	ereport(principal_level(settle_concerned(consequence)),
			(errcode(error->sqlerrcode),
			 errmsg("consequence \"%s\" for \"%.*s\" is put off: %s",
					consequence_kind_name(consequence->kind), consequence->subject.len,
					consequence->subject.s, error->message),
			 errhint("%s tried again by the next tick. %s",
					 consequence_is_share(consequence->kind) ? "It is" : "It is in clutch.consequence and is",
					 savepoint_advice(error))));
}

/*
 * Handles the entries one by one, so that an error in the handler of one does
 * not affect the others.
 */
static int
settle_one_by_one(List *entries)
{
	int			handled = 0;
	ListCell   *cell;

	foreach(cell, entries)
	{
		Round		single = {list_make1(lfirst(cell)), 0};
		ErrorData  *error = savepoint_run_whole(settle_entries, &single);

		handled += error == NULL ? single.handled : 0;
		if (error == NULL)
			continue;
		settle_report_failure(lfirst(cell), error);
		settle_put_off(lfirst(cell));
	}
	return handled;
}

/*
 * Handles offers that have nothing to offer, without a subtransaction.  Most
 * transactions that have consequences have freed a slot while nothing is
 * waiting.
 */
static List *
settle_idle_offers(List *entries, int *handled)
{
	List	   *rest = NIL;
	ListCell   *cell;

	foreach(cell, entries)
	{
		const Consequence *consequence = lfirst(cell);

		if (offer_is_idle(consequence))
			*handled += offer_settle(consequence);
		else
			rest = lappend(rest, lfirst(cell));
	}
	return rest;
}

static void
settle_rounds(void *arg)
{
	int		   *handled = arg;

	while (!agenda_is_empty())
	{
		List	   *entries = settle_idle_offers(agenda_take(), handled);
		Round		round = {entries, 0};

		if (entries == NIL)
			continue;
		if (savepoint_run_whole(settle_entries_and_theirs, &round) == NULL)
			*handled += round.handled;
		else
			*handled += settle_one_by_one(entries);
	}
}

/* Runs step with "settling" set, and without waiting. */
static void
settle_guarded(void (*step) (void *arg), void *arg)
{
	bool		was_settling = settling;

	settling = true;
	PG_TRY();
	{
		wait_forbidden_run(step, arg);
	}
	PG_FINALLY();
	{
		settling = was_settling;
	}
	PG_END_TRY();
}

int
settle_agenda(void)
{
	int			handled = 0;

	if (!settling)
		suspend_settle_heard();
	if (!settling && !agenda_is_empty())
		settle_guarded(settle_rounds, &handled);
	return handled;
}

/* --------------------------------------------------------------- postponed */

typedef struct PostponedTry
{
	const Consequence *consequence;
	bool		done;
} PostponedTry;

static void
settle_postponed_step(void *arg)
{
	PostponedTry *try = arg;

	try->done = settle_one(try->consequence);
}

/*
 * Handles one postponed entry.  Its row stays where it is, unchanged, until
 * that is possible.
 */
static bool
settle_postponed_one(const Consequence *consequence)
{
	PostponedTry try = {consequence, false};
	ErrorData  *error = savepoint_run_whole(settle_postponed_step, &try);

	if (error != NULL)
		settle_report_failure(consequence, error);
	return error == NULL && try.done;
}

typedef struct PostponedWork
{
	int			n;
	int			handled;
} PostponedWork;

static void
settle_postponed_all(void *arg)
{
	PostponedWork *work = arg;

	work->handled = postponed_handle(work->n, settle_postponed_one);
}

int
settle_postponed(int n)
{
	PostponedWork work = {n, 0};

	if (postponed_is_any())
		settle_guarded(settle_postponed_all, &work);
	return work.handled;
}

/* ------------------------------------------------------------------- commit */

/* The transaction may have dropped the extension, and everything that it has caused with it. */
static bool
settle_has_entries(void)
{
	return (!agenda_is_empty() || suspend_has_heard()) && rows_table_is_there(TABLE_TASK);
}

static bool
settle_at_end(void)
{
	if (!settle_has_entries())
		return false;
	(void) settle_agenda();
	return true;
}

void
settle_begin(void)
{
	static TransactionWatch watch = {.unsettled = settle_has_entries, .settling = settle_at_end};

	transaction_watch(&watch);
}
