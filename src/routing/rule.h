/*-------------------------------------------------------------------------
 *
 * rule.h
 *	  The rules of operators, which apply to a request before agents are
 *	  matched: clutch.routing_rule.
 *
 * A rule fits envelopes of one type, and possibly of one scope, if one of its phrases
 * occurs in the payload (routing/phrase.h) and its path fits the envelope (base/path.h).
 * The rules that fit are applied in the order of their places.  Of rules with the same
 * place, the one that was found by the phrase with the most words is applied first, and of
 * those that are still equal, the one whose name comes first.  What the rules require,
 * prefer and exclude adds up.  Of the rules that send a request somewhere, and of those that
 * set its priority, only the first one takes effect.
 *
 * The rules that exist when a request is routed apply to it, so they are applied again
 * whenever a waiting request is tried again.  Decisions are in the log, where a rebuild
 * reads them.
 *
 * A backend remembers the rules until the table changes (base/stale.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RULE_H
#define CLUTCH_RULE_H

#include "routing/requirement.h"

/*
 * The requirement of a request together with its rules.  Rules do not apply to a request
 * that names a single agent, which always gets it.
 */
extern void rule_requirement_of(const Envelope *envelope, Slice scope, Requirement *requirement);

/* --- what rules emit: requests beside an event, see flow/emission.h --- */

/* Is there a rule that adds requests to events of this type? */
extern bool rule_may_emit(MessageType type);

/* The names of the rules that add requests to this event, as a List of Slice *. */
extern List *rule_list_emitting(const Envelope *envelope, Slice scope);

/* The column "emit" of the rule of that name, palloc'd; NULL: there is no such rule any more. */
extern Jsonb *rule_emit_of(Slice name);

/*
 * The agents and groups to which rules would send a request, each once, palloc'd.  The one
 * that gets the request is the first.
 */
extern SliceList rule_list_recipients(const Envelope *envelope, Slice scope);

/*
 * Raises 22023 with all faults of a row of clutch.routing_rule, whose columns are
 * in the order of the table.
 */
extern void rule_check(const Datum *values, const bool *nulls);

/* the count of changes of the table, which may be too high, since this backend began to watch */
extern uint64 rule_changes(void);

/* Makes all backends read the table again, which SQL has changed. */
extern void rule_announce(void);

#endif							/* CLUTCH_RULE_H */
