/*-------------------------------------------------------------------------
 *
 * rule.h
 *	  The rules of operators, which apply to a request before agents are
 *	  matched: clutch.routing_rule.
 *
 * A rule concerns the envelopes of one type, perhaps of one scope, in whose
 * payload one of its phrases occurs (routing/phrase.h) and which its path fits
 * (base/path.h).  The rules that fit are applied in the order of their places.  Of
 * rules with the same place, the one that was found by the longest phrase is applied
 * first, and of those with phrases of the same length, the one whose name comes first.  What they require and prefer adds up, and so do the agents
 * that they exclude.  Of the rules that send a request somewhere, and of those that
 * set its priority, the first one counts.
 *
 * A request is judged by the rules as they are when it is routed, so a request that
 * waits is judged anew when it is tried again.  What was decided is in the log: a
 * rebuild reads it there.
 *
 * A backend remembers the rules until the table changes (base/stale.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RULE_H
#define CLUTCH_RULE_H

#include "routing/requirement.h"

/*
 * What a request asks for together with its rules.  No rule touches a request
 * that names one agent: it is given to this agent without a choice.
 */
extern void rule_requirement_of(const Envelope *envelope, Slice scope, Requirement *requirement);

/* --- what rules emit: requests beside an event, see flow/emission.h --- */

/* Is there a rule that emits anything beside events of this type? */
extern bool rule_may_emit(MessageType type);

/* The names of the rules that emit beside this event: a List of Slice *. */
extern List *rule_list_emitting(const Envelope *envelope, Slice scope);

/* What the rule of that name emits, palloc'd; NULL: there is no such rule any more. */
extern Jsonb *rule_emit_of(Slice name);

/*
 * The agents and groups to which rules would send a request, each once: first the one
 * to which it is sent, then those whose phrases occur in it.  Palloc'd.
 */
extern SliceList rule_list_recipients(const Envelope *envelope, Slice scope);

/*
 * Raises 22023 with all faults of a row of clutch.routing_rule, whose columns are
 * in the order of the table.
 */
extern void rule_check(const Datum *values, const bool *nulls);

/* how often the table may have changed since this backend began to watch */
extern uint64 rule_changes(void);

/* The table has been changed by SQL: all backends read it again. */
extern void rule_announce(void);

#endif							/* CLUTCH_RULE_H */
