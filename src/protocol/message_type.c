/*-------------------------------------------------------------------------
 *
 * message_type.c
 *	  The closed set of message types (spec 2) and what each implies.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/message_type.h"

#define NAME(literal)	{literal, sizeof(literal) - 1}

/* in the order of the enum */
static const Slice names[MSG_UNKNOWN] = {
	NAME("task.request"),
	NAME("task.accept"),
	NAME("task.progress"),
	NAME("task.result"),
	NAME("task.error"),
	NAME("task.cancel"),
	NAME("task.timeout"),
	NAME("chat.message"),
	NAME("chat.system"),
	NAME("tool.call"),
	NAME("tool.result"),
	NAME("tool.error"),
	NAME("agent.register"),
	NAME("agent.heartbeat"),
	NAME("agent.update"),
	NAME("routing.decision"),
	NAME("routing.failure"),
};

MessageType
message_type_parse(Slice name)
{
	int			i;

	for (i = 0; i < MSG_UNKNOWN; i++)
		if (slice_equal(names[i], name))
			return i;
	return MSG_UNKNOWN;
}

const char *
message_type_name(MessageType type)
{
	return type < MSG_UNKNOWN ? names[type].s : NULL;
}

bool
message_type_is_task(MessageType type)
{
	return type <= MSG_TASK_TIMEOUT ||
		type == MSG_ROUTING_DECISION || type == MSG_ROUTING_FAILURE;
}

bool
message_type_is_agent(MessageType type)
{
	return type >= MSG_AGENT_REGISTER && type <= MSG_AGENT_UPDATE;
}

bool
message_type_is_internal(MessageType type)
{
	return type == MSG_TASK_TIMEOUT ||
		type == MSG_ROUTING_DECISION || type == MSG_ROUTING_FAILURE;
}
