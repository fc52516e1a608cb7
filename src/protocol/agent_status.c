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
