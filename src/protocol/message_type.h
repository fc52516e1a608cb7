/*-------------------------------------------------------------------------
 *
 * message_type.h
 *	  The closed set of message types (spec 2), and what each implies.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MESSAGE_TYPE_H
#define CLUTCH_MESSAGE_TYPE_H

#include "base/text.h"

typedef enum MessageType
{
	MSG_TASK_REQUEST,
	MSG_TASK_ACCEPT,
	MSG_TASK_PROGRESS,
	MSG_TASK_RESULT,
	MSG_TASK_ERROR,
	MSG_TASK_CANCEL,
	MSG_TASK_TIMEOUT,
	MSG_CHAT_MESSAGE,
	MSG_CHAT_SYSTEM,
	MSG_TOOL_CALL,
	MSG_TOOL_RESULT,
	MSG_TOOL_ERROR,
	MSG_AGENT_REGISTER,
	MSG_AGENT_HEARTBEAT,
	MSG_AGENT_UPDATE,
	MSG_ROUTING_DECISION,
	MSG_ROUTING_FAILURE,
	MSG_UNKNOWN					/* also the number of types */
} MessageType;

extern MessageType message_type_parse(Slice name);
extern const char *message_type_name(MessageType type);

/*
 * Returns the type that a misspelled name probably means, or MSG_UNKNOWN if
 * none is similar.
 */
extern MessageType message_type_nearest(Slice name);

/* Returns the names of all types, separated by commas, palloc'd. */
extern char *message_type_list(void);

/* Does it change the state of a task?  These are task.* and routing.*. */
extern bool message_type_is_task(MessageType type);
/*
 * Is it only a message to somebody, which changes nothing?  These are chat.*
 * and tool.*.
 */
extern bool message_type_is_message(MessageType type);
/* Does it change the registry?  These are agent.*. */
extern bool message_type_is_agent(MessageType type);
/*
 * Is it written only by the database?  These are routing.* and task.timeout.
 */
extern bool message_type_is_internal(MessageType type);

#endif							/* CLUTCH_MESSAGE_TYPE_H */
