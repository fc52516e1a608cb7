/*-------------------------------------------------------------------------
 *
 * tool_call.h
 *	  Checking which tools an agent may call (spec 000 6).
 *
 * A call must be allowed by three kinds of lists: the tools and servers on the
 * card of the calling agent, the allowlists of the requests of its task and of
 * the tasks above it, and the allowlist of the tool.call itself.  tool:x and
 * mcp:x are the same tool.  An agent without a card has no list of its own;
 * one whose card names no tools may call none.  The lists of hosts in the same
 * places are enforced as well (flow/egress.h); where there is no list, any
 * host may be named.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TOOL_CALL_H
#define CLUTCH_TOOL_CALL_H

#include "protocol/envelope.h"

/*
 * Raises 42501, code TOOL_NOT_ALLOWED or HOST_NOT_ALLOWED, and says whose list
 * does not contain the tool or the host.
 */
extern void tool_call_check(const Envelope *call);

#endif							/* CLUTCH_TOOL_CALL_H */
