/*-------------------------------------------------------------------------
 *
 * breaker.h
 *	  The circuit breaker of an agent (spec 003 5.3).
 *
 * While closed, the agent gets work.  After clutch.breaker_failures in a row it
 * opens: no work for clutch.breaker_reset seconds after the last failure.  Then
 * it is half open: the agent gets clutch.breaker_probes tasks at once; as many
 * successes since the last failure close the breaker, and a failure opens it
 * again.
 *
 * A failure is a task that the agent reported as failed, except with the code
 * REJECTED, which blames the request, or one that timed out: its lease or runtime
 * ended while the agent held it, or a deadline that had left it enough time.
 *
 * clutch.agent_failure has no rows of an agent that has not failed lately; of
 * one that has, it has a row per failure and, while the breaker is not closed,
 * one per success.  Rows are inserted and never changed, so that reporting
 * waits for nothing.  What transactions that are open at the same time do not
 * see of one another is counted as if it came later.
 *
 * Each backend remembers the breakers that are not closed, beside its roster.  A
 * transaction that opens or closes one announces that; what two transactions do
 * together, and neither can see, is found within a second.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_BREAKER_H
#define CLUTCH_BREAKER_H

#include "base/text.h"
#include "datatype/timestamp.h"
#include "registry/roster.h"

typedef enum BreakerState
{
	BREAKER_CLOSED,
	BREAKER_OPEN,
	BREAKER_HALF_OPEN
} BreakerState;

typedef struct Breaker
{
	int			ordinal;		/* of the agent in the roster */
	BreakerState state;
	int			failures;		/* in a row; beyond the threshold they are not
								 * counted exactly */
	TimestampTz last_failure;
	TimestampTz open_until;
} Breaker;

extern const char *breaker_state_name(BreakerState state);

/* sets state and open_until by failures and last_failure */
extern void breaker_judge(Breaker *breaker, TimestampTz now);

typedef enum BreakerOutcome
{
	BREAKER_DONE,
	BREAKER_FAILED,
	BREAKER_TIMED_OUT
} BreakerOutcome;

/* counts what became of a task of the agent just now; seq and at are the event's */
extern void breaker_count(Slice agent_id, int64 seq, TimestampTz at,
						  BreakerOutcome outcome);

/*
 * Have the agent's last three tasks timed out, so that it must be taken for
 * dead?  Never, if breakers are switched off.
 */
extern bool breaker_times_out(Slice agent_id);

/* The events with these seqs, in ascending order, are being pruned. */
extern void breaker_forget(const int64 *seqs, int n);

/* the breakers of the roster's agents that are not closed, palloc'd; how many */
extern int	breaker_list(Roster *roster, TimestampTz now, Breaker **breakers);

/*
 * Returns how many of so many tasks at once the breaker leaves to the agent.
 */
extern int	breaker_limit(Slice agent_id, TimestampTz now, int max_concurrency);

#endif							/* CLUTCH_BREAKER_H */
