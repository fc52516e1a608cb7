/*-------------------------------------------------------------------------
 *
 * join.h
 *	  Fan-in: a parent is told, once, when its children are over.
 *
 * A child is joined if its request says meta.clutch.join, or if the request of
 * its parent does and the parent is a root.  "all": the parent is told when all
 * joined children are over; "any" or n: when that many are completed, or too few
 * are left for it.  The event is a task.progress to the parent's agent, the move
 * "joined".  Children that are requested after it form a new group.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_JOIN_H
#define CLUTCH_JOIN_H

#include "flow/agenda.h"
#include "task/task.h"

/* sets task->join of a new child; parent is NULL if it has not been requested yet */
extern void join_begin(Task *child, const Task *parent);

/* CONSEQUENCE_JOIN; false: a task is busy, so this is to be tried later */
extern bool join_settle(const Consequence *consequence);

#endif							/* CLUTCH_JOIN_H */
