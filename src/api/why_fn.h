/*-------------------------------------------------------------------------
 *
 * why_fn.h
 *	  The rows that clutch.explain_route and clutch.why return.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WHY_FN_H
#define CLUTCH_WHY_FN_H

#include "base/text.h"
#include "fmgr.h"

extern void why_put_candidate(FunctionCallInfo fcinfo, Slice agent_id, Slice detail, double score,
							  double load, double success_rate, int rank);
extern void why_put_rejected(FunctionCallInfo fcinfo, Slice agent_id, Slice rejected_by, Slice detail);

/* Puts an agent that gets the task without having been compared with others. */
extern void why_put_given(FunctionCallInfo fcinfo, Slice agent_id, Slice detail, int rank);

/* Returns text as in "cost medium, last chosen by event 812", palloc'd. */
extern Slice why_candidate_detail(Slice cost, int64 last_chosen);

/*
 * Returns the words that follow if a request is shared out among only the
 * first recipients, palloc'd.
 */
extern char *why_words_of_rest(int64 left_out);

#endif							/* CLUTCH_WHY_FN_H */
