/*-------------------------------------------------------------------------
 *
 * adapter.h
 *	  One dialect: what an adapter consists of, and what it is written with.
 *
 * An adapter consists of a test and two plain translations, which know only the members
 * that have a row in the mapping of the dialect.  Everything else is done by
 * translation.h for all adapters: it restores members without a row, carries the fields
 * of an envelope for which the dialect has no place, derives IDs and removes credentials.
 *
 * An envelope that was made of a document of a dialect is called foreign.
 *
 *	declines	Returns NULL if the document is one of this dialect, and otherwise a
 *				clause that says why not: "it has no member \"jsonrpc\"".  Raises no
 *				error.
 *
 *	inbound		Makes envelopes of a document and returns them as a List of Json *.
 *				An envelope has only the fields that the document gives it.
 *				Identifiers of the dialect are not put into the envelope but noted
 *				(adapter_note_native).  All missing identifiers, "v", "ts", "from" and
 *				"to" are filled in later.  The first envelope that is not a stub (see
 *				below) stands for the document; the others are its companions, and
 *				belong to its run, thread and task unless they name others.  An invalid
 *				document raises adapter_fault.
 *
 *	outbound	Makes a document of an envelope of any type, whether it was foreign or
 *				not.  inbound must accept every document that outbound makes.  Raises
 *				adapter_unsupported if the dialect has no form for the type.
 *
 * None of the three may change its arguments, or depend on anything but them, such as
 * the clock or a table.  What they return is palloc'd and may share values with their
 * arguments.
 *
 * A stub is an envelope that inbound makes up because another one needs it, such as the
 * tool.call to a tool.result.  It has the native ID of the envelope that it stands for,
 * and is left out if that envelope or the stub itself has already been sent.
 *
 * What inbound notes is stored in meta.<name of the adapter> of the envelope, where
 * outbound finds it again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ADAPTER_H
#define CLUTCH_ADAPTER_H

#include "base/json.h"
#include "protocol/identifier.h"
#include "protocol/message_type.h"

typedef struct Adapter Adapter;

/* A carrier is an array of changes (json_difference), and stands in a document as ... */
typedef enum AdapterCarrierForm
{
	CARRIER_ARRAY,				/* that array */
	CARRIER_TEXT,				/* its text */
	CARRIER_HEADER				/* its text, encoded for a header of HTTP */
} AdapterCarrierForm;

struct Adapter
{
	const char *name;			/* lower-case letters, digits, underscores */

	/*
	 * The path of the carrier, which has the fields of an envelope for which the dialect
	 * has no place: a member of our own in an object that the dialect leaves to its
	 * users, such as "/metadata/clutch".
	 */
	const char *carrier;
	AdapterCarrierForm carrier_form;

	/*
	 * Returns the path of the carrier in this document, if it depends on the document, and may
	 * set *form, which is carrier_form before.  It returns NULL if the document has no place for one.
	 */
	const char *(*carrier_at) (const Adapter *self, const Json *raw, AdapterCarrierForm *form);

	const char *(*declines) (const Adapter *self, const Json *raw);
	List	   *(*inbound) (const Adapter *self, const Json *raw, const Json *context);
	Json	   *(*outbound) (const Adapter *self, const Json *envelope);

	/* the names of the functions of an adapter that a user has defined (custom.h) */
	const char *can_handle_function;	/* NULL: it handles a document only if the caller names it */
	const char *inbound_function;	/* NULL: the adapter is built in */
	const char *outbound_function;

	/* Documents are envelopes.  Nothing is noted in one that is taken unchanged. */
	bool		is_ours;

	/* Native IDs are unique only within a session, which the member "session" of the context names. */
	bool		has_sessions;

	const char *base;			/* path of the document in the argument of the caller: "", or "/2" in a batch */

	/* The caller has named the adapter, which then takes documents that are valid in other dialects as well. */
	bool		named;
};

/* a palloc'd copy for the part of a document at that path: faults name the place in the whole document */
extern const Adapter *adapter_within(const Adapter *self, const char *path);

/* ------------------------------------------------------------------ inbound */

/* a new envelope of that type, with no other field */
extern Json *adapter_envelope(MessageType type);

/* Marks the envelope as a stub. */
extern void adapter_mark_stub(const Adapter *self, Json *envelope);

/* Puts a value into meta.<name>, at a path below it such as "/v".  Does nothing if the value is NULL. */
extern void adapter_note(const Adapter *self, Json *envelope, const char *path, Json *value);

/*
 * Notes an identifier of the dialect, a text or a number, from which a field of the
 * envelope is derived: "id", "run_id", "thread_id", "task_id", "parent_task_id", or
 * "reply_to" (the native "id" of another envelope of the run).  Does nothing if it is null
 * or NULL.  A native "id" need only be unique in its run.  A native task_id that is the ID
 * of a task in this database stands for that task, and a native thread_id that is the ID
 * of that task's thread stands for that thread.
 *
 * The field "scope" is a text without which the others would not be unique, such as the
 * source of a CloudEvent.
 */
extern void adapter_note_native(const Adapter *self, Json *envelope, const char *field, Json *native);

/*
 * Is it base64, possibly with line breaks, without padding, or in the alphabet for URLs?
 * Also true for the reference of an artifact, which may have replaced base64.
 */
extern bool adapter_is_base64(Slice text);

/* "agent:" and the name of an agent in the dialect, unless the name is such an ID itself; and back */
extern Slice adapter_agent_id(Slice name);
extern Slice adapter_agent_name(Slice agent_id);

/*
 * Makes a value the payload.  A value that is not an object becomes {"content": value},
 * and this is noted, so adapter_payload returns the value itself.  NULL makes an empty
 * payload.
 */
extern void adapter_put_payload(const Adapter *self, Json *envelope, Json *content);

/*
 * Members of the document; one that is null counts as missing.  If a member is of another
 * kind, all of these functions raise adapter_fault.  If it is missing,
 * adapter_require_word raises adapter_fault too, and the others return an absent Slice or
 * NULL.
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

/* Raises adapter_fault unless the text at that path is an identifier of this kind. */
extern void adapter_check_identifier(const Adapter *self, const char *path, IdentifierKind kind, Slice text);

/*
 * The time at that path, in RFC 3339 as "ts" requires it; absent if it is missing.  Raises
 * adapter_fault if it is anything else.
 */
extern Slice adapter_find_time(const Adapter *self, const Json *raw, const char *path);

/*
 * The percent-encoding of headers in CloudEvents.  A percent sign without two hexadecimal digits
 * stands for itself.  Decoding returns an absent text if the bytes would not be one: not UTF-8, or zero.
 */
extern Slice adapter_encode_header(Slice text);
extern Slice adapter_decode_header(Slice text);

/*
 * A new attachment, of kind "artifact_ref" for "artifact:..." and of kind "uri" for any
 * other absolute URI; NULL if the text is neither.
 */
extern Json *adapter_attachment(Slice uri);

/* the member at that path; NULL if it is missing or null */
extern Json *adapter_member(const Json *raw, const char *path);

/* --------------------------------------------------------------- outbound */

/*
 * Was the envelope made of a document of this dialect?  It was if meta.<name> has one of the
 * members that every translation writes: "native", "kept", "part_of" or "stub".  All other
 * members may also be data of the sender.
 */
extern bool adapter_was_foreign(const Adapter *self, const Json *envelope);

/* what adapter_note has put at that path; NULL: nothing */
extern Json *adapter_noted(const Adapter *self, const Json *envelope, const char *path);

/*
 * The identifier that the document has for a field: of a foreign envelope, the one that
 * was noted, or NULL, because the document had none; of any other, the value of the field.
 */
extern Json *adapter_native(const Adapter *self, const Json *envelope, const char *field);

/* the value that adapter_put_payload was given; NULL if the payload is empty */
extern Json *adapter_payload(const Adapter *self, const Json *envelope);

extern MessageType adapter_type(const Json *envelope);

/*
 * Does the payload of such an envelope describe an error, {code, message, ...}?  True for
 * task.error, tool.error, and task.timeout, which only the database sends.
 */
extern bool adapter_is_error(MessageType type);

/*
 * The trace in the format of W3C's traceparent, if need be made of trace_id and span_id;
 * absent if the envelope has neither.
 */
extern Slice adapter_traceparent(const Json *envelope);

/* ------------------------------------------------------ rows of a mapping */

/* how a member of the document is translated into a field of the envelope, and back */
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

/* Translate all rows of a table, which ends with a row whose "foreign" is NULL. */
extern void adapter_rows_inbound(const Adapter *self, const AdapterRow *rows, const Json *raw,
								 Json *envelope);
extern void adapter_rows_outbound(const Adapter *self, const AdapterRow *rows, const Json *envelope,
								  Json *raw);

/* ------------------------------------------------------------------ faults */

/*
 * Raises KL014: the document is not valid at that path.  The code is one of docs/errors.md,
 * and the format makes a clause without a capital letter and a period.
 */
pg_noreturn extern void adapter_fault(const Adapter *self, const char *path, const char *code,
									  const char *format,...) pg_attribute_printf(4, 5);

/* Raises 0A000: the dialect has no form for envelopes of this type. */
pg_noreturn extern void adapter_unsupported(const Adapter *self, const Json *envelope);

#endif							/* CLUTCH_ADAPTER_H */
