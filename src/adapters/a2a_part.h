/*-------------------------------------------------------------------------
 *
 * a2a_part.h
 *	  Private declarations of a2a.
 *
 * Notes about the document:
 *
 *	v			its version
 *	old_rest	true if it is of the REST binding of version 0.3
 *	form		what it is, a name of an A2aForm
 *	rpc_id		the ID of the request or the response
 *	rest		true if it was not in JSON-RPC
 *	wrapped		whether a message, a task or an event is a member of another
 *				object, noted only if that is unusual in its version; false if
 *				the document itself is an error
 *	method		the method of a request that sends a message
 *	task, context_id	IDs of the document that the context overrides
 *
 * Notes about its content:
 *
 *	order, whole	see a2a_content.c
 *	said		the message of a status, without its parts
 *	artifact	the only artifact of a result, without its parts
 *	unsaid		true if the error has no message
 *	uncoded		true if the error has no code
 *	metadata, request_metadata, configuration, extensions, references, tenant
 *				members of the document
 *
 * The elements of payload.parts always have the format of version 1.0.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_A2A_PART_H
#define CLUTCH_A2A_PART_H

#include "adapters/a2a.h"

#define A2A_METHOD_TYPE	"a2a."	/* followed by a method, "result" or "error",
								 * it is a payload_type */

typedef enum A2aForm
{
	A2A_SEND,					/* a request that sends a message */
	A2A_CANCEL,
	A2A_METHOD,					/* any other request */
	A2A_MESSAGE,
	A2A_TASK,
	A2A_STATUS,
	A2A_ARTIFACT,
	A2A_ERROR,
	A2A_RESULT					/* any other result */
} A2aForm;

typedef struct A2aMethod
{
	const char *name;
	A2aForm		form;
	bool		is_old;			/* in the format of version 0.3 */
	const char *task;			/* the path of the task ID in the params, or
								 * NULL if they name no task */
	bool		must_have_task;	/* MCP also has a method of this name, but has
								 * the task ID at another path */
} A2aMethod;

typedef struct A2aDocument
{
	A2aForm		form;
	bool		is_old;
	bool		is_old_rest;	/* the REST binding of version 0.3, even if it
								 * has a member of version 1.0 */
	bool		is_call;		/* in JSON-RPC */
	bool		is_wrapped;		/* the content is a member of another object,
								 * as in version 1.0 */
	const char *at;				/* the path of the content: message, task, event, params, ... */
	const A2aMethod *method;	/* the method of a JSON-RPC request */
} A2aDocument;

/*
 * how the parts of a message or an artifact become a payload, and the reverse
 */
typedef struct A2aContent
{
	const char *text;			/* the member of the payload that holds the
								 * text */
	bool		merges;			/* the members of the only data part are merged
								 * into the payload ... */
	bool		may_be_whole;	/* ... or, if their names are taken, the data
								 * is the whole payload */
	const char *own[6];			/* members of the payload that are written
								 * elsewhere; ends with NULL */
} A2aContent;

/* ------------------------------------------------------------------- a2a.c */

/* Is the envelope written in version 0.3, but not in its REST binding? */
extern bool a2a_is_old(const Adapter *self, const Json *envelope);

/* --------------------------------------------------------- a2a_document.c */

/* Returns NULL if there is no method of this name. */
extern const A2aMethod *a2a_method_named(Slice name);

/*
 * Returns the path of the member that holds a message, a task or an event in
 * version 1.0.
 */
extern const char *a2a_member_of(A2aForm form);

/*
 * Determines what a document is.  Returns false if it does not belong to A2A,
 * or if it could also belong to another protocol and the caller has not named
 * the adapter.
 */
extern bool a2a_open(const Adapter *self, const Json *raw, A2aDocument *document);

/* --------------------------------------------------------- a2a_content.c */

/*
 * Reads an array of parts into the payload and attachments of an envelope,
 * which must have a payload already; and the reverse.
 */
extern void a2a_read_parts(const Adapter *self, const Json *parts, bool is_old, const A2aContent *content,
						   Json *envelope);
extern Json *a2a_write_parts(const Adapter *self, const Json *envelope, bool is_old, const A2aContent *content);

/*
 * Converts the parts of an artifact from its own version to version 1.0, and
 * the reverse.  Returns a copy.
 */
extern Json *a2a_read_artifact(const Json *artifact, bool is_old);
extern Json *a2a_write_artifact(const Json *artifact, bool is_old);

/* Translates the metadata of an object, and the reverse. */
extern void a2a_read_metadata(const Adapter *self, const Json *object, Json *envelope);
extern void a2a_write_metadata(const Adapter *self, const Json *envelope, Json *object);

/*
 * Returns a copy of the metadata without the members that have a row in the
 * mapping.
 */
extern Json *a2a_plain_metadata(const Json *metadata);

/* --------------------------------------------------------- a2a_message.c */

/*
 * Returns the value if it can be an ID in a document, or NULL otherwise.  It
 * comes from an envelope, in which it may be anything.
 */
extern Json *a2a_id(Json *id);

/* Returns the ID at that path, or NULL if it is missing or empty. */
extern Json *a2a_find_id(const Adapter *self, const Json *object, const char *path);

/*
 * Notes the native IDs of the task and the thread.  Where the context has
 * others, they are noted only for outbound.
 */
extern void a2a_note_place(const Adapter *self, Json *envelope, const Json *context, Json *task_id, Json *context_id);
extern Json *a2a_some_task_of(const Adapter *self, const Json *envelope);	/* never NULL */
extern Json *a2a_context_of(const Adapter *self, const Json *envelope);

/* Make an envelope from a request or a message. */
extern Json *a2a_read_send(const Adapter *self, const Json *raw, const A2aDocument *document, const Json *context);
extern Json *a2a_read_cancel(const Adapter *self, const Json *params, const Json *context);
extern Json *a2a_read_method(const Adapter *self, const Json *params, const A2aMethod *method, const Json *context);
extern Json *a2a_read_message(const Adapter *self, const Json *message, const A2aDocument *document,
							  const Json *context);

/*
 * Return the params of a request, which are its body outside JSON-RPC, or the
 * message.
 */
extern Json *a2a_write_send(const Adapter *self, const Json *envelope);
extern Json *a2a_write_cancel(const Adapter *self, const Json *envelope);
extern Json *a2a_write_method(const Adapter *self, const Json *envelope, const A2aMethod *method);
extern Json *a2a_write_message(const Adapter *self, const Json *envelope);

/* ------------------------------------------------------------ a2a_task.c */

/* Make an envelope from a task or an event. */
extern Json *a2a_read_task(const Adapter *self, const Json *task, const A2aDocument *document, const Json *context);
extern Json *a2a_read_artifact_update(const Adapter *self, const Json *event, const A2aDocument *document,
									  const Json *context);

/* Returns a Task or, if is_event, a TaskStatusUpdateEvent. */
extern Json *a2a_write_task(const Adapter *self, const Json *envelope, bool is_event);

/* Returns a TaskArtifactUpdateEvent. */
extern Json *a2a_write_artifact_update(const Adapter *self, const Json *envelope);

/* ------------------------------------------------------------ a2a_rest.c */

/*
 * Does the body have members that exist only in the REST binding of version
 * 0.3?
 */
extern bool a2a_is_old_rest(const Json *raw);

/* Converts such a body to version 1.0, and the reverse. */
extern Json *a2a_of_old_rest(const Json *raw);
extern Json *a2a_to_old_rest(const Json *raw);

/* ----------------------------------------------------------- a2a_error.c */

/*
 * Returns the path of the carrier in an error and sets its form, or returns
 * NULL if the error has no place for a carrier.
 */
extern const char *a2a_error_carrier(const Json *raw, const A2aDocument *d, AdapterCarrierForm *form);

/* Is it an error that cannot belong to another protocol? */
extern bool a2a_is_error(const Json *error, bool is_call);

extern Json *a2a_read_error(const Adapter *self, const Json *error, bool is_call, const Json *context);
extern Json *a2a_write_error(const Adapter *self, const Json *envelope, bool is_call);

#endif							/* CLUTCH_A2A_PART_H */
