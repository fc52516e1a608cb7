/*-------------------------------------------------------------------------
 *
 * adapter.h
 *	  One dialect: what an adapter consists of, and what it is written with.
 *
 * An adapter is two plain translations, each of which knows only the members that
 * have a row in the mapping of the dialect, and a test.  Everything else is done for
 * all adapters by translation.h: members without a row come back, envelopes that were
 * never foreign keep all their fields, IDs are derived, credentials are left out.
 *
 *	declines	Returns NULL if the document is one of this dialect, or else the
 *				reason why not, as a clause: "it has no member \"jsonrpc\"".  Raises
 *				no error.
 *
 *	inbound		Makes envelopes of a document, as a List of Json *.  An envelope
 *				has only the fields that the document gives it.  Identifiers of the
 *				dialect are not put into the envelope but noted (adapter_note_native).
 *				The others, and "v", "ts", "from" and "to" if they are missing, are
 *				filled in.  The first envelope that is not a stub (see below) stands
 *				for the document as a whole; the others are its companions, and belong
 *				to its run, thread and task if they name none.
 *				Bad input raises adapter_fault.
 *
 *	outbound	Makes a document of an envelope of any type, and also of one that
 *				never was foreign.  What it made of an envelope, inbound must accept.
 *				Raises adapter_unsupported if the dialect has no form for the type.
 *
 * All three must not change what they are given, and depend on nothing else: not on
 * the clock, not on a table.  Values may be shared between the two documents.
 *
 * A stub is an envelope that inbound makes up because another one needs it, such as the
 * tool.call to a tool.result.  It has the native ID of the envelope that it stands for,
 * and is left out if that one, or the stub, has been sent.
 *
 * What inbound notes stands in meta.<name of the adapter> of the envelope, and is what
 * outbound may rely on for a document that was foreign.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ADAPTER_H
#define CLUTCH_ADAPTER_H

#include "base/json.h"
#include "protocol/identifier.h"
#include "protocol/message_type.h"

typedef struct Adapter Adapter;

struct Adapter
{
	const char *name;			/* lower-case letters, digits, underscores */

	/*
	 * Where a document has room for the fields of an envelope that the dialect has no
	 * place for: a path whose last step is ours, such as "/metadata/clutch".  There
	 * they stand as an array of changes (json_difference), or as the text of that
	 * array where the dialect allows only texts.
	 */
	const char *carrier;
	bool		carrier_is_text;

	/* where the carrier is if that depends on the document; NULL: it is at the path in "carrier" */
	const char *(*carrier_at) (const Adapter *self, const Json *raw);

	const char *(*declines) (const Adapter *self, const Json *raw);
	List	   *(*inbound) (const Adapter *self, const Json *raw, const Json *context);
	Json	   *(*outbound) (const Adapter *self, const Json *envelope);

	/* of an adapter of the user: the names of its functions (custom.h) */
	const char *can_handle_function;	/* NULL: it handles only what is sent to it by its name */
	const char *inbound_function;	/* NULL: it is built in */
	const char *outbound_function;

	/* A document is an envelope: of one that is taken as it is, nothing is noted. */
	bool		is_ours;

	const char *base;			/* where the document stands in what came in: "", or "/2" in a batch */

	/* The caller has named the adapter, so a document that several dialects have in common belongs to this one. */
	bool		named;
};

/* an adapter for the part of a document at that path: faults name the place in the document */
extern const Adapter *adapter_within(const Adapter *self, const char *path);

/* ------------------------------------------------------------------ inbound */

/* a new envelope of that type, with no other field */
extern Json *adapter_envelope(MessageType type);

/* an envelope that stands for one that may never have been sent */
extern void adapter_mark_stub(const Adapter *self, Json *envelope);

/* Puts a value into meta.<name>; the path is one below that, like "/v".  NULL: nothing is done. */
extern void adapter_note(const Adapter *self, Json *envelope, const char *path, Json *value);

/*
 * Notes an identifier of the dialect, a text or a number, from which the field of the
 * envelope is derived: "id", "run_id", "thread_id", "task_id", "parent_task_id", or
 * "reply_to" (the native "id" of another envelope of the run).  Null, or NULL: nothing is
 * done.  A native "id" need only be unique in its run.  A native task_id that is the ID
 * of a task here stands for that task, and a native thread_id that is the ID of its
 * thread stands for this thread.
 *
 * "scope" is a text without which the others are not unique, like the source of a
 * CloudEvent.
 */
extern void adapter_note_native(const Adapter *self, Json *envelope, const char *field, Json *native);

/* "agent:" and the name of an agent in the dialect, and back */
extern Slice adapter_agent_id(Slice name);
extern Slice adapter_agent_name(Slice agent_id);

/*
 * Makes a value the payload.  One that is not an object becomes {"content": value},
 * which is noted, so that adapter_payload returns the value itself again.  NULL: the
 * payload is empty.
 */
extern void adapter_put_payload(const Adapter *self, Json *envelope, Json *content);

/*
 * Members of the document.  Null is as if it were left out.  Each of them raises
 * adapter_fault if the member is there and is of another kind; the first, also if it is
 * missing.  The others return an absent Slice or NULL if it is missing.
 *
 * A word is a text that fits into an identifier of an envelope: not empty, not longer
 * than clutch.max_id_bytes, without control characters.  A name is a word or a number.
 * adapter_find_agent returns the ID of the agent of that name.
 */
extern Slice adapter_require_word(const Adapter *self, const Json *raw, const char *path);
extern Json *adapter_find(const Adapter *self, const Json *raw, const char *path, JsonKind kind);
extern Slice adapter_find_word(const Adapter *self, const Json *raw, const char *path);
extern Slice adapter_find_agent(const Adapter *self, const Json *raw, const char *path);
extern Json *adapter_find_name(const Adapter *self, const Json *raw, const char *path);

/* raises adapter_fault if the text, which stands at that path, is no identifier of this kind */
extern void adapter_check_identifier(const Adapter *self, const char *path, IdentifierKind kind, Slice text);

/*
 * A time in RFC 3339, which fits into "ts"; absent if it is missing.  Raises
 * adapter_fault if it is there and is no such time.
 */
extern Slice adapter_find_time(const Adapter *self, const Json *raw, const char *path);

/*
 * A new attachment: kind "artifact_ref" for "artifact:...", and "uri" for any other
 * absolute URI.  NULL: the text is neither.
 */
extern Json *adapter_attachment(Slice uri);

/* a member that is there and is not null; otherwise NULL */
extern Json *adapter_member(const Json *raw, const char *path);

/* --------------------------------------------------------------- outbound */

/* Was it made of a document of this dialect? */
extern bool adapter_was_foreign(const Adapter *self, const Json *envelope);

/* what adapter_note has put there; NULL: nothing */
extern Json *adapter_noted(const Adapter *self, const Json *envelope, const char *path);

/*
 * The identifier of the dialect: what was noted.  If the envelope was never foreign, it
 * is that of the field itself; otherwise NULL, because the document did not have it.
 */
extern Json *adapter_native(const Adapter *self, const Json *envelope, const char *field);

/* what adapter_note_native has put there; NULL: nothing */
extern Json *adapter_noted_native(const Adapter *self, const Json *envelope, const char *field);

/* the payload as adapter_put_payload was given it; NULL if it is empty */
extern Json *adapter_payload(const Adapter *self, const Json *envelope);

extern MessageType adapter_type(const Json *envelope);

/*
 * Does the payload say what went wrong, {code, message, ..}?  So it does in task.error,
 * in tool.error, and in task.timeout, which only the database sends.
 */
extern bool adapter_is_error(MessageType type);

/*
 * The trace as W3C writes it, also where the envelope has its two halves; absent if it
 * has none of that form.
 */
extern Slice adapter_traceparent(const Json *envelope);

/* ------------------------------------------------------ rows of a mapping */

/* how a member of the document and a field of the envelope become each other */
typedef enum AdapterRowKind
{
	ROW_VALUE,					/* the value, of any kind, as it is */
	ROW_WORD,					/* a word (see above) */
	ROW_AGENT,					/* the name of an agent */
	ROW_NATIVE					/* an identifier: "id", "task_id", ... */
} AdapterRowKind;

typedef struct AdapterRow
{
	AdapterRowKind kind;
	const char *foreign;		/* a path in the document */
	const char *field;			/* a path in the envelope; ROW_NATIVE: its name */
} AdapterRow;

/* does so with all rows of a table, whose last foreign is NULL */
extern void adapter_rows_inbound(const Adapter *self, const AdapterRow *rows, const Json *raw,
								 Json *envelope);
extern void adapter_rows_outbound(const Adapter *self, const AdapterRow *rows, const Json *envelope,
								  Json *raw);

/* ------------------------------------------------------------------ faults */

/* The document is not valid.  The code is one of docs/errors.md. */
pg_noreturn extern void adapter_fault(const Adapter *self, const char *path, const char *code,
									  const char *format,...) pg_attribute_printf(4, 5);

/* Raises an error: the dialect has no form for such an envelope. */
pg_noreturn extern void adapter_unsupported(const Adapter *self, const Json *envelope);

#endif							/* CLUTCH_ADAPTER_H */
