/*-------------------------------------------------------------------------
 *
 * waiting.h
 *	  What waits for an agent, indexed by what it requires.
 *
 * Rows of clutch.waiting: pending tasks, and ready ones that are offered to other
 * agents because their own does not claim them.  Tasks of one requirement form a
 * queue, a kind.  The
 * number of a kind begins with the anchor of its requirement
 * (routing/anchor.h), so an agent that has room finds the kinds it may fit by
 * the words of its own card, and never reads what waits for others: neither a
 * long backlog nor many kinds of it.
 *
 * The caller of waiting_put, waiting_put_kind and waiting_remove has the task
 * locked and saves it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WAITING_H
#define CLUTCH_WAITING_H

#include "routing/requirement.h"
#include "task/task.h"

/* A task that waits already keeps its place if what it requires is the same. */
extern void waiting_put(Task *task, const Requirement *requirement);

/* puts it at the end of a kind that it had before (task->queue_kind) */
extern void waiting_put_kind(Task *task, int64 kind);

/* puts a task that has yielded its slot where it stood before (queue/queue.h) */
extern void waiting_put_back(Task *task, const Requirement *requirement);
extern void waiting_remove(Task *task);

/*
 * Offers a ready task, which stays in its queue, to other agents as well, and
 * ends that; the caller has the task locked and saves it.
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
 * Does no other task of its kind wait that is at least as urgent and came before?
 * It may say so although there is one, if finding it would take long.
 */
extern bool waiting_is_first(const Task *task);

/* Is the task pending or offered there? */
extern bool waiting_is_at(const Task *task, const WaitingPlace *place);

typedef enum WaitingTried
{
	WAITING_LEFT,				/* an agent has it now, or it ended */
	WAITING_STAYS,				/* and no other task of its kind would do better */
	WAITING_STAYS_ALONE			/* which says nothing about the others */
} WaitingTried;

typedef WaitingTried (*WaitingTry) (const WaitingPlace *place, void *arg);

/*
 * Tries the tasks that fit the agent, the most urgent first, until n of them
 * have left their places or none is left that is worth trying.  Returns how
 * many have left.
 */
extern int	waiting_try_fitting(Slice agent_id, int n, bool asks, WaitingTry try_one, void *arg);

/*
 * The same for the kinds that wait, whoever fits them; a kind whose first task
 * stays is not tried further.  There may be any number of kinds, so each call
 * goes on where the last one of this backend stopped.
 */
extern int	waiting_try_kinds(int n, WaitingTry try_one, void *arg);

/* The task, locked, if it is still at that place; never waits for a lock. */
extern Task *waiting_lock(const WaitingPlace *place);

#endif							/* CLUTCH_WAITING_H */
