/*-------------------------------------------------------------------------
 *
 * breaker.h
 *	  The circuit breaker of an agent (spec 003 5.3).
 *
 * closed: it gets work.  After clutch.breaker_failures in a row: open, no
 * work for clutch.breaker_reset seconds after the last of them.  Then half
 * open: clutch.breaker_probes tasks at once; as many successes close it, a
 * failure opens it again.
 *
 * An agent that has not failed lately has no rows in clutch.agent_failure; one
 * that has, a row a failure, and while half open a row a success.  Rows are
 * inserted, never changed, so that reporting waits for nobody.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_BREAKER_H
#define CLUTCH_BREAKER_H

#include "base/text.h"
#include "datatype/timestamp.h"

typedef enum BreakerState
{
	BREAKER_CLOSED,
	BREAKER_OPEN,
	BREAKER_HALF_OPEN
} BreakerState;

typedef struct Breaker
{
	Slice		agent_id;
	BreakerState state;
	int			failures;		/* in a row */
	TimestampTz until;			/* open until then */
} Breaker;

/* the agent has just failed a task, or done one; seq and at are the report's */
extern void breaker_count(Slice agent_id, int64 seq, TimestampTz at, bool failed);

/* those that are not closed, palloc'd; how many */
extern int	breaker_list(TimestampTz now, Breaker **breakers);

#endif							/* CLUTCH_BREAKER_H */
