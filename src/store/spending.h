/*-------------------------------------------------------------------------
 *
 * spending.h
 *	  What the agents have spent in each run, as reported in meta.clutch.usage.
 *
 * Late reports count too, because the money is spent.  There is one row for a
 * run, agent and day, or a few while several transactions report at the same time:
 * a report folds those rows into its own that it can have without waiting, so
 * that an open transaction that has reported keeps no other from reporting.
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

/* Adds what a report says was spent, if anything.  seq and at are those of the event. */
extern void spending_charge(const Envelope *report, int64 seq, TimestampTz at);

/*
 * Returns the number of agents that have spent something in the run, and an
 * array of them, palloc'd.  Counts what is committed and what the current
 * transaction has reported.
 */
extern int	spending_read(Slice run_id, AgentSpending **agents);

/* The run, whose tasks the caller has locked, is being pruned: see spending_total.h. */
extern void spending_fold(Slice run_id);

#endif							/* CLUTCH_SPENDING_H */
