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
 * that names a single agent, which always gets it.  To one that a rule has sent to a group, only
 * those apply that keep agents from it, or from the request that was shared out.
 */
extern void rule_requirement_of(const Envelope *envelope, Slice scope, Requirement *requirement);

/* --- what rules emit: requests beside an event, see flow/emission.h --- */

/* the most requests that one rule adds to one event, or makes of a request that it shares out */
#define RULE_MOST_REQUESTS	100

/* Is there a rule that adds requests to events of this type, and does not share them out? */
extern bool rule_may_emit(MessageType type);

/* The names of the rules that do so for this event, as a List of Slice *. */
extern List *rule_list_emitting(const Envelope *envelope, Slice scope);

/*
 * The column "emit" of the rule of that name, palloc'd, or NULL if there is no
 * such rule any more.
 */
extern Jsonb *rule_emit_of(Slice name);

/*
 * A request that no agent gets, because a rule requests one child of it from each of
 * several agents and groups: those to which rules would send it because of its words, and
 * the one that would get it if there were no such rule, which comes first.
 */
typedef struct Sharing
{
	Slice		rule;
	SliceList	among;			/* RULE_MOST_REQUESTS at most */
	SliceList	rules;			/* the names of those that were applied, and of those that have found them */
	int			left_out;		/* so many more were found */
} Sharing;

/*
 * Is the request to be shared out?  The requirement is that of rule_requirement_of.  A
 * request that names agents or groups is not.  The sharing is palloc'd.
 */
extern bool rule_sharing_of(const Envelope *request, const Requirement *requirement, Sharing *sharing);

/*
 * Raises 22023 with all faults of a row of clutch.routing_rule, whose columns are
 * in the order of the table.
 */
extern void rule_check(const Datum *values, const bool *nulls);

/*
 * Returns the count of changes of the table, which may be too high, since this
 * backend began to watch.
 */
extern uint64 rule_changes(void);

/* Makes all backends read the table again, which SQL has changed. */
extern void rule_announce(void);

#endif							/* CLUTCH_RULE_H */
