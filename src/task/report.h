/*-------------------------------------------------------------------------
 *
 * report.h
 *	  What an agent says of a task, made into an envelope and sent.
 *
 * The functions clutch.finish, fail, progress, report and cancel are no more
 * than this: an agent may equally insert the envelope itself.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REPORT_H
#define CLUTCH_REPORT_H

#include "store/event.h"
#include "task/task.h"

/*
 * The envelope of an event about a task; attempt 0: none.  order, or NULL: a
 * key of meta.clutch that has this value.
 */
extern Jsonb *report_build(const Task *task, Slice from, Slice to, MessageType type,
						   Jsonb *payload, int attempt, const char *order,
						   Slice value);

/* attempt 0: the one the agent holds now.  Raises TASK_NOT_FOUND. */
extern Receipt report_send(Slice from_agent, Slice task_id, MessageType type,
						   Jsonb *payload, int attempt);

#endif							/* CLUTCH_REPORT_H */
