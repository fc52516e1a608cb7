/*-------------------------------------------------------------------------
 *
 * suspend.c
 *	  Suspended tasks, which wait without a slot for their children, a time or
 *	  a message.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "access/transam.h"
#include "base/document.h"
#include "base/transaction.h"
#include "feed/filter.h"
#include "flow/children.h"
#include "flow/requeue.h"
#include "flow/right.h"
#include "flow/suspend.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "queue/suspended.h"
#include "task/task.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- the filter */

static bool
suspend_filter_wants_messages(const Filter *filter)
{
	MessageType type;

	for (type = 0; type < MSG_UNKNOWN; type++)
		if (message_type_is_message(type) &&
			filter_wants_type(filter, slice_of_cstring(message_type_name(type))))
			return true;
	return false;
}

static bool
suspend_filter_wants_run(const Filter *filter, Slice run_id)
{
	return filter->runs.n == 0 || slices_have(filter->runs, run_id);
}

/* A filter that matches nothing would let the task wait forever. */
void
suspend_check(const Envelope *progress)
{
	JsonbValue	message = progress->orders.wait.message;
	ProblemList *list = problem_list();
	Filter		filter;
	int			i;

	if (!progress->orders.wait.has_message)
		return;
	filter_parse(document_of_value(&message), &filter, list);
	if (list->n == 0 && !suspend_filter_wants_messages(&filter))
		problem_add(list, "/type", "WRONG_VALUE", "A task is woken by a message, chat.* or tool.*, but the filter wants no such type.");
	if (list->n == 0 && !suspend_filter_wants_run(&filter, progress->run_id))
		problem_add(list, "/run_id", "WRONG_VALUE", "A task is woken by messages of its own run only, so leave \"run_id\" out.");
	if (list->n == 0 && filter.path.is_costly)
		problem_add(list, "/path", "WRONG_VALUE",
					"Whoever sends a message applies this path to it, so it must be simple: without \".**\", like_regex, keyvalue() and lists of subscripts, without \"$\" in a filter, without arithmetic, without numbers that an envelope may not have, of at most 100 items and 4096 bytes, and with a literal on one side of each comparison.");
	for (i = 0; i < list->n; i++)
		list->items[i].path = psprintf("/meta/clutch/wait/message%s", list->items[i].path);
	if (list->n > 0)
		problem_raise(list, ERRCODE_CLUTCH_ENVELOPE_INVALID, "envelope");
}

/*
 * Reads the filter of a task that waits for a message.  Returns false if its
 * event is not in the log.
 */
static bool
suspend_read_filter(const Task *task, Filter *filter)
{
	Jsonb	   *document = event_read(task->wait_seq, ROWS_LATEST);
	ProblemList *list = problem_list_admitted();
	Envelope	progress;

	if (document == NULL)
		return false;
	envelope_read_admitted(document, &progress, list);
	if (!progress.orders.wait.has_message)
		return false;
	filter_parse(document_of_value(&progress.orders.wait.message), filter, list);
	/*
	 * an earlier version has admitted it: any message that matches the rest of
	 * the filter wakes the task
	 */
	if (filter->path.is_costly)
		filter->path.jsonpath = NULL;
	return true;
}

/* ---------------------------------------------------------------- messages */

/* seqs of the messages that this transaction has sent */
static int64 *heard = NULL;
static int	nheard = 0;
static int	nsettled = 0;		/* the first of them, which have been settled ... */
static int	settled_level = 0;	/* ... in the savepoint of this level */
static int	heard_room = 0;

static void
suspend_forget_heard(void)
{
	heard = NULL;
	nheard = nsettled = heard_room = 0;
}

/*
 * If they were settled in the savepoint that is rolled back, what they have
 * caused is gone.  To settle a message twice does no harm.  Settling itself uses
 * savepoints within that one.
 */
static void
suspend_settle_again(void)
{
	if (GetCurrentTransactionNestLevel() <= settled_level)
		nsettled = 0;
}

static void
suspend_follow_release(void)
{
	settled_level = Min(settled_level, GetCurrentTransactionNestLevel() - 1);
}

void
suspend_hear(const Event *event)
{
	static TransactionWatch watch = {.rolled_back = suspend_settle_again, .released = suspend_follow_release, .ended = suspend_forget_heard};

	if (!message_type_is_message(event->envelope.type))
		return;
	transaction_watch(&watch);
	if (nheard == heard_room)
	{
		heard_room = heard_room == 0 ? 16 : heard_room * 2;
		heard = heard == NULL ?
			MemoryContextAlloc(TopTransactionContext, sizeof(int64) * heard_room) :
			repalloc_huge(heard, sizeof(int64) * heard_room);
	}
	heard[nheard++] = event->seq;
}

bool
suspend_has_heard(void)
{
	return nheard > nsettled && suspended_ever_awaited();
}

/* The row does not exist if its savepoint was rolled back. */
static void
suspend_settle_message(int64 seq)
{
	List	   *waiting = NIL;
	ListCell   *cell;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_SEQ, ROWS_LATEST, AccessShareLock);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, seq);
	rows_start(&scan);
	if (rows_next(&scan))
		waiting = suspended_list_awaiting(rows_text(&scan, Anum_event_run_id));
	rows_end(&scan);
	foreach(cell, waiting)
	{
		Consequence wake = {CONSEQUENCE_WAKE, 0, *(Slice *) lfirst(cell), .seq = seq};

		agenda_add(&wake);
	}
}

void
suspend_settle_heard(void)
{
	int			i = nsettled;
	int			n = nheard;

	nsettled = n;
	settled_level = GetCurrentTransactionNestLevel();
	if (i == n || !suspended_ever_awaited() || !suspended_any_awaits())
		return;
	for (; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		suspend_settle_message(heard[i]);
	}
}

/* ------------------------------------------------------------------- waking */

/* Returns the task, locked, if it still waits for the same thing. */
static Task *
suspend_lock(const Task *seen, bool *busy)
{
	Task	   *task = task_lock_now(seen->task_id, busy);

	return task != NULL && task->wait_seq == seen->wait_seq ? task : NULL;
}

/*
 * All children count, including those that were over before the task was
 * suspended.
 */
static bool
suspend_settle_children(const Task *seen)
{
	ChildGroup	group = {seen->task_id};
	ChildVerdict verdict;
	ChildCount	count;
	Task	   *task;
	bool		busy;

	if (seen->wait_count == JOIN_ALL && children_any_is_certainly_open(&group))
		return true;
	count = children_count(&group);
	verdict = children_judge(&count, seen->wait_count);
	if (verdict == CHILDREN_UNDECIDED || verdict == CHILDREN_IN_DOUBT)
		return verdict == CHILDREN_UNDECIDED;
	task = suspend_lock(seen, &busy);
	if (task == NULL)
		return !busy;
	requeue_join(task, &count, verdict == CHILDREN_MET);
	return true;
}

/* what was found in the log for a task that waits for a message */
typedef struct MessageFound
{
	int64		seq;			/* of the first message that matches, or 0 */
	Slice		id;
	bool		in_doubt;		/* one that matches is not committed yet */
	TextMap    *heard;			/* those that have woken the task before; NULL if
								 * only one message is looked at */
} MessageFound;

/*
 * May the task be woken by this message, which the claim then passes to the
 * agent?  In a run that is parent-only, only messages that are addressed to
 * the agent, or that it could read in the log, may wake it.
 */
static bool
suspend_may_hear(const Task *task, const RowScan *event)
{
	Filter		inbox;
	Task	   *subject;

	if (!right_is_parent_only(task->run_id))
		return true;
	filter_of_agent(task->agent_id, &inbox);
	if (filter_fits_columns(&inbox, event))
		return true;
	subject = task_look(rows_text(event, Anum_event_task_id), ROWS_LATEST);
	return subject != NULL && slice_equal(subject->run_id, task->run_id) &&
		right_sees_task(task->agent_id, subject);
}

/*
 * Notes the event if it is the message that the task waits for and comes
 * before the one found so far.  If it is in doubt, only found->in_doubt is
 * set.
 */
static void
suspend_look_at(const RowScan *scan, const Task *task, const Filter *filter, MessageFound *found)
{
	int64		seq = rows_int8(scan, Anum_event_seq);

	if (seq < task->request_seq || (found->seq != 0 && found->seq < seq) ||
		!message_type_is_message(message_type_parse(rows_text(scan, Anum_event_type))) ||
		slice_equal(rows_text(scan, Anum_event_from_agent), task->agent_id) ||
		!slice_equal(rows_text(scan, Anum_event_run_id), task->run_id) ||
		!filter_fits_columns(filter, scan) ||
		(found->heard != NULL && requeue_was_messaged(task, rows_text(scan, Anum_event_id), found->heard)) ||
		!suspend_may_hear(task, scan) ||
		!filter_fits_path(filter, scan) ||
		(found->heard == NULL && requeue_was_messaged(task, rows_text(scan, Anum_event_id), NULL)))
		return;
	if (TransactionIdIsValid(rows_in_doubt(scan)))
	{
		found->in_doubt = true;
		return;
	}
	found->seq = seq;
	found->id = rows_text_copy(scan, Anum_event_id);
}

/*
 * Looks at one message, or at all messages of the run if seq is 0.  Each is
 * looked at in a memory context of its own, because evaluating a path reads
 * the whole envelope.
 */
static MessageFound
suspend_look(const Task *task, const Filter *filter, int64 seq)
{
	MessageFound found = {.heard = seq == 0 ? requeue_list_heard(task) : NULL};
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch awaited message",
											   ALLOCSET_DEFAULT_SIZES);
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, seq != 0 ? INDEX_EVENTS_SEQ : INDEX_EVENTS_RUN_ID, ROWS_DIRTY,
			   AccessShareLock);
	if (seq != 0)
		rows_key_int8(&scan, 1, BTEqualStrategyNumber, seq);
	else
		rows_key_text(&scan, 1, BTEqualStrategyNumber, task->run_id);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		MemoryContext old = MemoryContextSwitchTo(each);

		CHECK_FOR_INTERRUPTS();
		suspend_look_at(&scan, task, filter, &found);
		MemoryContextSwitchTo(old);
		/*
		 * keep the memory otherwise, because the ID of what was found is in it
		 */
		if (found.seq == 0)
			MemoryContextReset(each);
	}
	rows_end(&scan);
	return found;
}

/*
 * Returns false if it must be tried again, because the message is not
 * committed yet or the task is busy.
 */
static bool
suspend_settle_awaited(const Task *seen, int64 seq)
{
	MessageFound found;
	Filter		filter;
	Task	   *task;
	bool		busy;

	if (!suspend_read_filter(seen, &filter))
		return true;
	found = suspend_look(seen, &filter, seq);
	if (found.seq == 0)
		return !found.in_doubt;
	task = suspend_lock(seen, &busy);
	if (task == NULL)
		return !busy;
	requeue_message(task, found.seq, found.id);
	return true;
}

bool
suspend_settle(const Consequence *consequence)
{
	bool		busy;
	Task	   *task = task_sight(consequence->subject, &busy);

	if (task == NULL || task->status != TASK_SUSPENDED || task->waiting_for == WAITING_FOR_TIME)
		return !busy;
	return task->waiting_for == WAITING_FOR_CHILDREN ? suspend_settle_children(task) :
		suspend_settle_awaited(task, consequence->seq);
}
