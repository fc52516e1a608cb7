/*-------------------------------------------------------------------------
 *
 * agent_status.c
 *	  Where an agent is in its life.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/agent_status.h"

/* in the order of AgentStatus */
static const char *const status_names[] = {
	"INITIALIZING", "READY", "BUSY", "UNAVAILABLE", "STOPPING", "STOPPED"
};

static const struct
{
	AgentStatus from;
	AgentStatus to;
}			moves[] = {
	{AGENT_INITIALIZING, AGENT_READY},
	{AGENT_INITIALIZING, AGENT_UNAVAILABLE},
	{AGENT_INITIALIZING, AGENT_STOPPED},

	{AGENT_READY, AGENT_INITIALIZING},	/* it loads something else */
	{AGENT_READY, AGENT_BUSY},
	{AGENT_READY, AGENT_UNAVAILABLE},
	{AGENT_READY, AGENT_STOPPING},
	{AGENT_READY, AGENT_STOPPED},

	{AGENT_BUSY, AGENT_READY},
	{AGENT_BUSY, AGENT_UNAVAILABLE},
	{AGENT_BUSY, AGENT_STOPPING},
	{AGENT_BUSY, AGENT_STOPPED},

	{AGENT_UNAVAILABLE, AGENT_INITIALIZING},
	{AGENT_UNAVAILABLE, AGENT_READY},
	{AGENT_UNAVAILABLE, AGENT_BUSY},
	{AGENT_UNAVAILABLE, AGENT_STOPPING},
	{AGENT_UNAVAILABLE, AGENT_STOPPED},

	{AGENT_STOPPING, AGENT_STOPPED},
	{AGENT_STOPPED, AGENT_INITIALIZING},
};

bool
agent_status_may_become(AgentStatus from, AgentStatus to)
{
	int			i;

	for (i = 0; i < (int) lengthof(moves); i++)
		if (moves[i].from == from && moves[i].to == to)
			return true;
	return from == to;
}

bool
agent_status_gives_up(AgentStatus status)
{
	return status == AGENT_UNAVAILABLE || status == AGENT_STOPPED;
}

const char *
agent_status_name(AgentStatus status)
{
	return status_names[status];
}

bool
agent_status_parse(Slice name, AgentStatus *status)
{
	int			i;

	for (i = 0; i < (int) lengthof(status_names); i++)
	{
		if (slice_equal(name, slice_of_cstring(status_names[i])))
		{
			*status = (AgentStatus) i;
			return true;
		}
	}
	return false;
}
