/*-------------------------------------------------------------------------
 *
 * requester.h
 *	  Limiting how many kinds of waiting tasks an agent may have requested.
 *
 * An agent that has room reads the kinds that it may fit, judging by one word
 * of its card (queue/waiting.h).  So that no requester can make that expensive
 * for others, clutch.max_waiting_kinds limits the number of kinds of each
 * requester.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REQUESTER_H
#define CLUTCH_REQUESTER_H

#include "routing/requirement.h"

/*
 * Returns the agent for which a request counts.  What a rule adds in its own
 * name counts for the sender of the event, because one sender could otherwise
 * use up what the orchestrator may have waiting for all of them.
 */
extern Slice requester_of(const Requirement *requirement);

/* Is there room for the request among the kinds that its requester may have? */
extern bool requester_has_room(const Requirement *requirement);

/* Says that there is not, palloc'd. */
extern char *requester_no_room(const Requirement *requirement);

/* Raises 54000, TOO_MANY_KINDS, if there is not. */
extern void requester_require_room(const Requirement *requirement);

#endif							/* CLUTCH_REQUESTER_H */
