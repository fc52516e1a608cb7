/*-------------------------------------------------------------------------
 *
 * breaker.h
 *	  The circuit breaker of an agent (spec 003 5.3).
 *
 * closed: it gets work.  After clutch.breaker_failures in a row: open, no
 * work for clutch.breaker_reset seconds after the last of them.  Then half
 * open: clutch.breaker_probes tasks at once; as many successes since the last
 * failure close it, a failure opens it again.
 *
 * A failure is a task that the agent reported as failed, or one that timed
 * out: its lease, runtime or deadline ended while the agent held it.
 *
 * An agent that has not failed lately has no rows in clutch.agent_failure; one
 * that has, a row a failure, and once it is open a row a success.  Rows are
 * inserted, never changed, so that reporting waits for nobody.  What
 * transactions that are open at the same time do not see of one another is
 * counted as if it came later.
 *
 * Each backend keeps the breakers that are not closed in memory, as it keeps
 * the roster: who opens or closes one says so by a relcache invalidation of
 * the table.  What two do together, and neither sees, is found within a second.
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
	int			failures;		/* in a row; more than it takes are not counted */
	TimestampTz last_failure;
	TimestampTz open_until;
} Breaker;

extern const char *breaker_state_name(BreakerState state);

/* state and open_until, from failures and last_failure */
extern void breaker_judge(Breaker *breaker, TimestampTz now);

typedef enum BreakerOutcome
{
	BREAKER_DONE,
	BREAKER_FAILED,
	BREAKER_TIMED_OUT
} BreakerOutcome;

/* what became of a task of the agent just now; seq and at are the event's */
extern void breaker_count(Slice agent_id, int64 seq, TimestampTz at,
						  BreakerOutcome outcome);

/*
 * Have its last three tasks timed out, so that it must be thought dead?
 * Without breakers nobody is.
 */
extern bool breaker_times_out(Slice agent_id);

/* those that are not closed, by agent_id, palloc'd; how many */
extern int	breaker_list(TimestampTz now, Breaker **breakers);

/* how many tasks at once the breaker leaves of so many */
extern int	breaker_limit(Slice agent_id, TimestampTz now, int max_concurrency);

#endif							/* CLUTCH_BREAKER_H */
