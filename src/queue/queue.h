/*-------------------------------------------------------------------------
 *
 * queue.h
 *	  What is ready for one agent, or waits as one kind, in claim order.
 *
 * The rows of clutch.ready with one agent_id, or of clutch.waiting with one
 * kind, are a queue.  Its order:
 *
 *	- by level: the priority of the task, and one more for each clutch.aging
 *	  that it has stood here, but never more than LEVEL_HIGH;
 *	- within a level by queue_no, so in the order of arrival;
 *	- tasks of LEVEL_CRITICAL go before all others.  But while some have aged
 *	  until they would count as critical, one of four times one of those goes
 *	  first: so nothing starves, and no backlog makes a critical task wait.
 *
 * Taken rows stay in the index until no snapshot can see them.  So a backend
 * remembers a QueuePlace, from where there was something to take, and looks
 * from there when looking from the start has been costly.  Below it lies only
 * what others committed late or gave up taking; the next look from the start
 * finds it, and that is never put off for long.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_QUEUE_H
#define CLUTCH_QUEUE_H

#include "base/rows.h"

/* spec 003 8.1; in the tables urgency = LEVEL_CRITICAL - priority */
enum
{
	LEVEL_BATCH,
	LEVEL_LOW,
	LEVEL_NORMAL,
	LEVEL_HIGH,
	LEVEL_CRITICAL,
	NUM_LEVELS
};

/* columns of clutch.ready and clutch.waiting */
enum
{
	Anum_queue_key = 1,			/* agent_id or kind */
	Anum_queue_urgency,
	Anum_queue_queue_no,
	Anum_queue_task_id,
	Anum_queue_since,			/* when it came here */
	Natts_queue = Anum_queue_since
};

typedef struct QueuePlace
{
	int64		from[NUM_LEVELS];	/* by urgency */
	int64		drawn;			/* a queue_no, before the next look; or 0 */
	int64		passed;			/* rows the last look from the start passed over */
	TimestampTz looked_at;		/* and when it was */
	uint64		rollbacks;		/* of this session by then */
} QueuePlace;

typedef struct QueueEntry
{
	int			urgency;
	int64		queue_no;
	TimestampTz since;
	Slice		task_id;		/* absent: none of this urgency */
	ItemPointerData tid;
} QueueEntry;

typedef struct Queue
{
	RowScan    *scan;			/* of its table, ROWS_DIRTY; may serve several */
	Slice		agent_id;		/* of clutch.ready; or absent, and */
	int64		kind;			/* of clutch.waiting */
	QueuePlace *place;
	bool		from_start;
	int64		passed;
	QueueEntry	heads[NUM_LEVELS];	/* by urgency */
} Queue;

/*
 * How often a look from the start is worth what it costs: microseconds for
 * each row that the last one passed over.
 */
#define QUEUE_LOOK_KINDS	100		/* a descent of the tree for each */
#define QUEUE_LOOK_BUSY		20
#define QUEUE_LOOK_IDLE		2

/* was the last look cheap, or long enough ago? */
extern bool queue_worth_looking(int64 passed, TimestampTz looked_at, int factor);

/* who calls fills in scan, agent_id or kind, place; the rest is done here */
extern void queue_open(Queue *queue);

/*
 * The first that nobody is taking, NULL: none.  It stays the first until
 * queue_pass.
 */
extern QueueEntry *queue_first(Queue *queue);
/* the first of several queues, and of which one it is */
extern QueueEntry *queue_first_of(Queue *queues, int n, Queue **whose);
extern void queue_pass(Queue *queue, QueueEntry *entry);

/*
 * From the start after all, if that was not done and is worth it; true: look
 * at queue_first again.
 */
extern bool queue_look_again(Queue *queue);

/* remembers the place */
extern void queue_close(Queue *queue);

/* what the entry counts as now, having stood there for so long */
extern int	queue_level(const QueueEntry *entry, TimestampTz now);

#endif							/* CLUTCH_QUEUE_H */
