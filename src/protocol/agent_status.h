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

/* as in SQL and in payloads: "READY" */
extern const char *agent_status_name(AgentStatus status);

/* false if it is no status; *status is then untouched */
extern bool agent_status_parse(Slice name, AgentStatus *status);

#endif							/* CLUTCH_AGENT_STATUS_H */
