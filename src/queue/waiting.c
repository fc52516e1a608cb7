/*-------------------------------------------------------------------------
 *
 * waiting.c
 *	  Tasks that wait for an agent, indexed by what they require.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/crypto.h"
#include "base/rows.h"
#include "common/hashfn.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "queue/queue.h"
#include "queue/waiting.h"
#include "queue/waiting_fitting.h"
#include "queue/waiting_kind.h"
#include "queue/waiting_vain.h"

/* number of tasks that an agent's look tries in vain, not counting runs that are left out, and a tick's */
#define MOST_VAIN		64
#define MOST_VAIN_OF_ALL	256

/* number of tasks of one kind that a tick tries in vain, even if there are more kinds */
#define MOST_VAIN_OF_KIND	16

/*
 * number of rows that a look leaves out because of their runs, which takes
 * some 10 ms, or 200 ms if the agent asks for work, because then nothing else
 * would find what is behind them
 */
#define MOST_LEFT_OUT	50000
#define MOST_LEFT_OUT_IF_ASKED	(20 * MOST_LEFT_OUT)

/* what it costs to begin leaving out a run, in rows, because the task that was tried ends at the commit */
#define TRIED_FOR_RUN	1000

/* what it costs to see whether a task is locked, in rows that are left out */
#define SEEING_LOCK_COSTS	15

/* number of kinds that waiting_try_kinds looks at in one call */
#define KINDS_AT_ONCE	256

/* ------------------------------------------------------------------ trying */

/* the queues of several kinds, opened on one scan */
typedef struct Queues
{
	RowScan		scan;
	uint64		purpose;		/* see waiting_vain.h */
	LeftOut    *left_out;		/* one for all queues, or one for each */
	int64		rows;			/* see LeftOut */
	bool		sees_locks;		/* set when a task was tried in vain */
	int			n;
	Queue	   *queues;
	QueuePlace *places;			/* one for each queue */
} Queues;

/*
 * "look" is NULL if all agents are looked for.  The places are copied back when
 * the queues are closed, because trying tasks in the meantime may make the
 * backend forget a kind.
 */
static void
waiting_queues_open(Queues *all, uint64 purpose, const int64 *kinds, int n, const WaitingLook *look)
{
	int			i;

	all->purpose = purpose;
	all->sees_locks = false;
	all->rows = look != NULL && look->asks ? MOST_LEFT_OUT_IF_ASKED : MOST_LEFT_OUT;
	all->left_out = palloc0(sizeof(LeftOut) * (look != NULL ? 1 : n));
	if (look != NULL)
		all->left_out->agent_id = look->agent_id;
	all->n = n;
	all->queues = palloc0(sizeof(Queue) * n);
	all->places = palloc0(sizeof(QueuePlace) * n);
	rows_begin(&all->scan, TABLE_WAITING, INDEX_WAITING, ROWS_DIRTY, RowExclusiveLock);
	for (i = 0; i < n; i++)
	{
		WaitingKind *entry = waiting_kind_known(kinds[i]);

		if (entry != NULL)
			all->places[i] = entry->place;
		all->queues[i].scan = &all->scan;
		all->queues[i].kind = kinds[i];
		all->queues[i].place = &all->places[i];
		all->queues[i].left_out = &all->left_out[look != NULL ? 0 : i];
		all->queues[i].left_out->rows = &all->rows;
		queue_open(&all->queues[i]);
		waiting_vain_skip(purpose, &all->queues[i]);
	}
}

/* Looks from the start where that is worthwhile.  Returns whether it was. */
static bool
waiting_queues_look_again(Queues *all)
{
	bool		looked = false;
	int			i;

	for (i = 0; i < all->n; i++)
	{
		if (!queue_look_again(&all->queues[i]))
			continue;
		waiting_vain_skip(all->purpose, &all->queues[i]);
		looked = true;
	}
	return looked;
}

static void
waiting_queues_close(Queues *all)
{
	int			i;

	for (i = 0; i < all->n; i++)
	{
		WaitingKind *entry = waiting_kind_known(all->queues[i].kind);

		waiting_vain_note(all->purpose, &all->queues[i]);
		queue_close(&all->queues[i]);
		if (entry != NULL)
			waiting_kind_note_place(entry, all->queues[i].place);
	}
	rows_end(&all->scan);
}

/*
 * Is the task to be left out because another transaction has locked it?  Any
 * number of such tasks may stand before one that can be given, and trying them
 * would take much longer than this.
 */
static bool
waiting_queues_find_locked(Queues *all, Queue *queue, const QueueEntry *entry)
{
	if (!all->sees_locks)
		return false;
	all->rows -= SEEING_LOCK_COSTS;
	queue->vain_passed += SEEING_LOCK_COSTS;
	return task_is_locked(entry->task_id);
}

/* Returns the first entry of the first n queues that is not left out, or NULL. */
static QueueEntry *
waiting_queues_first(Queues *all, int n, Queue **whose)
{
	QueueEntry *entry;

	while ((entry = queue_first_of(all->queues, n, whose)) != NULL &&
		   (left_out_has((*whose)->left_out, entry->run_id) || waiting_queues_find_locked(all, *whose, entry)))
	{
		CHECK_FOR_INTERRUPTS();
		queue_pass_left_out(*whose, entry);
	}
	return entry;
}

static WaitingPlace
waiting_place_of_entry(const Queue *queue, const QueueEntry *entry)
{
	return (WaitingPlace) {entry->task_id, queue->kind, entry->queue_no};
}

/* A task that one purpose tries in vain may be given for another one. */
static uint64
waiting_look_purpose(const WaitingLook *look)
{
	return hash_combine64(crypto_name_hash(look->agent_id), (uint64) (uintptr_t) look->try_one + look->asks);
}

/*
 * Opens the queues of the kinds as one.  The list is copied, because try_one
 * may change it.
 */
static int
waiting_try_list(const FittingKinds *list, const WaitingLook *look)
{
	int			left = 0;
	int			vain = 0;
	int			n_kinds;
	int64	   *kinds = waiting_fitting_copy(list, &n_kinds);
	Queues		all;

	waiting_queues_open(&all, waiting_look_purpose(look), kinds, n_kinds, look);
	while (left < look->n && vain < MOST_VAIN)
	{
		Queue	   *whose;
		QueueEntry *entry = waiting_queues_first(&all, all.n, &whose);
		WaitingPlace place;
		WaitingTried tried;

		CHECK_FOR_INTERRUPTS();
		if (entry == NULL)
		{
			if (left == 0 && look->asks && waiting_queues_look_again(&all))
				continue;
			break;
		}
		place = waiting_place_of_entry(whose, entry);
		tried = look->try_one(&place, look->arg);
		if (tried == WAITING_STAYS_FOR_RUN)
		{
			left_out_add(all.left_out, entry->run_id);
			all.rows -= TRIED_FOR_RUN;
			queue_pass_in_vain(whose, entry);
		}
		else if (tried != WAITING_LEFT)
		{
			left_out_begin(all.left_out);
			queue_pass_in_vain(whose, entry);
			all.sees_locks = true;
			vain++;
		}
		else if (++left < look->n)
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
waiting_try_fitting(const WaitingLook *look)
{
	FittingKinds *list;
	TimestampTz looked_at;
	int			left;

	if (waiting_is_empty())
		return 0;
	list = waiting_fitting_get(look->agent_id, QUEUE_LOOK_BUSY);
	looked_at = list->added_at;
	left = waiting_try_list(list, look);
	if (left > 0 || !look->asks)
		return left;
	list = waiting_fitting_get(look->agent_id, QUEUE_LOOK_IDLE);
	return list->added_at != looked_at ? waiting_try_list(list, look) : 0;
}

/* ---------------------------------------------------------------- all kinds */

typedef struct KindsVisit
{
	int			n;
	int64		kinds[KINDS_AT_ONCE];
} KindsVisit;

static WaitingKindVisited
waiting_note_kind(int64 kind, Slice task_id, void *arg)
{
	KindsVisit *visit = arg;

	visit->kinds[visit->n++] = kind;
	return visit->n < KINDS_AT_ONCE ? KIND_VISITED : KIND_LAST;
}

static WaitingKindVisited
waiting_note_first_kind(int64 kind, Slice task_id, void *arg)
{
	*(int64 *) arg = kind;
	return KIND_LAST;
}

/* Returns the first kind from this one on, or the smallest number that a kind could have if there is none. */
static int64
waiting_find_kind(int64 from)
{
	int64		kind = PG_INT64_MIN;

	(void) waiting_kind_visit(from, PG_INT64_MAX, waiting_note_first_kind, &kind);
	return kind;
}

/*
 * Returns a random place for the first turn of a session, because sessions may
 * be short.  The kinds with the same anchor are close together, so a random
 * number usually falls between two anchors; then it falls into one of them.
 */
static int64
waiting_random_kind(void)
{
	int64		any = (int64) pg_prng_uint64(&pg_global_prng_state);
	int64		first;
	int64		last;

	waiting_kind_range(waiting_kind_anchor(waiting_find_kind(any)), &first, &last);
	return first + (int64) pg_prng_uint64_range(&pg_global_prng_state, 0, (uint64) (last - first) - 1);
}

/* Collects the next kinds in turn, starting again after the last one. */
static void
waiting_next_kinds(KindsVisit *visit)
{
	static bool began = false;
	static int64 turn;

	if (!began)
		turn = waiting_random_kind();
	began = true;
	visit->n = 0;
	(void) waiting_kind_visit(turn, PG_INT64_MAX, waiting_note_kind, visit);
	if (visit->n < KINDS_AT_ONCE && turn > PG_INT64_MIN)
		(void) waiting_kind_visit(PG_INT64_MIN, turn - 1, waiting_note_kind, visit);
	if (visit->n < KINDS_AT_ONCE)
		return;
	turn = visit->kinds[visit->n - 1];
	turn = turn == PG_INT64_MAX ? PG_INT64_MIN : turn + 1;
}

int
waiting_try_kinds(int n, WaitingTry try_one, void *arg)
{
	KindsVisit *visit;
	Queues		all;
	int			open;
	int			left = 0;
	int			vain = 0;

	visit = palloc(sizeof(KindsVisit));
	waiting_next_kinds(visit);
	waiting_queues_open(&all, (uint64) (uintptr_t) try_one, visit->kinds, visit->n, NULL);
	open = visit->n;
	while (left < n && open > 0)
	{
		Queue	   *whose;
		QueueEntry *entry = waiting_queues_first(&all, open, &whose);
		WaitingPlace place;
		WaitingTried tried;
		Queue		done;

		CHECK_FOR_INTERRUPTS();
		if (entry == NULL)
			break;
		place = waiting_place_of_entry(whose, entry);
		tried = try_one(&place, arg);
		if (tried == WAITING_LEFT)
		{
			left++;
			queue_pass(whose, entry);
			continue;
		}
		if (tried != WAITING_STAYS && vain < MOST_VAIN_OF_ALL && whose->vain < MOST_VAIN_OF_KIND)
		{
			if (tried == WAITING_STAYS_FOR_RUN)
				left_out_add(whose->left_out, entry->run_id);
			queue_pass_in_vain(whose, entry);
			all.sees_locks = true;
			vain++;
			continue;
		}
		/* no other task of this kind will fare better, or too many were tried */
		done = *whose;
		*whose = all.queues[--open];
		all.queues[open] = done;
	}
	waiting_queues_close(&all);
	pfree(visit);
	return left;
}

/* a place in the index of clutch.waiting */
typedef struct IndexPlace
{
	int64		kind;
	int16		urgency;
	int64		queue_no;
} IndexPlace;

/*
 * The rows after a place are those of its urgency, those of the less urgent
 * ones, and those of the kinds that follow, in three scans.
 */
#define NUM_STRETCHES	3

static void
waiting_begin_stretch(RowScan *scan, const IndexPlace *after, int stretch)
{
	rows_begin(scan, TABLE_WAITING, INDEX_WAITING, ROWS_LATEST, AccessShareLock);
	rows_key_int8(scan, 1, stretch < 2 ? BTEqualStrategyNumber : BTGreaterStrategyNumber, after->kind);
	if (stretch < 2)
		rows_key_int2(scan, 2, stretch == 0 ? BTEqualStrategyNumber : BTGreaterStrategyNumber,
					  after->urgency);
	if (stretch == 0)
		rows_key_int8(scan, 3, BTGreaterStrategyNumber, after->queue_no);
	rows_start(scan);
}

/* The rows are read first, because see may change them. */
static int
waiting_read_after(IndexPlace *after, WaitingPlace *places, int n)
{
	int			found = 0;
	int			stretch;

	for (stretch = 0; stretch < NUM_STRETCHES; stretch++)
	{
		RowScan		scan;

		waiting_begin_stretch(&scan, after, stretch);
		while (found < n && rows_next(&scan))
		{
			CHECK_FOR_INTERRUPTS();
			after->kind = rows_int8(&scan, Anum_queue_key);
			after->urgency = rows_int2(&scan, Anum_queue_urgency);
			after->queue_no = rows_int8(&scan, Anum_queue_queue_no);
			places[found++] = (WaitingPlace) {rows_text_copy(&scan, Anum_queue_task_id),
			after->kind, after->queue_no};
		}
		rows_end(&scan);
	}
	return found;
}

/* Returns the number of the last row of the kind and urgency of a row. */
static int64
waiting_last_no(const IndexPlace *row)
{
	RowScan		scan;
	int64		last = row->queue_no;

	rows_begin(&scan, TABLE_WAITING, INDEX_WAITING, ROWS_LATEST, AccessShareLock);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, row->kind);
	rows_key_int2(&scan, 2, BTEqualStrategyNumber, row->urgency);
	rows_start(&scan);
	if (rows_previous(&scan))
		last = Max(last, rows_int8(&scan, Anum_queue_queue_no));
	rows_end(&scan);
	return last;
}

/* Returns a random place: in a random kind, and there before a random number. */
static IndexPlace
waiting_random_place(void)
{
	IndexPlace	row = {waiting_random_kind(), -1};
	WaitingPlace place;

	if (waiting_read_after(&row, &place, 1) == 0)
		return (IndexPlace) {PG_INT64_MIN};
	row.queue_no += (int64) pg_prng_uint64_range(&pg_global_prng_state, 0,
												 (uint64) (waiting_last_no(&row) - row.queue_no)) - 1;
	return row;
}

void
waiting_see_next(int n, WaitingSee see, void *arg)
{
	static bool began = false;
	static IndexPlace after;
	WaitingPlace *places = palloc(sizeof(WaitingPlace) * n);
	int			found;
	int			i;

	if (!began)
		after = waiting_random_place();
	began = true;
	found = waiting_read_after(&after, places, n);
	for (i = 0; i < found; i++)
		see(&places[i], arg);
	if (found < n)
		after = (IndexPlace) {PG_INT64_MIN};
	pfree(places);
}
