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
 * Forgets the spending of a run that has been imported again together with its
 * reports.
 */
extern void spending_total_forget(Slice run_id);

#endif							/* CLUTCH_SPENDING_TOTAL_H */
