/*-------------------------------------------------------------------------
 *
 * ending.h
 *	  The ends of a task that nobody reported: the database says them.
 *
 * The task is locked by the caller and live; afterwards it is over, or held
 * for another try, and saved, and the slot it held is offered.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ENDING_H
#define CLUTCH_ENDING_H

#include "delivery/task.h"

/* task.error by the orchestrator: failed, not to be tried again by itself */
extern void ending_fail(Task *task, const char *code, const char *message);

/*
 * task.timeout (spec 2.1): what the agent still reports is late.  may_retry:
 * as TIMEOUT is a reason to try again.
 */
extern void ending_time_out(Task *task, TimestampTz deadline, const char *code,
							const char *message, bool may_retry);

#endif							/* CLUTCH_ENDING_H */
