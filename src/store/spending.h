/*-------------------------------------------------------------------------
 *
 * spending.h
 *	  What the tasks of a run have cost: the ledger of meta.clutch.usage.
 *
 * A row for each report that says what it cost, late ones too: the money is
 * spent.  Rows are inserted and never changed, so that an open transaction
 * that has reported keeps nobody else of the run from reporting.
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

/* nothing, unless the report says what it cost; seq is the event's */
extern void spending_charge(const Envelope *report, int64 seq);

/* by agent, palloc'd; what is committed, and our own.  The number of agents. */
extern int	spending_read(Slice run_id, AgentSpending **agents);

#endif							/* CLUTCH_SPENDING_H */
