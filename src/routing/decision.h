/*-------------------------------------------------------------------------
 *
 * decision.h
 *	  The payloads of routing.decision and routing.failure (spec 4.3).
 *
 * routing.decision:
 *	{"selected": "agent:ken", "request": "msg_..", "attempt": 1,
 *	 "candidates": ["agent:ken", ...],			-- best first, at most
 *												   clutch.decision_candidates
 *	 "scores": {"agent:ken": 0.92, ...},
 *	 "details": [{"agent_id", "score", "load", "success_rate", "cost",
 *				  "last_chosen"}, ...],			-- same order as candidates
 *	 "rejected": {"requires": {"count": 3, "agents": ["agent:a", ..]}, ...},
 *	 "reason": "matched requires[skill:research], lowest load"}
 *
 * routing.failure: "code", "retryable", "message", "rejected", "request".
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DECISION_H
#define CLUTCH_DECISION_H

#include "routing/router.h"

/* selected: index into choice->candidates.  Palloc'd. */
extern Jsonb *decision_payload(const Requirement *requirement,
							   const Choice *choice, int selected,
							   Slice request_id, int attempt);
extern Jsonb *failure_payload(const Requirement *requirement,
							  const Choice *choice, Slice request_id);

#endif							/* CLUTCH_DECISION_H */
