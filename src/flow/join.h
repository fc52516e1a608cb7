/*-------------------------------------------------------------------------
 *
 * join.h
 *	  Fan-in: a parent is told, once, when its children are over.
 *
 * A child is joined when its request says meta.clutch.join, or that of its
 * parent does and the parent is a root.  "all": when all joined children are
 * over; "any" or n: when so many are completed, or too few are left for it.
 * The event is a task.progress to the parent's agent, the move "joined".
 * Children requested after it are a new group.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_JOIN_H
#define CLUTCH_JOIN_H

#include "flow/ending.h"
#include "nodes/pg_list.h"
#include "task/task.h"

/* a new child of this parent (NULL: not requested yet), to be saved */
extern void join_begin(Task *child, const Task *parent);

/* a child is over */
extern void join_settle(const EndedTask *ended);

/* ids of the joined children that are not over; a List of Slice * */
extern List *join_list(Slice parent_task_id);

#endif							/* CLUTCH_JOIN_H */
