/*-------------------------------------------------------------------------
 *
 * join.h
 *	  Joins (fan-in): a parent is told once when its children are over.
 *
 * A child is joined if its request has meta.clutch.join, or if its parent is a
 * root and the request of the parent has it.  With "all", the parent is told
 * when all joined children are over; with "any" or a number, when that many
 * are completed, or can no longer be.  The event is a task.progress to the
 * parent's agent with the move "joined".  Children that are requested or
 * revived after it form a new group.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_JOIN_H
#define CLUTCH_JOIN_H

#include "flow/agenda.h"
#include "task/task.h"

/*
 * Sets task->join of a new child.  parent is NULL if it has not been requested
 * yet.
 */
extern void join_begin(Task *child, const Task *parent);

/*
 * Adds a consequence for the children of a revived parent that are over: while
 * the parent was over itself, it was not told.
 */
extern void join_revived(const Task *parent);

/*
 * Handles CONSEQUENCE_JOIN.  Returns false if a task is busy, so that it must
 * be tried again later.
 */
extern bool join_settle(const Consequence *consequence);

#endif							/* CLUTCH_JOIN_H */
