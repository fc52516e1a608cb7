/*-------------------------------------------------------------------------
 *
 * agent_status.h
 *	  Where an agent is in its life (clutch.agent_registry.status).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AGENT_STATUS_H
#define CLUTCH_AGENT_STATUS_H

#include "base/text.h"

typedef enum AgentStatus
{
	AGENT_INITIALIZING,
	AGENT_READY,				/* takes work */
	AGENT_BUSY,					/* takes work: READY with its slots full */
	AGENT_UNAVAILABLE,
	AGENT_STOPPING,
	AGENT_STOPPED
} AgentStatus;
#define NUM_AGENT_STATUSES	(AGENT_STOPPED + 1)

/*
 * The lifecycle of spec 003 3.2.  Registering anew begins it again, whatever
 * the status was.
 */
extern bool agent_status_may_become(AgentStatus from, AgentStatus to);

/* the work of an agent that is so is given to others */
extern bool agent_status_gives_up(AgentStatus status);

/* as in SQL and in payloads: "READY" */
extern const char *agent_status_name(AgentStatus status);

/* false if it is no status; *status is then untouched */
extern bool agent_status_parse(Slice name, AgentStatus *status);

#endif							/* CLUTCH_AGENT_STATUS_H */
