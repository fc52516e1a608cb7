/*-------------------------------------------------------------------------
 *
 * langgraph_part.h
 *	  For the files of langgraph alone.
 *
 * Notes in meta.langgraph: form, mode and ns describe what was around the data (see
 * LanggraphForm); type is the type that the envelope had when it was translated: if it has
 * another one now, it becomes a document of another form; message describes how a message
 * was written; run, event, name, checkpoint_ns and own belong to events.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LANGGRAPH_PART_H
#define CLUTCH_LANGGRAPH_PART_H

#include "adapters/langgraph.h"

/* what is around the data of a document */
typedef enum LanggraphForm
{
	LANGGRAPH_BARE,				/* nothing */
	LANGGRAPH_SSE,				/* {"event": mode, "data": ..}; behind a '|' in the mode is a namespace */
	LANGGRAPH_TUPLE,			/* [mode, data], or [namespace, mode, data] */
	LANGGRAPH_PART,				/* {"type": mode, "ns": .., "data": ..} */
	LANGGRAPH_PROTOCOL			/* {"type": "event", "method": mode, "params": {"namespace": .., "data": ..}} */
} LanggraphForm;

/* what the data are */
typedef enum LanggraphKind
{
	LANGGRAPH_EVENT,			/* of stream events v2 */
	LANGGRAPH_TASK,				/* of stream mode "tasks", begun or over */
	LANGGRAPH_DEBUG,			/* of stream mode "debug", around a task */
	LANGGRAPH_MESSAGE,			/* a message; [message, metadata]; an array of messages */
	LANGGRAPH_ERROR,			/* {"error": .., "message": ..} */
	LANGGRAPH_RUN,				/* a request to a server */
	LANGGRAPH_CHUNK				/* anything else */
} LanggraphKind;

typedef struct LanggraphChunk
{
	LanggraphForm form;
	LanggraphKind kind;
	Slice		mode;			/* absent: none is named */
	Json	   *ns;				/* NULL: none */
	Json	   *data;			/* NULL: none */
	const char *at;				/* the path of the data */
} LanggraphChunk;

/* --- langgraph_event.c --- */

extern List *langgraph_read_event(const Adapter *self, const Json *data, const Json *context);
extern Json *langgraph_event_of(const Adapter *self, const Json *envelope);

/* --- langgraph_message.c --- */

/* Is it a message, in one of the two dialects? */
extern bool langgraph_is_message(const Json *value);
extern bool langgraph_is_piece(const Json *message);

/*
 * Puts the fields of a message, in either dialect, into the payload.  A value that is
 * not a message is put there as it is.
 */
extern void langgraph_put_message(const Adapter *self, Json *envelope, Json *message);
extern Json *langgraph_message_of(const Adapter *self, const Json *envelope);

/* the same of what a tool has returned: the type is tool.result or tool.error */
extern MessageType langgraph_answer_type(const Json *output);
extern void langgraph_put_answer(const Adapter *self, Json *envelope, Json *output);
extern Json *langgraph_answer_of(const Adapter *self, const Json *envelope);

/*
 * A message, an array of them, or a message and its metadata.  Pieces are not read, because
 * what they belong to comes as a whole later.
 */
extern bool langgraph_has_messages(const Json *data, bool *are_pieces);
extern List *langgraph_read_messages(const Adapter *self, Json *data, const Json *context);
extern Json *langgraph_messages_of(const Adapter *self, const Json *envelope);

/* --- langgraph_place.c: where in a run something happened --- */

/*
 * Reads the metadata of an event.  root is the native ID of the run as far as the event itself
 * says so; begins says that the event is one of the run itself, not of a node.
 */
extern void langgraph_read_place(const Adapter *self, const Json *metadata, Json *envelope, const Json *context,
								 Json *root, bool begins);
extern void langgraph_write_place(const Adapter *self, const Json *envelope, Json *metadata);

/*
 * The identifiers of ours alone.  The task is that of the run, which is the parent of the task of
 * a node.
 */
extern void langgraph_read_own(const Adapter *self, const Json *metadata, Json *envelope, bool is_of_node);
extern void langgraph_write_own(const Adapter *self, const Json *envelope, Json *metadata);

/* the task of a node, from the namespace of its checkpoints; absent if the event is outside any node */
extern Slice langgraph_node_task(const Json *metadata);

/* the task of the subgraph that a chunk comes from, by its namespace; absent: it is of the graph itself */
extern Slice langgraph_outer_task(const LanggraphChunk *chunk);

/* Has the context a task in which the graph runs? */
extern bool langgraph_has_task(const Json *context);

/* Addresses it to the sender that the context names, or else to this agent, unless the context names recipients. */
extern void langgraph_put_recipient(Json *envelope, const Json *context, Slice agent_id);

/* Notes what tells this document from others that are equal, if the context says so. */
extern void langgraph_note_seq(const Adapter *self, Json *envelope, const Json *context, Slice of);

/* --- langgraph_chunk.c --- */

extern List *langgraph_read_task(const Adapter *self, const Json *task, const Json *context);
extern Json *langgraph_task_of(const Adapter *self, const Json *envelope);
extern List *langgraph_read_debug(const Adapter *self, const Json *data, const Json *context);
extern Json *langgraph_debug_of(const Adapter *self, const Json *envelope);
extern List *langgraph_read_error(const Adapter *self, const Json *data);
extern Json *langgraph_error_of(const Adapter *self, const Json *envelope);
extern List *langgraph_read_run(const Adapter *self, const Json *run, const Json *context);
extern Json *langgraph_run_of(const Adapter *self, const Json *envelope);
extern List *langgraph_read_chunk(const Adapter *self, const LanggraphChunk *chunk, const Json *context);

/* Puts data of any kind into the payload of a task.progress; those with "__interrupt__" ask. */
extern void langgraph_put_progress(const Adapter *self, Json *envelope, Json *data);
extern Json *langgraph_progress_of(const Adapter *self, const Json *envelope);
extern bool langgraph_interrupts(const Json *data);

#endif							/* CLUTCH_LANGGRAPH_PART_H */
