/*-------------------------------------------------------------------------
 *
 * adapter.h
 *	  The interface of adapters, and the functions that they share.
 *
 * An adapter translates between envelopes and the documents of one dialect,
 * that is, of another protocol or framework.  It consists of a test and two
 * plain translations, which handle only the members that have a row in the
 * mapping of the dialect (docs/adapters.md).  translation.h does everything
 * else for all adapters: it restores members without a row, carries the fields
 * of an envelope for which the dialect has no place, derives IDs and removes
 * credentials.
 *
 * An envelope that was made from a document of a dialect is called foreign.
 *
 *	declines	Returns NULL if the document belongs to this dialect, and
 *				otherwise a clause that says why not: "it has no member
 *				\"jsonrpc\"".  Raises no error.
 *
 *	inbound		Makes envelopes from a document and returns them as a List of
 *				Json *.  An envelope has only the fields that the document
 *				gives it.  Identifiers of the dialect are not put into the
 *				envelope but noted (adapter_note_native).  All missing
 *				identifiers, "v", "ts", "from" and "to" are filled in later.
 *				The first envelope that is not a stub (see below) stands for
 *				the document; the others are its companions, and belong to its
 *				run, thread and task unless they name others.  An invalid
 *				document raises adapter_fault.
 *
 *	outbound	Makes a document from an envelope of any type, whether it was
 *				foreign or not.  inbound must accept every document that
 *				outbound makes.  Raises adapter_unsupported if the dialect has
 *				no form for the type.
 *
 * None of the three may change its arguments, or depend on anything else, such
 * as the clock or a table.  Their results are palloc'd and may share values
 * with the arguments.
 *
 * A stub is an envelope that inbound makes up because another one needs it,
 * such as the tool.call that a tool.result answers.  It has the native ID of
 * the envelope that it stands for, and is dropped if that envelope or the stub
 * itself has already been sent.
 *
 * What inbound notes is stored in meta.<name of the adapter> of the envelope,
 * where outbound finds it again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ADAPTER_H
#define CLUTCH_ADAPTER_H

#include "base/json.h"
#include "protocol/identifier.h"
#include "protocol/message_type.h"

typedef struct Adapter Adapter;

/*
 * A carrier is an array of changes (json_difference).  In a document, it is
 * written as ...
 */
typedef enum AdapterCarrierForm
{
	CARRIER_ARRAY,				/* ... that array */
	CARRIER_TEXT,				/* ... its JSON text */
	CARRIER_HEADER				/* ... its JSON text, encoded for an HTTP
								 * header */
} AdapterCarrierForm;

/* Which documents can say that a task was cancelled or has timed out? */
typedef enum AdapterEnds
{
	ENDS_NEVER,
	ENDS_IN_RESPONSES,			/* only responses to calls */
	ENDS_ALWAYS
} AdapterEnds;

struct Adapter
{
	const char *name;			/* lower-case letters, digits, underscores */

	/*
	 * The path of the carrier, which holds the fields of an envelope for which
	 * the dialect has no place.  It is a member of our own in an object that
	 * the dialect leaves to its users, such as "/metadata/clutch".
	 */
	const char *carrier;
	AdapterCarrierForm carrier_form;

	/*
	 * Returns the path of the carrier in this document, if it depends on the
	 * document.  It may set *form, which has been initialized to carrier_form.
	 * It returns NULL if the document has no place for a carrier.
	 */
	const char *(*carrier_at) (const Adapter *self, const Json *raw, AdapterCarrierForm *form);

	bool		reads_events;	/* documents with "specversion" are for this
								 * adapter; other built-in ones are not asked */

	const char *(*declines) (const Adapter *self, const Json *raw);
	List	   *(*inbound) (const Adapter *self, const Json *raw, const Json *context);
	Json	   *(*outbound) (const Adapter *self, const Json *envelope);

	/*
	 * How documents answer a request (reply.h).  "asked" is the document of
	 * the request, or an empty object if that was in another dialect.
	 *
	 * is_call tells whether it is a call, which gets a response.  NULL stands
	 * for a function that returns true for calls in JSON-RPC.  response_form
	 * is noted as "form" in a response, unless it is NULL.
	 *
	 * names_request names the request in a document that answers it.  It is
	 * NULL if documents name no request.
	 *
	 * An envelope with the "form" task_form becomes the state of a task, at
	 * the path task_at of the document.  task_form is NULL if the dialect has
	 * no such document.  task_has_times: clients require "createdAt",
	 * "lastUpdatedAt" and "ttl" of a task, which only its row has.
	 */
	AdapterEnds tells_ends;
	bool		(*is_call) (const Adapter *self, const Json *request, const Json *asked);
	const char *response_form;
	const char *task_form;
	const char *task_at;
	bool		task_has_times;
	void		(*names_request) (const Adapter *self, const Json *request, const Json *asked, Json *document);

	/* the function names of a user-defined adapter (custom.h) */
	const char *can_handle_function;	/* NULL if it handles a document only
										 * if the caller names it */
	const char *inbound_function;	/* NULL if the adapter is built in */
	const char *outbound_function;

	/*
	 * Documents are themselves envelopes.  Nothing is noted in one that is
	 * accepted unchanged.
	 */
	bool		is_ours;

	/* Native IDs are unique only within a session, which the member "session" of the context names. */
	bool		has_sessions;

	/*
	 * The path of a note with the native IDs of earlier messages of the
	 * conversation, in order.  The native reply_to is the last of them.  If
	 * the context names no task, an envelope belongs to the task that the last
	 * of these messages has requested which has requested one; or else to that
	 * of its native task_id.
	 */
	const char *conversation;

	const char *base;			/* path of the document in the caller's
								 * argument: "", or "/2" in a batch */

	/*
	 * The caller has named the adapter, so it also accepts documents that are
	 * valid in other dialects.
	 */
	bool		named;
};

/*
 * Returns a palloc'd copy for the part of a document at that path, so that
 * faults report the path in the whole document.
 */
extern const Adapter *adapter_within(const Adapter *self, const char *path);

/* ------------------------------------------------------------------ inbound */

/* Returns a new envelope of that type, with no other field. */
extern Json *adapter_envelope(MessageType type);

/* Marks the envelope as a stub; and tells whether it is one. */
extern void adapter_mark_stub(const Adapter *self, Json *envelope);
extern bool adapter_is_stub(const Adapter *self, const Json *envelope);

/* Returns the first envelope that is not a stub, or NULL if there is none. */
extern Json *adapter_bearer(const Adapter *self, const List *envelopes);

/*
 * Puts a value into meta.<name> at a path below it, such as "/v".  Does
 * nothing if the value is NULL.
 */
extern void adapter_note(const Adapter *self, Json *envelope, const char *path, Json *value);

/*
 * Notes an identifier of the dialect, a text or a number, from which a field
 * of the envelope is derived: "id", "run_id", "thread_id", "task_id",
 * "parent_task_id", or "reply_to" (the native "id" of another envelope of the
 * run).  Does nothing if it is null or NULL.  A native "id" need be unique
 * only in its run.  A native task_id that is the ID of a task in this
 * database, or of its request, stands for that task, and a native thread_id
 * that is the ID of that task's thread stands for that thread.
 *
 * The field "scope" is a text without which the others would not be unique,
 * such as the source of a CloudEvent.
 */
extern void adapter_note_native(const Adapter *self, Json *envelope, const char *field, Json *native);

/*
 * Is it base64?  Line breaks, missing padding and the URL-safe alphabet are
 * allowed.  The reference to an artifact, which may have replaced base64,
 * counts as base64, too.
 */
extern bool adapter_is_base64(Slice text);

/*
 * Prefixes the name of an agent in the dialect with "agent:", unless it is
 * such an ID already; and the reverse.
 */
extern Slice adapter_agent_id(Slice name);
extern Slice adapter_agent_name(Slice agent_id);

/*
 * Adds an agent, group or topic to a list of recipients; or makes it the only
 * recipient of an envelope, which is left alone if the ID is absent.
 */
extern void adapter_add_recipient(Json *recipients, Slice agent_id);
extern void adapter_put_recipient(Json *envelope, Slice agent_id);

/*
 * Makes a value the payload.  A value that is not an object becomes
 * {"content": value}, which is noted, so that adapter_payload returns the
 * value itself.  NULL makes an empty payload.
 */
extern void adapter_put_payload(const Adapter *self, Json *envelope, Json *content);

/*
 * These functions return members of the document; null counts as missing.  All
 * of them raise adapter_fault if a member is of the wrong kind.  If it is
 * missing, adapter_require_word raises adapter_fault as well, and the others
 * return an absent Slice or NULL.
 *
 * A word is a text that can be an identifier in an envelope: it is not empty,
 * is not longer than clutch.max_id_bytes, and has no control characters.  A
 * text, which an envelope only carries, is not longer than
 * clutch.max_string_bytes; an empty one counts as missing, because some
 * libraries write a trace that has no state in this way.  A name is a word or a
 * number.  adapter_find_agent returns the ID of the agent of that name.
 * adapter_find_whole returns a whole number in a range, which the text describes
 * ("a whole number from 0 to 4"), and adapter_find_ttl the time to live of an
 * envelope, in milliseconds.
 */
extern Slice adapter_require_word(const Adapter *self, const Json *raw, const char *path);
extern Json *adapter_find(const Adapter *self, const Json *raw, const char *path, JsonKind kind);
extern Slice adapter_find_word(const Adapter *self, const Json *raw, const char *path);
extern Slice adapter_find_text(const Adapter *self, const Json *raw, const char *path);
extern Slice adapter_find_agent(const Adapter *self, const Json *raw, const char *path);
extern Json *adapter_find_name(const Adapter *self, const Json *raw, const char *path);
extern Json *adapter_find_whole(const Adapter *self, const Json *raw, const char *path, int64 least, int64 most,
								const char *range);
extern Json *adapter_find_ttl(const Adapter *self, const Json *raw, const char *path);

/* Raises adapter_fault unless the text at that path is an identifier of this kind. */
extern void adapter_check_identifier(const Adapter *self, const char *path, IdentifierKind kind, Slice text);

/*
 * Returns the time that the text stands for in RFC 3339, as "ts" requires it, or
 * an absent slice if it is not a time.  A time without a zone counts as UTC, and
 * a blank as the T: programs write what isoformat() and str() of Python return.
 * adapter_find_time does this for the text at that path, if there is one, and
 * raises adapter_fault if it is not a time.
 */
extern Slice adapter_time_of(Slice text);
extern Slice adapter_find_time(const Adapter *self, const Json *raw, const char *path);

/*
 * Applies or removes the percent-encoding that CloudEvents prescribes for
 * headers.  A percent sign without two hexadecimal digits stands for itself.
 * Decoding returns an absent slice if the bytes are not valid as text: not
 * UTF-8, or containing a zero byte.
 */
extern Slice adapter_encode_header(Slice text);
extern Slice adapter_decode_header(Slice text);

/*
 * Returns a new attachment, of kind "artifact_ref" for "artifact:..." and of
 * kind "uri" for any other absolute URI, or NULL if the text is neither.
 */
extern Json *adapter_attachment(Slice uri);

/* Returns the member at that path, or NULL if it is missing or null. */
extern Json *adapter_member(const Json *raw, const char *path);

/* --------------------------------------------------------------- outbound */

/*
 * The note that is true in an envelope made by reply.h.  Such an envelope is
 * written as if it had been foreign, but none of its values has.
 */
#define ADAPTER_REPLY	"/reply"

/*
 * The note that is true in a reply by an agent whose card has a schema for what
 * was requested, so the client expects a value that fits it.
 */
#define ADAPTER_STRUCTURED	"/structured"

/*
 * Was the envelope made from a document of this dialect?  It was if
 * meta.<name> has one of the members that every translation writes: "native",
 * "kept", "part_of" or "stub".  All other members may also be data of the
 * sender.
 */
extern bool adapter_was_foreign(const Adapter *self, const Json *envelope);

/*
 * Returns what adapter_note has put at that path, or NULL if there is nothing.
 */
extern Json *adapter_noted(const Adapter *self, const Json *envelope, const char *path);

/*
 * Returns the identifier that the document has for a field.  For a foreign
 * envelope, it is the noted one, or NULL because the document had none.  For
 * any other envelope, it is the value of the field.
 */
extern Json *adapter_native(const Adapter *self, const Json *envelope, const char *field);

/*
 * Returns the value that adapter_put_payload was given, or NULL if the payload
 * is empty.
 */
extern Json *adapter_payload(const Adapter *self, const Json *envelope);

extern MessageType adapter_type(const Json *envelope);

/*
 * Does the payload of such an envelope describe an error, {code, message, ...}?  True for
 * task.error, tool.error, and task.timeout, which only the database sends.
 */
extern bool adapter_is_error(MessageType type);

/*
 * Returns the trace in the W3C format "traceparent", assembled from trace_id
 * and span_id if necessary, or an absent slice if the envelope has neither.
 */
extern Slice adapter_traceparent(const Json *envelope);

/* ------------------------------------------------------ rows of a mapping */

/* how a member of the document is translated into a field of the envelope, and back */
typedef enum AdapterRowKind
{
	ROW_VALUE,					/* a value of any kind, copied unchanged */
	ROW_WORD,					/* a word (see above) */
	ROW_TEXT,					/* a text that no identifier is made of (see above) */
	ROW_AGENT,					/* the name of an agent */
	ROW_NATIVE					/* an identifier: "id", "task_id", ... */
} AdapterRowKind;

typedef struct AdapterRow
{
	AdapterRowKind kind;
	const char *foreign;		/* a path in the document */
	const char *field;			/* a path in the envelope; ROW_NATIVE: its name */
} AdapterRow;

/*
 * Translate all rows of a table.  The table ends with a row whose "foreign" is
 * NULL.
 */
extern void adapter_rows_inbound(const Adapter *self, const AdapterRow *rows, const Json *raw,
								 Json *envelope);
extern void adapter_rows_outbound(const Adapter *self, const AdapterRow *rows, const Json *envelope,
								  Json *raw);

/* ------------------------------------------------------------------ faults */

/*
 * Raises KL014, saying that the document is not valid at that path.  The code
 * is one of those in docs/errors.md.  The format makes a clause without
 * capital letter and period.
 */
pg_noreturn extern void adapter_fault(const Adapter *self, const char *path, const char *code,
									  const char *format,...) pg_attribute_printf(4, 5);

/* Raises 0A000, because the dialect has no form for envelopes of this type. */
pg_noreturn extern void adapter_unsupported(const Adapter *self, const Json *envelope);

#endif							/* CLUTCH_ADAPTER_H */
