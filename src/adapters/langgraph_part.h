/*-------------------------------------------------------------------------
 *
 * langgraph_part.h
 *	  Private declarations of langgraph.
 *
 * Notes:
 *
 *	form, mode, ns	how the document wraps its data (see LanggraphForm)
 *	kind		what the data is (see LanggraphKind)
 *	type		the type that the envelope was given; if it has been changed,
 *				the envelope becomes a document of another form
 *	number		the ID of the document around the data, if the data has none
 *	message		how the message was written (langgraph_message.c)
 *	list, alone	true if it was in an array; true if the array had only messages
 *	interrupts, boxed	how the data became a payload (langgraph_put_progress)
 *	beside			the interrupts stand beside the data
 *	interrupt, breakpoint	what an answer is for (api/outgoing.c)
 *	args, said	see tooling.h
 *	run, event, name, checkpoint_ns, own	belong to events
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LANGGRAPH_PART_H
#define CLUTCH_LANGGRAPH_PART_H

#include "adapters/langgraph.h"

/* how a document wraps its data */
typedef enum LanggraphForm
{
	LANGGRAPH_BARE,				/* the document is the data */
	LANGGRAPH_SSE,				/* {"event": mode, "data": ..}; a '|' in the mode is followed by a namespace */
	LANGGRAPH_TUPLE,			/* [mode, data], or [namespace, mode, data] */
	LANGGRAPH_PART,				/* {"type": mode, "ns": .., "data": ..} */
	LANGGRAPH_PROTOCOL,			/* {"type": "event", "method": mode, "params": {"namespace": .., "data": ..}} */
	LANGGRAPH_FAILURE			/* {"__error__": data} */
} LanggraphForm;

/* what the data is */
typedef enum LanggraphKind
{
	LANGGRAPH_EVENT,			/* a stream event, version 2 */
	LANGGRAPH_TASK,				/* stream mode "tasks": a task that has started
								 * or ended */
	LANGGRAPH_DEBUG,			/* stream mode "debug": an object that contains
								 * a task */
	LANGGRAPH_MESSAGE,			/* a message, [message, metadata], or an array of messages */
	LANGGRAPH_ERROR,			/* {"error": .., "message": ..} */
	LANGGRAPH_RUN,				/* a request to a server for a run */
	LANGGRAPH_CHUNK				/* anything else */
} LanggraphKind;

typedef struct LanggraphChunk
{
	LanggraphForm form;
	LanggraphKind kind;
	Slice		mode;			/* absent if none is named */
	Json	   *ns;				/* NULL if there is none */
	Json	   *data;			/* NULL if there is none */
	const char *at;				/* the path of the data */
	Json	   *interrupts;		/* beside the data, as newer versions write them; NULL if there are none */
} LanggraphChunk;

/* The functions below translate one kind of data each, and back. */
/* --- langgraph_event.c --- */

extern List *langgraph_read_event(const Adapter *self, const Json *data, const Json *context);
extern Json *langgraph_event_of(const Adapter *self, const Json *envelope);

/* --- langgraph_message.c --- */

/* Is it a message, in one of the two dialects? */
extern bool langgraph_is_message(const Json *value);

/*
 * Make the fields of a message, in either dialect, the payload; and the
 * reverse.  adapter_put_payload handles a value that is not a message.
 */
extern void langgraph_put_message(const Adapter *self, Json *envelope, Json *message);
extern Json *langgraph_message_of(const Adapter *self, const Json *envelope);

/*
 * The same for the output of a tool, which becomes a tool.result or
 * tool.error.
 */
extern MessageType langgraph_answer_type(const Json *output);
extern void langgraph_put_answer(const Adapter *self, Json *envelope, Json *output);
extern Json *langgraph_answer_of(const Adapter *self, const Json *envelope);

/*
 * Is the data a message, an array of messages, or a message with its metadata?
 * Sets *are_pieces if they are pieces, which the whole message follows.
 */
extern bool langgraph_has_messages(const Json *data, bool *are_pieces);
extern List *langgraph_read_messages(const Adapter *self, Json *data, const Json *context);
extern Json *langgraph_messages_of(const Adapter *self, const Json *envelope);

/* --- langgraph_place.c --- */

/*
 * Reads from the metadata of an event to which run, thread and task it
 * belongs; and the reverse.  root is the native ID of the run if the event
 * itself names it, or NULL.  begins says whether the event belongs to the run
 * itself, as opposed to a node.
 */
extern void langgraph_read_place(const Adapter *self, const Json *metadata, Json *envelope, const Json *context,
								 Json *root, bool begins);
extern void langgraph_write_place(const Adapter *self, const Json *envelope, Json *metadata);

/*
 * The same for the identifiers of this database that the metadata has.  Their
 * task is that of the run, which is the parent of the task of a node.
 */
extern void langgraph_read_own(const Adapter *self, const Json *metadata, Json *envelope, bool is_of_node);
extern void langgraph_write_own(const Adapter *self, const Json *envelope, Json *metadata);

/*
 * Returns the native ID of the task in which a node runs, read from the
 * namespace of its checkpoints, or an absent slice if the event happened
 * outside of all nodes.
 */
extern Slice langgraph_node_task(const Json *metadata);

/*
 * Returns the native task of the subgraph that a chunk comes from, read from
 * its namespace, or an absent slice if it does not come from a subgraph.
 */
extern Slice langgraph_outer_task(const LanggraphChunk *chunk);

/* Does the context name the task in which the graph runs? */
extern bool langgraph_has_task(const Json *context);

/*
 * Fills in the recipient unless the context names recipients.  It is the
 * sender that the context names, or else this agent.
 */
extern void langgraph_put_recipient(Json *envelope, const Json *context, Slice agent_id);

/*
 * Notes a native ID made from "of" and the "seq" of the context, if the
 * context has one.
 */
extern void langgraph_note_seq(const Adapter *self, Json *envelope, const Json *context, Slice of);

/* --- langgraph_chunk.c --- */

/* Returns a stub of the request for a task that has started. */
extern Json *langgraph_task_stub(const Adapter *self, Slice id, Slice agent, const Json *context);

extern List *langgraph_read_task(const Adapter *self, const Json *task, const Json *context);
extern Json *langgraph_task_of(const Adapter *self, const Json *envelope);
extern List *langgraph_read_debug(const Adapter *self, const Json *data, const Json *context);
extern Json *langgraph_debug_of(const Adapter *self, const Json *envelope);
extern List *langgraph_read_error(const Adapter *self, const Json *data);
extern Json *langgraph_error_of(const Adapter *self, const Json *envelope);
extern List *langgraph_read_run(const Adapter *self, const Json *run, const Json *context);
extern Json *langgraph_run_of(const Adapter *self, const Json *envelope);
extern List *langgraph_read_chunk(const Adapter *self, const LanggraphChunk *chunk, const Json *context);
extern Json *langgraph_chunk_of(const Adapter *self, const Json *envelope);

/* Is it {step, timestamp, type, payload}? */
extern bool langgraph_is_debug(const Json *data);

/*
 * Puts data of any kind into the payload of a task.progress, which asks a
 * question if the data has "__interrupt__"; and the reverse.
 */
extern void langgraph_put_progress(const Adapter *self, Json *envelope, Json *data);
extern Json *langgraph_progress_of(const Adapter *self, const Json *envelope);
extern bool langgraph_interrupts(const Json *data);

#endif							/* CLUTCH_LANGGRAPH_PART_H */
