/*-------------------------------------------------------------------------
 *
 * a2a_part.h
 *	  For the files of a2a alone.
 *
 * Notes about the document: v is its version (old_rest is true for the REST binding of
 * version 0.3), form what it is (by the names of A2aForm),
 * rpc_id the ID of the request or the response, rest is true without JSON-RPC,
 * wrapped says whether a message, a task or an event is the member of another object if
 * its version has it otherwise, and is false for an error that is a document by itself; method is that of a request that sends a message.  task and context_id are IDs
 * that the context has set aside.
 *
 * Notes about what it holds: order and whole are those of parts (a2a_content.c); said and
 * artifact are the message of a status and the only artifact of a result, without their
 * parts; unsaid is true for an error that has no message, and uncoded for one without a
 * code; metadata, request_metadata, configuration, extensions, references and tenant are
 * members of the document.
 *
 * A part is in payload.parts always as version 1.0 writes it.
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
	const char *task;			/* where the params name the task; NULL if they do not */
	bool		must_have_task;	/* MCP has a method of the same name, so the task is named in another member */
} A2aMethod;

typedef struct A2aDocument
{
	A2aForm		form;
	bool		is_old;
	bool		is_old_rest;	/* as the REST binding of version 0.3 writes it, although version 1.0 has the same member */
	bool		is_call;		/* JSON-RPC */
	bool		is_wrapped;		/* it is the member of an object, as in version 1.0 */
	const char *at;				/* where the message, the task, the event, the params, ... stand */
	const A2aMethod *method;	/* of a request in JSON-RPC */
} A2aDocument;

/* how the parts of a message or an artifact become a payload, and back */
typedef struct A2aContent
{
	const char *text;			/* the member of the payload that is the text */
	bool		merges;			/* the data of the only data part are members of the payload ... */
	bool		may_be_whole;	/* ... or all of it, if their names are taken */
	const char *own[6];			/* members of the payload that have another place; the last is NULL */
} A2aContent;

/* ------------------------------------------------------------------- a2a.c */

/* is it version 0.3 of the JSON-RPC binding? */
extern bool a2a_is_old(const Adapter *self, const Json *envelope);

/* --------------------------------------------------------- a2a_document.c */

/* Is there a text at the path that is this word? */
extern bool a2a_says(const Json *value, const char *path, const char *word);

/* NULL: there is none of that name */
extern const A2aMethod *a2a_method_named(Slice name);

/* the path of the member that holds a message, a task or an event in version 1.0 */
extern const char *a2a_member_of(A2aForm form);

/* false: it is not a document of A2A, or could as well be one of another protocol */
extern bool a2a_open(const Adapter *self, const Json *raw, A2aDocument *document);

/* --------------------------------------------------------- a2a_content.c */

/*
 * Puts parts into the payload and the attachments.  The envelope has a payload; parts
 * is an array.
 */
extern void a2a_read_parts(const Adapter *self, const Json *parts, bool is_old, const A2aContent *content,
						   Json *envelope);
extern Json *a2a_write_parts(const Adapter *self, const Json *envelope, bool is_old, const A2aContent *content);

/* an artifact whose parts are in the other version, or as version 1.0 writes them */
extern Json *a2a_read_artifact(const Json *artifact, bool is_old);
extern Json *a2a_write_artifact(const Json *artifact, bool is_old);

/* the metadata of an object */
extern void a2a_read_metadata(const Adapter *self, const Json *object, Json *envelope);
extern void a2a_write_metadata(const Adapter *self, const Json *envelope, Json *object);

/* without the members that have a row in the mapping */
extern Json *a2a_plain_metadata(const Json *metadata);

/* --------------------------------------------------------- a2a_message.c */

/* an ID; NULL if it is missing or empty */
extern Json *a2a_find_id(const Adapter *self, const Json *object, const char *path);

/* Notes the native IDs of the task and the thread, which the context may have set aside. */
extern void a2a_note_place(const Adapter *self, Json *envelope, const Json *context, Json *task_id, Json *context_id);
extern Json *a2a_task_of(const Adapter *self, const Json *envelope);
extern Json *a2a_some_task_of(const Adapter *self, const Json *envelope);	/* never NULL */
extern Json *a2a_context_of(const Adapter *self, const Json *envelope);

/* the envelope of a request, or of a message */
extern Json *a2a_read_send(const Adapter *self, const Json *raw, const A2aDocument *document, const Json *context);
extern Json *a2a_read_cancel(const Adapter *self, const Json *params, const Json *context);
extern Json *a2a_read_method(const Adapter *self, const Json *params, const A2aMethod *method, const Json *context);
extern Json *a2a_read_message(const Adapter *self, const Json *message, const A2aDocument *document,
							  const Json *context);

/* the params of a request (without JSON-RPC, its body), or the message */
extern Json *a2a_write_send(const Adapter *self, const Json *envelope);
extern Json *a2a_write_cancel(const Adapter *self, const Json *envelope);
extern Json *a2a_write_method(const Adapter *self, const Json *envelope, const A2aMethod *method);
extern Json *a2a_write_message(const Adapter *self, const Json *envelope);

/* ------------------------------------------------------------ a2a_task.c */

/* the envelope of a task or an event */
extern Json *a2a_read_task(const Adapter *self, const Json *task, const A2aDocument *document, const Json *context);
extern Json *a2a_read_artifact_update(const Adapter *self, const Json *event, const A2aDocument *document,
									  const Json *context);

/* the task, or the event that says its status */
extern Json *a2a_write_task(const Adapter *self, const Json *envelope, bool is_event);
extern Json *a2a_write_artifact_update(const Adapter *self, const Json *envelope);

/* ------------------------------------------------------------ a2a_rest.c */

/* Is the body one of the REST binding of version 0.3?  If not, it may still be one of version 1.0. */
extern bool a2a_is_old_rest(const Json *raw);

/* the body in version 1.0, and back */
extern Json *a2a_of_old_rest(const Json *raw);
extern Json *a2a_to_old_rest(const Json *raw);

/* ----------------------------------------------------------- a2a_error.c */

/* Can the error be only one of A2A? */
extern bool a2a_is_error(const Json *error, bool is_call);

extern Json *a2a_read_error(const Adapter *self, const Json *error, bool is_call, const Json *context);
extern Json *a2a_write_error(const Adapter *self, const Json *envelope, bool is_call);

#endif							/* CLUTCH_A2A_PART_H */
