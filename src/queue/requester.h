/*-------------------------------------------------------------------------
 *
 * requester.h
 *	  How many kinds of tasks that wait an agent may have requested.
 *
 * An agent that has room reads the kinds that it may fit, judged by one word of
 * its card (queue/waiting.h).  So that no requester can make that expensive for
 * others, the number of kinds of each is limited by clutch.max_waiting_kinds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REQUESTER_H
#define CLUTCH_REQUESTER_H

#include "routing/requirement.h"

/*
 * Raises 54000, TOO_MANY_KINDS, if the request would begin one kind more than
 * the agent that sends it may have.
 */
extern void requester_require_room(Slice from_agent, const Requirement *requirement);

#endif							/* CLUTCH_REQUESTER_H */
