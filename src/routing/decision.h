/*-------------------------------------------------------------------------
 *
 * decision.h
 *	  Payloads of routing.decision and routing.failure (spec 4.3).
 *
 * routing.decision:
 *
 *	{"rules": ["urgent", ...],
 *	 "priority": 4,
 *	 "selected": "agent:ken", "request": "msg_...", "attempt": 1,
 *	 "candidates": ["agent:ken", ...],
 *	 "scores": {"agent:ken": 0.92, ...},
 *	 "details": {"load": [0.5, ...], "success_rate": [1, ...],
 *				 "cost": ["low", ...], "last_chosen": [812, ...]},
 *	 "rejected": {"requires": {"count": 3, "agents": ["agent:a", ...]}, ...},
 *	 "reason": "matched requires[skill:research], lowest load"}
 *
 * "rules" are those that have touched the request, if any, and "priority" is
 * there if one of them sets it.  The candidates come best first, at most
 * clutch.decision_candidates of them; each list of the details is in the order
 * of the candidates.
 *
 * routing.failure: "code", "retryable", "message", "rejected", "request", and
 * "rules" and "priority" as above.
 *
 * The details are stored by column, because building an object for each of
 * twenty candidates cost more than the choice itself.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DECISION_H
#define CLUTCH_DECISION_H

#include "routing/choice.h"
#include "utils/jsonb.h"

/*
 * Return the payload, palloc'd.  "selected" is an index into
 * choice->candidates.
 */
extern Jsonb *decision_payload(const Requirement *requirement,
							   const Choice *choice, int selected,
							   Slice request_id, int attempt);
extern Jsonb *failure_payload(const Requirement *requirement,
							  const Choice *choice, Slice request_id);

/* --- reading a decision again, for clutch.why --- */

typedef struct DecisionCandidate
{
	Slice		agent_id;
	double		score;
	double		load;
	double		success_rate;
	Slice		cost;			/* absent if the decision does not say */
	int64		last_chosen;
} DecisionCandidate;

/*
 * Returns the number of candidates that the payload names.  *candidates is
 * palloc'd; its slices point into the payload.
 */
extern int	decision_candidates(JsonbContainer *payload, DecisionCandidate **candidates);

#endif							/* CLUTCH_DECISION_H */
