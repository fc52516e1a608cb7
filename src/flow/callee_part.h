/*-------------------------------------------------------------------------
 *
 * callee_part.h
 *	  Private declarations of callee.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CALLEE_PART_H
#define CLUTCH_CALLEE_PART_H

#include "flow/callee.h"
#include "task/task.h"

/* Returns the task of a CALL_TASK, or NULL if its attempt is no longer running. */
extern Task *callee_task(const Call *call);

#endif							/* CLUTCH_CALLEE_PART_H */
