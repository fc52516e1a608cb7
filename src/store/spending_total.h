/*-------------------------------------------------------------------------
 *
 * spending_total.h
 *	  Spending in runs that have been pruned, for each run, agent and day.
 *
 * These rows cannot be derived from the log, which no longer has the reports,
 * so a rebuild does not touch them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SPENDING_TOTAL_H
#define CLUTCH_SPENDING_TOTAL_H

#include "protocol/amount.h"
#include "base/text.h"
#include "utils/date.h"

extern void spending_total_add(Slice run_id, Slice agent_id, DateADT day, Amount amount);

/*
 * Takes away what reports have said that are in the log again, as far as it is
 * there.
 */
extern void spending_total_take(Slice run_id, Slice agent_id, DateADT day, Amount amount);

#endif							/* CLUTCH_SPENDING_TOTAL_H */
