/*-------------------------------------------------------------------------
 *
 * agent_status.c
 *	  The status of an agent.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "lib/stringinfo.h"

#include "protocol/agent_status.h"

/* in the order of AgentStatus */
static const char *const agent_status_names[] = {
	"INITIALIZING", "READY", "BUSY", "UNAVAILABLE", "STOPPING", "STOPPED"
};

static const struct
{
	AgentStatus from;
	AgentStatus to;
}			agent_status_moves[] = {
	{AGENT_INITIALIZING, AGENT_READY},
	{AGENT_INITIALIZING, AGENT_UNAVAILABLE},
	{AGENT_INITIALIZING, AGENT_STOPPED},

	{AGENT_READY, AGENT_INITIALIZING},	/* to load another model, say */
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

	for (i = 0; i < (int) lengthof(agent_status_moves); i++)
		if (agent_status_moves[i].from == from && agent_status_moves[i].to == to)
			return true;
	return from == to;
}

const char *
agent_status_successors(AgentStatus from)
{
	StringInfoData list;
	const char *last = NULL;
	int			i;

	initStringInfo(&list);
	for (i = 0; i < (int) lengthof(agent_status_moves); i++)
	{
		if (agent_status_moves[i].from != from)
			continue;
		if (last != NULL)
			appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "", last);
		last = agent_status_name(agent_status_moves[i].to);
	}
	if (list.len == 0)
		return last;			/* every status has at least one successor */
	appendStringInfo(&list, " or %s", last);
	return list.data;
}

bool
agent_status_gives_up(AgentStatus status)
{
	return status == AGENT_UNAVAILABLE || status == AGENT_STOPPED;
}

const char *
agent_status_name(AgentStatus status)
{
	return agent_status_names[status];
}

bool
agent_status_parse(Slice name, AgentStatus *status)
{
	int			i = slice_find(name, agent_status_names, lengthof(agent_status_names));

	if (i >= 0)
		*status = (AgentStatus) i;
	return i >= 0;
}
