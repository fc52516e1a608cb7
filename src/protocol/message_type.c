/*-------------------------------------------------------------------------
 *
 * message_type.c
 *	  The closed set of message types (spec 2), and what each implies.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/message_type.h"

#include "lib/stringinfo.h"
#include "utils/varlena.h"

/*
 * Names that differ by more edits than this are not suggested, nor are names
 * that differ in half of their letters.  Longer texts are not compared at all.
 */
#define NEAREST_EDITS	3
#define NEAREST_BYTES	64

/* nothing is suggested for this one, because the nearest type, "agent.register", does the opposite */
#define NO_TYPE			"agent.unregister"

#define NAME(literal)	{literal, sizeof(literal) - 1}

/* in the order of MessageType */
static const Slice message_type_names[MSG_UNKNOWN] = {
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
		if (slice_equal(message_type_names[i], name))
			return i;
	return MSG_UNKNOWN;
}

const char *
message_type_name(MessageType type)
{
	return type < MSG_UNKNOWN ? message_type_names[type].s : NULL;
}

MessageType
message_type_nearest(Slice name)
{
	MessageType nearest = MSG_UNKNOWN;
	int			fewest = Min(NEAREST_EDITS, name.len / 2) + 1;
	int			i;

	if (name.len > NEAREST_BYTES || slice_is(name, NO_TYPE))
		return MSG_UNKNOWN;
	for (i = 0; i < MSG_UNKNOWN; i++)
	{
		int			edits = varstr_levenshtein_less_equal(name.s, name.len,
														  message_type_names[i].s,
														  message_type_names[i].len,
														  1, 1, 1, fewest, false);

		if (edits < fewest)
		{
			fewest = edits;
			nearest = i;
		}
	}
	return nearest;
}

char *
message_type_list(void)
{
	StringInfoData list;
	int			i;

	initStringInfo(&list);
	for (i = 0; i < MSG_UNKNOWN; i++)
		appendStringInfo(&list, "%s%s", i > 0 ? ", " : "", message_type_names[i].s);
	return list.data;
}

bool
message_type_is_task(MessageType type)
{
	return type <= MSG_TASK_TIMEOUT ||
		type == MSG_ROUTING_DECISION || type == MSG_ROUTING_FAILURE;
}

bool
message_type_is_message(MessageType type)
{
	return type >= MSG_CHAT_MESSAGE && type <= MSG_TOOL_ERROR;
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
