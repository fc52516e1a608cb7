/*-------------------------------------------------------------------------
 *
 * queue.h
 *	  Queues: what is ready for one agent, or waits as one kind, in the order
 *	  of claims.
 *
 * The rows of clutch.ready with the same agent_id, or of clutch.waiting with
 * the same kind, form a queue, in this order:
 *
 *	- by level, which is the priority of the task, raised by one for each
 *	  clutch.aging that it has been here, but never above LEVEL_HIGH;
 *	- within a level by queue_no, which is the order of arrival;
 *	- tasks of LEVEL_CRITICAL come before all others.  However, while there are
 *	  tasks that have aged so long that they would count as critical, one of
 *	  them comes first in one case out of four.  So no task starves, and no
 *	  backlog delays a critical task.
 *
 * Rows that have been taken stay in the index until no snapshot can see them.
 * Therefore a backend remembers a QueuePlace, the position where it last found
 * a row to take, and starts looking there if looking from the start was
 * expensive.  Below that position there are only rows that others have
 * committed late, or returned: by a rollback, or because a task was displaced,
 * offered, or filed anew after a change of the rules.  The next look from the
 * start finds them.  A session that finds nothing else looks from the start
 * much sooner than one that does (QUEUE_LOOK_IDLE).  What the session itself
 * has returned, its next look finds.
 *
 * A task draws its queue_no when it enters a queue, with one exception: a
 * ready task that must yield its slot returns to the place that it had in
 * clutch.waiting.  Therefore the code that takes a task out of a queue notes
 * that place in the Task (left_no, left_since), and the row of clutch.ready
 * stores it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_QUEUE_H
#define CLUTCH_QUEUE_H

#include "base/rows.h"
#include "protocol/level.h"
#include "queue/left_out.h"

/* columns of clutch.ready and clutch.waiting */
enum
{
	Anum_queue_key = 1,			/* agent_id or kind */
	Anum_queue_urgency,
	Anum_queue_queue_no,
	Anum_queue_task_id,
	Anum_queue_since,			/* when it entered the queue */
	Anum_queue_from_agent,		/* clutch.waiting only: the requester, and */
	Anum_queue_run_id,			/* the run */
	Natts_waiting = Anum_queue_run_id,

	/*
	 * clutch.ready only: queue_no and since of the task in clutch.waiting, if
	 * it has waited
	 */
	Anum_ready_waited_no = Anum_queue_from_agent,
	Anum_ready_waited_since,
	Natts_ready = Anum_ready_waited_since
};

ROWS_CHECK_COLUMNS(Natts_ready, READY);
ROWS_CHECK_COLUMNS(Natts_waiting, WAITING);

typedef struct QueuePlace
{
	int64		from[NUM_LEVELS];	/* by urgency */
	bool		void_before[NUM_LEVELS];	/* no row of the urgency had been there
										 * when that look happened, not even a
										 * dead one */
	TimestampTz void_at;		/* when it happened, by clutch.clock */
	int64		drawn;			/* a queue_no drawn before the next look, or 0 */
	int64		passed;			/* number of rows that the last look from the
								 * start passed over */
	TimestampTz looked_at;		/* when that look happened */
	uint64		rollbacks;		/* rollbacks of this session until then */
} QueuePlace;

typedef struct QueueEntry
{
	int			urgency;
	int64		queue_no;
	TimestampTz since;
	Slice		task_id;		/* absent if there is no row of this urgency */
	Slice		run_id;			/* clutch.waiting only */
	ItemPointerData tid;
} QueueEntry;

typedef struct Queue
{
	RowScan    *scan;			/* scan of its table, ROWS_DIRTY; several
								 * queues may share it */
	Slice		agent_id;		/* for a queue of clutch.ready; if absent, it
								 * is one of clutch.waiting, and */
	int64		kind;			/* this is its kind */
	QueuePlace *place;
	LeftOut    *left_out;		/* or NULL.  When it is exhausted, the queue
								 * ends. */
	bool		from_start;
	uint64		rollbacks;		/* until a look from the start began */
	int			unseen;			/* this urgency and those after it have not
								 * been looked at; NUM_LEVELS if all have */
	int64		passed;
	int			vain;			/* entries passed in vain */
	int64		vain_passed;	/* rows passed over or left out after them */
	int64		pages;			/* pages of dead entries in the look from the
								 * start */
	QueueEntry	heads[NUM_LEVELS];	/* by urgency */
	int64		beyond[NUM_LEVELS]; /* by urgency; if not 0, entries were passed
									 * in vain, so the place stays before them,
									 * and reading has got to this number */
} Queue;

/*
 * How long a look from the start is put off, in microseconds for each row that
 * the last one passed over.  Beyond a second, it is a fifth of this.  So after
 * 200,000 dead rows, a session that finds work overlooks what others have
 * returned for up to 5 s, and one that finds none for less than half a second.
 */
#define QUEUE_LOOK_BUSY		100
#define QUEUE_LOOK_IDLE		2

/* what a page of dead entries costs, in rows passed over */
#define QUEUE_PAGE_COSTS	4

/* maximum number of pages that are read to go to a place in the index */
#define QUEUE_DESCENT_PAGES	6

/*
 * Returns how many pages this backend has looked at.  Entries that the index
 * knows to be dead are passed over without being counted, a few hundred on
 * each page.
 */
extern int64 queue_pages(void);

/* Was the last look cheap, or is it long enough ago? */
extern bool queue_worth_looking(int64 passed, TimestampTz looked_at, int factor);

/*
 * Opens a queue.  The caller fills in scan, place, left_out, and agent_id or
 * kind; the rest is set here.
 */
extern void queue_open(Queue *queue);

/*
 * Returns the first entry that no other transaction is taking, or NULL if
 * there is none.  It remains the first one until queue_pass.
 */
extern QueueEntry *queue_first(Queue *queue);
/*
 * Returns the first entry of several queues.  *whose is set to the queue that
 * contains it.
 */
extern QueueEntry *queue_first_of(Queue *queues, int n, Queue **whose);
/*
 * Removes the entry, which queue_first or queue_first_of has returned, from
 * the heads; the next one takes its place.  The row is not deleted.
 */
extern void queue_pass(Queue *queue, QueueEntry *entry);
/*
 * The same for an entry that was tried in vain.  The next look finds it again,
 * unless it calls queue_skip.
 */
extern void queue_pass_in_vain(Queue *queue, QueueEntry *entry);
/* The same for an entry that was not tried, because its run is left out. */
extern void queue_pass_left_out(Queue *queue, QueueEntry *entry);
/* The same as queue_pass if no other entry is wanted.  Only queue_close may follow. */
extern void queue_leave(Queue *queue, const QueueEntry *entry);

/*
 * Leaves out the entries before these numbers, by urgency, which an earlier
 * look has tried in vain.
 */
extern void queue_skip(Queue *queue, const int64 *beyond);

/*
 * Looks from the start after all, if that has not been done yet and is
 * worthwhile.  Returns true if it did; queue_first may find an entry now.
 */
extern bool queue_look_again(Queue *queue);

/* Remembers the place.  To be called before rows_end. */
extern void queue_close(Queue *queue);

/*
 * Returns the number of rollbacks of this session, each of which may have put
 * rows back below a place.
 */
extern uint64 queue_rollbacks(void);

/* Makes a rollback of the current transaction count. */
extern void queue_watch_rollbacks(void);

/*
 * Returns the level as which the entry counts now, after the time that it has
 * been there.
 */
extern PriorityLevel queue_level(const QueueEntry *entry, TimestampTz now);

#endif							/* CLUTCH_QUEUE_H */
