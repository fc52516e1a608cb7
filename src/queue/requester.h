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
 * Raises 54000, TOO_MANY_KINDS, if the request would add one kind more than
 * the agent that sends it may have.
 */
extern void requester_require_room(Slice from_agent, const Requirement *requirement);

#endif							/* CLUTCH_REQUESTER_H */
