/*-------------------------------------------------------------------------
 *
 * tool_call.h
 *	  Which tools an agent may call (spec 000 6).
 *
 * Three kinds of lists are kept, and a call must be in all of them: the tools and
 * servers on the card of the agent that calls, the allowlists of the requests of
 * its task and of the tasks above it, and the allowlist of the tool.call itself.
 * tool:x and mcp:x are the same tool.  An agent without a card has no list of its
 * own; one whose card names no tools may call none.  The lists of hosts in the
 * same places are kept as well (flow/egress.h); where there is none, every host
 * may be named.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TOOL_CALL_H
#define CLUTCH_TOOL_CALL_H

#include "protocol/envelope.h"

/*
 * Raises 42501, code TOOL_NOT_ALLOWED or HOST_NOT_ALLOWED, and says whose list does
 * not have the tool or the host.
 */
extern void tool_call_check(const Envelope *call);

#endif							/* CLUTCH_TOOL_CALL_H */
