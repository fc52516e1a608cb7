/*-------------------------------------------------------------------------
 *
 * waiting.c
 *	  Tasks that wait for an agent, indexed by what they require.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/rows.h"
#include "miscadmin.h"
#include "queue/queue.h"
#include "queue/waiting.h"
#include "queue/waiting_fitting.h"
#include "queue/waiting_kind.h"
#include "utils/timestamp.h"

/* after so many tasks have been tried in vain, a look gives up */
#define MAX_VAIN		64

/* number of kinds that waiting_try_kinds looks at in one call */
#define KINDS_AT_ONCE	256

/* microseconds for which a table in which a row was found counts as not empty */
#define FOUND_HOLDS		10000

/* --------------------------------------------------------- is there anything */

/* how expensive the last look at the whole table was, and when it happened */
static struct
{
	int64		passed;
	TimestampTz looked_at;
	bool		found;
}			first_look;

/*
 * A row that was found lets the next looks assume that something waits.  If
 * nothing does any more, they only try in vain.
 */
static bool
waiting_was_just_found(void)
{
	TimestampTz now;

	if (!first_look.found)
		return false;
	now = GetCurrentTimestamp();
	return now >= first_look.looked_at && now - first_look.looked_at < FOUND_HOLDS;
}

bool
waiting_is_empty(void)
{
	RowScan		scan;

	if (waiting_was_just_found())
		return false;
	if (!queue_worth_looking(first_look.passed, first_look.looked_at, QUEUE_LOOK_IDLE))
		return !first_look.found;
	/* start at the end, because claims leave dead entries at the start */
	rows_begin(&scan, TABLE_WAITING, INDEX_WAITING, ROWS_DIRTY, AccessShareLock);
	rows_start(&scan);
	first_look.found = rows_previous(&scan);
	first_look.passed = scan.dead;
	rows_end(&scan);
	first_look.looked_at = GetCurrentTimestamp();
	return !first_look.found;
}

/* ------------------------------------------------------------------ trying */

/* the queues of several kinds, opened on one scan */
typedef struct Queues
{
	RowScan		scan;
	int			n;
	Queue	   *queues;
	QueuePlace *places;			/* one for each queue */
} Queues;

/*
 * The places are copied back when the queues are closed, because trying tasks
 * in the meantime may make the backend forget a kind.
 */
static void
waiting_queues_open(Queues *all, const int64 *kinds, int n)
{
	int			i;

	all->n = n;
	all->queues = palloc0(sizeof(Queue) * Max(n, 1));
	all->places = palloc0(sizeof(QueuePlace) * Max(n, 1));
	rows_begin(&all->scan, TABLE_WAITING, INDEX_WAITING, ROWS_DIRTY, RowExclusiveLock);
	for (i = 0; i < n; i++)
	{
		WaitingKind *entry = waiting_kind_known(kinds[i]);

		if (entry != NULL)
			all->places[i] = entry->place;
		all->queues[i].scan = &all->scan;
		all->queues[i].kind = kinds[i];
		all->queues[i].place = &all->places[i];
		queue_open(&all->queues[i]);
	}
}

static void
waiting_queues_close(Queues *all)
{
	int			i;

	for (i = 0; i < all->n; i++)
	{
		WaitingKind *entry = waiting_kind_known(all->queues[i].kind);

		queue_close(&all->queues[i]);
		if (entry != NULL)
			entry->place = *all->queues[i].place;
	}
	rows_end(&all->scan);
}

static WaitingPlace
waiting_place_of_entry(const Queue *queue, const QueueEntry *entry)
{
	return (WaitingPlace) {entry->task_id, queue->kind, entry->queue_no};
}

/*
 * Opens the queues of the kinds as one.  The list is copied, because try_one
 * may change it.
 */
static int
waiting_try_list(const FittingKinds *list, int n, WaitingTry try_one, void *arg)
{
	int			left = 0;
	int			vain = 0;
	int			n_kinds;
	int64	   *kinds = waiting_fitting_copy(list, &n_kinds);
	Queues		all;

	waiting_queues_open(&all, kinds, n_kinds);
	while (left < n && vain < MAX_VAIN)
	{
		Queue	   *whose;
		QueueEntry *entry = queue_first_of(all.queues, all.n, &whose);
		WaitingPlace place;

		if (entry == NULL)
			break;
		place = waiting_place_of_entry(whose, entry);
		if (try_one(&place, arg) == WAITING_LEFT)
			left++;
		else
			vain++;
		if (left < n)
			queue_pass(whose, entry);
		else
			queue_leave(whose, entry);
	}
	waiting_queues_close(&all);
	pfree(kinds);
	return left;
}

/*
 * A kind that appeared since the last look is not known yet.  It can wait for
 * the next look while there is work of the known kinds, or if the agent is not
 * asking for work, because the agent is notified and will ask.
 */
int
waiting_try_fitting(Slice agent_id, int n, bool asks, WaitingTry try_one, void *arg)
{
	FittingKinds *list;
	TimestampTz looked_at;
	int			left;

	if (waiting_is_empty())
		return 0;
	list = waiting_fitting_get(agent_id, QUEUE_LOOK_BUSY);
	looked_at = list->added_at;
	left = waiting_try_list(list, n, try_one, arg);
	if (left > 0 || !asks)
		return left;
	list = waiting_fitting_get(agent_id, QUEUE_LOOK_IDLE);
	return list->added_at != looked_at ? waiting_try_list(list, n, try_one, arg) : 0;
}

typedef struct KindsVisit
{
	int			n;
	int64		kinds[KINDS_AT_ONCE];
} KindsVisit;

static bool
waiting_note_kind(int64 kind, Slice task_id, void *arg)
{
	KindsVisit *visit = arg;

	visit->kinds[visit->n++] = kind;
	return visit->n < KINDS_AT_ONCE;
}

/* Collects the next kinds in turn, starting again after the last one. */
static void
waiting_next_kinds(KindsVisit *visit)
{
	static int64 turn = PG_INT64_MIN;

	visit->n = 0;
	(void) waiting_kind_visit(turn, PG_INT64_MAX, waiting_note_kind, visit);
	if (visit->n < KINDS_AT_ONCE && turn > PG_INT64_MIN)
		(void) waiting_kind_visit(PG_INT64_MIN, turn - 1, waiting_note_kind, visit);
	turn = visit->n < KINDS_AT_ONCE || visit->kinds[visit->n - 1] == PG_INT64_MAX ?
		PG_INT64_MIN : visit->kinds[visit->n - 1] + 1;
}

int
waiting_try_kinds(int n, WaitingTry try_one, void *arg)
{
	KindsVisit *visit;
	Queues		all;
	int			open;
	int			left = 0;
	int			vain = 0;

	if (waiting_is_empty())
		return 0;
	visit = palloc(sizeof(KindsVisit));
	waiting_next_kinds(visit);
	waiting_queues_open(&all, visit->kinds, visit->n);
	open = visit->n;
	while (left < n && open > 0)
	{
		Queue	   *whose;
		QueueEntry *entry = queue_first_of(all.queues, open, &whose);
		WaitingPlace place;
		WaitingTried tried;
		Queue		done;

		CHECK_FOR_INTERRUPTS();
		if (entry == NULL)
			break;
		place = waiting_place_of_entry(whose, entry);
		tried = try_one(&place, arg);
		if (tried == WAITING_LEFT || (tried == WAITING_STAYS_ALONE && vain++ < MAX_VAIN))
		{
			left += tried == WAITING_LEFT;
			queue_pass(whose, entry);
			continue;
		}
		/* no other task of this kind will fare better */
		done = *whose;
		*whose = all.queues[--open];
		all.queues[open] = done;
	}
	waiting_queues_close(&all);
	pfree(visit);
	return left;
}
