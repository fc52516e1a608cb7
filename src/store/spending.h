/*-------------------------------------------------------------------------
 *
 * spending.h
 *	  Spending of agents in each run, as reported in meta.clutch.usage.
 *
 * Late reports count, too, because the money is spent.  There is one row for
 * each run, agent and day, or a few while several transactions report at the
 * same time.  A report folds into its own row those rows that it can lock
 * without waiting, so that an open transaction that has reported does not
 * block other reports.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SPENDING_H
#define CLUTCH_SPENDING_H

#include "protocol/amount.h"
#include "protocol/envelope.h"

typedef struct AgentSpending
{
	Slice		agent_id;
	Amount		amount;
} AgentSpending;

/*
 * Adds what a report says was spent, if anything.  seq and at are those of the
 * event.
 */
extern void spending_charge(const Envelope *report, int64 seq, TimestampTz at);

/*
 * Returns the number of agents that have spent something in the run; *agents
 * is a palloc'd array.  Counts what is committed and what the current
 * transaction has reported.
 */
extern int	spending_read(Slice run_id, AgentSpending **agents);

/*
 * Moves the spending of a run that is being pruned to spending_total.  Returns
 * false if another transaction holds one of the rows; the caller must raise an
 * error then, because others have been moved.
 */
extern bool spending_fold(Slice run_id);

/*
 * Takes the spending of a run that has been imported away from spending_total,
 * where it was moved if the run was pruned here after it was exported.  What
 * reports have spent that were not imported stays there.
 */
extern void spending_unfold(Slice run_id);

#endif							/* CLUTCH_SPENDING_H */
