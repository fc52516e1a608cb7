/*-------------------------------------------------------------------------
 *
 * a2a_part.h
 *	  For the files of a2a alone.
 *
 * Notes about the document:
 *
 *	v			its version
 *	old_rest	true: it is of the REST binding of version 0.3
 *	form		what it is, a name of an A2aForm
 *	rpc_id		the ID of the request or the response
 *	rest		true: it was not in JSON-RPC
 *	wrapped		whether a message, a task or an event is the member of another object, if
 *				that is unusual in its version; false: the document is an error itself
 *	method		the method of a request that sends a message
 *	task, context_id	IDs that are not used because the context has others
 *
 * Notes about its content:
 *
 *	order, whole	see a2a_content.c
 *	said		the message of a status, without its parts
 *	artifact	the only artifact of a result, without its parts
 *	unsaid		true: the error has no message
 *	uncoded		true: the error has no code
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

#define A2A_METHOD_TYPE	"a2a."	/* and a method, or "result", or "error": a payload_type */

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
	bool		is_old;			/* of version 0.3 */
	const char *task;			/* the path of the task in the params; NULL: they name none */
	bool		must_have_task;	/* MCP has a method of this name, too, whose params have another path for the task */
} A2aMethod;

typedef struct A2aDocument
{
	A2aForm		form;
	bool		is_old;
	bool		is_old_rest;	/* of the REST binding of version 0.3, although it has a member of version 1.0 */
	bool		is_call;		/* in JSON-RPC */
	bool		is_wrapped;		/* the content is the member of an object, as in version 1.0 */
	const char *at;				/* the path of the content: message, task, event, params, ... */
	const A2aMethod *method;	/* of a request in JSON-RPC */
} A2aDocument;

/* how the parts of a message or an artifact become a payload, and back */
typedef struct A2aContent
{
	const char *text;			/* the member of the payload that has the text */
	bool		merges;			/* the only data part gives the payload its members ... */
	bool		may_be_whole;	/* ... or is the whole payload, if their names are taken */
	const char *own[6];			/* members of the payload that are written in another place; the last is NULL */
} A2aContent;

/* ------------------------------------------------------------------- a2a.c */

/* Is the envelope written in version 0.3, but not in that of the REST binding? */
extern bool a2a_is_old(const Adapter *self, const Json *envelope);

/* --------------------------------------------------------- a2a_document.c */

/* Is there a text at the path that is this word? */
extern bool a2a_says(const Json *value, const char *path, const char *word);

/* NULL: there is no method of this name */
extern const A2aMethod *a2a_method_named(Slice name);

/* the path of the member that holds a message, a task or an event in version 1.0 */
extern const char *a2a_member_of(A2aForm form);

/*
 * Finds out what a document is.  Returns false if it does not belong to A2A, or could also
 * belong to another protocol and the caller has not named the adapter.
 */
extern bool a2a_open(const Adapter *self, const Json *raw, A2aDocument *document);

/* --------------------------------------------------------- a2a_content.c */

/*
 * Puts parts, which are an array, into the payload and the attachments of an envelope that
 * has a payload already; and back.
 */
extern void a2a_read_parts(const Adapter *self, const Json *parts, bool is_old, const A2aContent *content,
						   Json *envelope);
extern Json *a2a_write_parts(const Adapter *self, const Json *envelope, bool is_old, const A2aContent *content);

/* an artifact with parts of version 1.0, made of one whose parts are of its version; and back */
extern Json *a2a_read_artifact(const Json *artifact, bool is_old);
extern Json *a2a_write_artifact(const Json *artifact, bool is_old);

/* the metadata of an object */
extern void a2a_read_metadata(const Adapter *self, const Json *object, Json *envelope);
extern void a2a_write_metadata(const Adapter *self, const Json *envelope, Json *object);

/* a copy without the members that have a row in the mapping */
extern Json *a2a_plain_metadata(const Json *metadata);

/* --------------------------------------------------------- a2a_message.c */

/* the ID at that path; NULL if it is missing or empty */
extern Json *a2a_find_id(const Adapter *self, const Json *object, const char *path);

/* Notes the native IDs of the task and the thread, and where the context has others, only for outbound. */
extern void a2a_note_place(const Adapter *self, Json *envelope, const Json *context, Json *task_id, Json *context_id);
extern Json *a2a_task_of(const Adapter *self, const Json *envelope);
extern Json *a2a_some_task_of(const Adapter *self, const Json *envelope);	/* never NULL */
extern Json *a2a_context_of(const Adapter *self, const Json *envelope);

/* the envelope that a request or a message makes */
extern Json *a2a_read_send(const Adapter *self, const Json *raw, const A2aDocument *document, const Json *context);
extern Json *a2a_read_cancel(const Adapter *self, const Json *params, const Json *context);
extern Json *a2a_read_method(const Adapter *self, const Json *params, const A2aMethod *method, const Json *context);
extern Json *a2a_read_message(const Adapter *self, const Json *message, const A2aDocument *document,
							  const Json *context);

/* the params of a request, which are its body without JSON-RPC; or the message */
extern Json *a2a_write_send(const Adapter *self, const Json *envelope);
extern Json *a2a_write_cancel(const Adapter *self, const Json *envelope);
extern Json *a2a_write_method(const Adapter *self, const Json *envelope, const A2aMethod *method);
extern Json *a2a_write_message(const Adapter *self, const Json *envelope);

/* ------------------------------------------------------------ a2a_task.c */

/* the envelope that a task or an event makes */
extern Json *a2a_read_task(const Adapter *self, const Json *task, const A2aDocument *document, const Json *context);
extern Json *a2a_read_artifact_update(const Adapter *self, const Json *event, const A2aDocument *document,
									  const Json *context);

/* a Task, or if is_event a TaskStatusUpdateEvent */
extern Json *a2a_write_task(const Adapter *self, const Json *envelope, bool is_event);

/* a TaskArtifactUpdateEvent */
extern Json *a2a_write_artifact_update(const Adapter *self, const Json *envelope);

/* ------------------------------------------------------------ a2a_rest.c */

/* Does the body have members that only the REST binding of version 0.3 has? */
extern bool a2a_is_old_rest(const Json *raw);

/* turns such a body into one of version 1.0, and back */
extern Json *a2a_of_old_rest(const Json *raw);
extern Json *a2a_to_old_rest(const Json *raw);

/* ----------------------------------------------------------- a2a_error.c */

/* the path of the carrier in an error, and its form; NULL: the error has no place for one */
extern const char *a2a_error_carrier(const Json *raw, const A2aDocument *d, AdapterCarrierForm *form);

/* Is it an error that no other protocol has? */
extern bool a2a_is_error(const Json *error, bool is_call);

extern Json *a2a_read_error(const Adapter *self, const Json *error, bool is_call, const Json *context);
extern Json *a2a_write_error(const Adapter *self, const Json *envelope, bool is_call);

#endif							/* CLUTCH_A2A_PART_H */
