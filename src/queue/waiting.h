/*-------------------------------------------------------------------------
 *
 * waiting.h
 *	  Tasks that wait for an agent, indexed by what they require.
 *
 * These are the rows of clutch.waiting: pending tasks, and ready ones that are
 * offered to other agents because their own does not claim them.  Tasks with
 * the same requirement form a queue, which is called a kind.  The number of a
 * kind begins with the anchor of its requirement (routing/anchor.h), so an
 * agent that has room finds the kinds that it may fit by the words of its own
 * card.  It never reads what waits for others, however long that backlog is
 * and however many kinds it has.
 *
 * The caller of waiting_put, waiting_put_kind and waiting_remove must have
 * locked the task, and saves it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WAITING_H
#define CLUTCH_WAITING_H

#include "routing/requirement.h"
#include "task/task.h"

/*
 * Puts a task into its queue.  One that is waiting already keeps its place,
 * though perhaps in another queue, if the rules have changed.
 */
extern void waiting_put(Task *task, const Requirement *requirement);

/* Puts it at the end of a kind that it has just left (task->queue_kind). */
extern void waiting_put_kind(Task *task, int64 kind);

/*
 * Puts a task that has yielded its slot back into its old place
 * (queue/queue.h).
 */
extern void waiting_put_back(Task *task, const Requirement *requirement);
extern void waiting_remove(Task *task);

/* Is a pending task in the queue of this requirement? */
extern bool waiting_is_of_kind(const Task *task, const Requirement *requirement);

/*
 * Offer a ready task, which stays in its queue, to other agents as well, and
 * end that.  The caller must have locked the task, and saves it.
 */
extern void waiting_offer(Task *task, const Requirement *requirement);
extern void waiting_end_offer(Task *task);

/* Is nothing waiting at all, as far as can be seen at little cost? */
extern bool waiting_is_empty(void);

/* a place in a queue, read without a lock */
typedef struct WaitingPlace
{
	Slice		task_id;
	int64		kind;
	int64		queue_no;
} WaitingPlace;

/*
 * Is there no other waiting task of its kind that is at least as urgent and
 * came earlier?  This may return true although there is one, if finding it
 * would take long.
 */
extern bool waiting_is_first(const Task *task);

/* Is the task pending, or offered, at that place? */
extern bool waiting_is_at(const Task *task, const WaitingPlace *place);

typedef enum WaitingTried
{
	WAITING_LEFT,				/* an agent has it now, or it has ended */
	WAITING_STAYS,				/* and so would every other task of its kind,
								 * unless one agent is looking at it */
	WAITING_STAYS_FOR_RUN,		/* and so would every other task of its run,
								 * if it has the same kind or one agent is
								 * looking, because of what the run has cost */
	WAITING_STAYS_ALONE			/* which says nothing about other tasks */
} WaitingTried;

typedef WaitingTried (*WaitingTry) (const WaitingPlace *place, void *arg);

/* a look at the tasks that fit an agent */
typedef struct WaitingLook
{
	Slice		agent_id;
	int			n;				/* so many may leave their places */
	bool		asks;			/* the agent is asking for work */
	WaitingTry	try_one;
	void	   *arg;
} WaitingLook;

/*
 * Tries the tasks that fit the agent, the most urgent first, until n of them
 * have left their places, none is left, or too many have stayed.  Returns how
 * many have left.
 */
extern int	waiting_try_fitting(const WaitingLook *look);

/*
 * The same for all kinds, whichever agent they fit.  A kind is not tried
 * further after WAITING_STAYS.  There may be any number of kinds, so each call
 * continues where this backend's last one stopped, or begins with a random one.
 */
extern int	waiting_try_kinds(int n, WaitingTry try_one, void *arg);

/*
 * Calls see for the next n tasks, whatever their kinds, continuing where this
 * backend's last call stopped, or beginning with a random one, and starting
 * again after the last task.
 */
typedef void (*WaitingSee) (const WaitingPlace *place, void *arg);
extern void waiting_see_next(int n, WaitingSee see, void *arg);

/*
 * Locks and returns the task, if it is still at that place, or returns NULL.
 * Never waits for a lock.
 */
extern Task *waiting_lock(const WaitingPlace *place);

#endif							/* CLUTCH_WAITING_H */
