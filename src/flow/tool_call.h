/*-------------------------------------------------------------------------
 *
 * tool_call.h
 *	  Which tools an agent may call (spec 000 6).
 *
 * Three lists are kept: the tools and servers on the card of the agent that
 * calls, the allowlist of the request of the task that it calls for, and the
 * allowlist of the tool.call itself.  tool:x and mcp:x are the same tool.  An
 * agent without a card has no list of its own; one whose card names no tools may
 * call none.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TOOL_CALL_H
#define CLUTCH_TOOL_CALL_H

#include "protocol/envelope.h"

/* raises 42501, code TOOL_NOT_ALLOWED, and says whose list does not have the tool */
extern void tool_call_check(const Envelope *call);

#endif							/* CLUTCH_TOOL_CALL_H */
