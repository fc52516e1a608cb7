/*-------------------------------------------------------------------------
 *
 * breaker.h
 *	  Circuit breakers of agents (spec 003 5.3).
 *
 * While the breaker is closed, the agent gets work.  After
 * clutch.breaker_failures failures in a row it opens, and the agent gets no
 * work for clutch.breaker_reset seconds after the last failure.  Then the
 * breaker is half open, and the agent gets at most clutch.breaker_probes tasks
 * at once; as many successes since the last failure close the breaker, and a
 * failure opens it again.
 *
 * A failure is a task that the agent reported as failed, except with a code
 * that blames the request (REJECTED, INVALID_PARAMS, SCHEMA_VIOLATION); or one
 * that timed out, because its lease, its runtime, or a deadline that had left
 * the agent enough time ended while the agent held it.
 *
 * clutch.agent_failure has no rows for an agent that has not failed lately.
 * For one that has, it has a row per failure and, while the breaker is not
 * closed, one per success.  Rows are inserted and never updated, so that
 * reporting never waits.  What concurrent transactions do not see of one
 * another counts as if it came later.
 *
 * Each backend caches the breakers that are not closed, together with its
 * roster.  A transaction that opens or closes one announces that.  If two
 * transactions do so together, and neither can see it, that is noticed within
 * a second.
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
	int			failures;		/* in a row; above the threshold, they are not
								 * counted exactly */
	TimestampTz last_failure;
	TimestampTz open_until;
} Breaker;

extern const char *breaker_state_name(BreakerState state);

/* Sets state and open_until from failures and last_failure. */
extern void breaker_judge(Breaker *breaker, TimestampTz now);

typedef enum BreakerOutcome
{
	BREAKER_DONE,
	BREAKER_FAILED,
	BREAKER_TIMED_OUT
} BreakerOutcome;

/*
 * Counts how a task of the agent has just ended.  seq and at are those of the
 * event.
 */
extern void breaker_count(Slice agent_id, int64 seq, TimestampTz at,
						  BreakerOutcome outcome);

/*
 * Have the agent's last three tasks timed out, so that it must be presumed
 * dead?  Never, if breakers are switched off.
 */
extern bool breaker_times_out(Slice agent_id);

/*
 * Forgets the events with these seqs, which are in ascending order and are
 * being pruned.
 */
extern void breaker_forget(const int64 *seqs, int n);

/*
 * Lists the breakers of the roster's agents that are not closed in a palloc'd
 * array.  Returns their number.
 */
extern int	breaker_list(Roster *roster, TimestampTz now, Breaker **breakers);

/*
 * Returns how many tasks at once, of max_concurrency, the breaker allows the
 * agent.
 */
extern int	breaker_limit(Slice agent_id, TimestampTz now, int max_concurrency);

#endif							/* CLUTCH_BREAKER_H */
