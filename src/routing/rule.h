/*-------------------------------------------------------------------------
 *
 * rule.h
 *	  Operators' rules, which apply to a request before agents are matched:
 *	  clutch.routing_rule.
 *
 * A rule fits an envelope of its type, and of its scope if it has one, if one
 * of its phrases occurs in the payload (routing/phrase.h) and its path matches
 * the envelope (base/path.h).  The rules that fit are applied in the order of
 * their places.  Among rules with the same place, the one that was found by
 * the phrase with the most words is applied first; remaining ties are broken
 * by name.  What the rules require, prefer and exclude adds up.  Of the rules
 * that send a request somewhere, and of those that set its priority, only the
 * first one takes effect.
 *
 * The rules that exist when a request is routed apply to it, so they are
 * applied again whenever a waiting request is tried again.  A rebuild does not
 * apply them, but reads the decisions in the log.
 *
 * A backend caches the rules until the table changes (base/stale.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RULE_H
#define CLUTCH_RULE_H

#include "routing/requirement.h"

/*
 * Fills in the requirement of a request together with its rules.  Rules do not
 * apply to a request that names a single agent; that agent always gets it.  To
 * a request that a rule has sent to a group, only those rules apply that
 * exclude agents from it, or from the request that was shared out.
 */
extern void rule_requirement_of(const Envelope *envelope, Slice scope, Requirement *requirement);

/* --- what rules emit: requests beside an event, see flow/emission.h --- */

/*
 * the maximum number of requests that one rule adds to one event, or makes
 * from a request that it shares out
 */
#define RULE_MOST_REQUESTS	100

/*
 * Is there a rule that adds requests to events of this type, without sharing
 * them out?
 */
extern bool rule_may_emit(MessageType type);

/*
 * Returns the names of the rules that do so for this event, as a List of Slice
 * *.
 */
extern List *rule_list_emitting(const Envelope *envelope, Slice scope);

/*
 * Returns the column "emit" of the rule of that name, palloc'd, or NULL if
 * there is no such rule any more.
 */
extern Jsonb *rule_emit_of(Slice name);

/*
 * A request that is shared out.  No agent gets the request itself.  Instead, a
 * rule requests one child of it from each of several agents and groups: those
 * to which rules would send the request because of its words.  The one that
 * would get it if there were no such rule comes first.
 */
typedef struct Sharing
{
	Slice		rule;
	SliceList	among;			/* at most RULE_MOST_REQUESTS */
	SliceList	rules;			/* the names of the rules that were applied,
								 * and of those that found the recipients */
	int			left_out;		/* how many more were found */
} Sharing;

/*
 * Is the request to be shared out?  The requirement is that of
 * rule_requirement_of.  A request that names agents or groups is not shared
 * out.  *sharing is palloc'd.
 */
extern bool rule_sharing_of(const Envelope *request, const Requirement *requirement, Sharing *sharing);

/*
 * Raises 22023 with all faults of a row of clutch.routing_rule.  The columns
 * are in the order of the table.
 */
extern void rule_check(const Datum *values, const bool *nulls);

/*
 * Returns the number of changes of the table since this backend began to watch
 * it.  The number may be too high.
 */
extern uint64 rule_changes(void);

/*
 * Tells all backends that SQL has changed the table, so that they read it
 * again.
 */
extern void rule_announce(void);

#endif							/* CLUTCH_RULE_H */
