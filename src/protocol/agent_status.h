/*-------------------------------------------------------------------------
 *
 * agent_status.h
 *	  The status of an agent (clutch.agent_registry.status).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AGENT_STATUS_H
#define CLUTCH_AGENT_STATUS_H

#include "base/text.h"

typedef enum AgentStatus
{
	AGENT_INITIALIZING,
	AGENT_READY,				/* is given work */
	AGENT_BUSY,					/* like READY, but all of its slots are taken */
	AGENT_UNAVAILABLE,
	AGENT_STOPPING,
	AGENT_STOPPED
} AgentStatus;
#define NUM_AGENT_STATUSES	(AGENT_STOPPED + 1)

/*
 * Does the lifecycle of spec 003 3.2 allow this change?  An agent that
 * registers again starts over, whatever its status was.
 */
extern bool agent_status_may_become(AgentStatus from, AgentStatus to);

/* Returns a list of what may follow a status, such as "READY, UNAVAILABLE or STOPPED". */
extern const char *agent_status_successors(AgentStatus from);

/* Is the work of an agent with this status given to other agents? */
extern bool agent_status_gives_up(AgentStatus status);

/* Returns the name used in SQL and in payloads, such as "READY". */
extern const char *agent_status_name(AgentStatus status);

/*
 * Returns false, leaving *status unchanged, if it is not the name of a status.
 */
extern bool agent_status_parse(Slice name, AgentStatus *status);

#endif							/* CLUTCH_AGENT_STATUS_H */
