/*-------------------------------------------------------------------------
 *
 * redaction.c
 *	  Redaction: replacing the content of an envelope in the log by its digest.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/crypto.h"
#include "base/document.h"
#include "settings.h"
#include "store/redaction.h"

/* ------------------------------------------------------------------ digests */

Slice
redaction_digest(JsonbValue *payload)
{
	Jsonb	   *document = document_of_value(payload);
	char	   *text = JsonbToCString(NULL, &document->root, VARSIZE(document));
	uint8		digest[CRYPTO_HASH_BYTES];

	crypto_sha256(text, strlen(text), digest);
	pfree(text);
	return crypto_encode_hex(digest, CRYPTO_HASH_BYTES);
}

Slice
redaction_of(Jsonb *document)
{
	JsonbContainer *payload = document_get_container(&document->root, "payload");
	return document_get_text(document_get_container(payload, "redacted"), "sha256");
}

/* ------------------------------------------------------------- what remains */

/* what step_read and the payload checks need from the payload, by type */
static const struct
{
	MessageType type;
	const char *keys[3];
}			kept_keys[] = {
	{MSG_TASK_ACCEPT, {"lease_until"}},
	{MSG_TASK_ERROR, {"code", "retryable"}},
	{MSG_TOOL_ERROR, {"code", "retryable"}},
	{MSG_TOOL_CALL, {"tool"}},
};

/* texts that are required, or that became the detail of a task */
static const struct
{
	MessageType type;
	const char *key;
}			text_keys[] = {
	{MSG_TASK_ERROR, "message"},
	{MSG_TOOL_ERROR, "message"},
	{MSG_TASK_CANCEL, "reason"},
	{MSG_TASK_TIMEOUT, "message"},
	{MSG_ROUTING_FAILURE, "message"},
};

Slice
redaction_detail(const Envelope *envelope)
{
	int			i;

	for (i = 0; i < lengthof(text_keys); i++)
		if (text_keys[i].type == envelope->type)
			return document_get_text(envelope->payload.val.binary.data, text_keys[i].key);
	return SLICE_NONE;
}

static void
redaction_keep(DocumentBuilder *b, JsonbContainer *payload, const char *key)
{
	JsonbValue	value;

	if (document_get(payload, key, &value) && value.type != jbvBinary)
		document_put_value(b, key, &value);
}

static void
redaction_put_kept_keys(DocumentBuilder *b, const Envelope *envelope)
{
	JsonbContainer *payload = envelope->payload.val.binary.data;
	int			i;
	int			k;

	for (i = 0; i < lengthof(kept_keys); i++)
		for (k = 0; kept_keys[i].type == envelope->type && kept_keys[i].keys[k] != NULL; k++)
			redaction_keep(b, payload, kept_keys[i].keys[k]);
	for (i = 0; i < lengthof(text_keys); i++)
		if (text_keys[i].type == envelope->type &&
			slice_present(document_get_text(payload, text_keys[i].key)))
			document_put_cstring(b, text_keys[i].key, REDACTED_TEXT);
	/* for the state of the task, it matters only whether there was a note */
	if (envelope->orders.wait.is_set && !suspension_has_note(payload))
		document_put_cstring(b, "state", "suspended");
	if (envelope->asks)
	{
		redaction_keep(b, payload, "state");
		redaction_keep(b, payload, "deadline");
	}
	if (envelope->type == MSG_TOOL_CALL)
	{
		document_open_object(b, "args");
		document_close_object(b);
	}
}

/*
 * Is it a record that only the database can have written?  It contains nothing
 * from users except texts under known names.  Other events of the orchestrator
 * may have been sent by an operator, or copied by a rule from another event.
 * What the database writes in the name of an agent may have a reason that was
 * given, except that a task is retried: that has its new deadline.
 */
static bool
redaction_is_record(const Envelope *envelope)
{
	return envelope->orders.move == MOVE_RETRIED ||
		(slice_is(envelope->from_agent, clutch_orchestrator) &&
		 (message_type_is_internal(envelope->type) || envelope->orders.move != MOVE_NONE));
}

static void
redaction_put_payload(DocumentBuilder *b, const Envelope *envelope, Slice digest, Slice reason)
{
	JsonbContainer *payload = envelope->payload.val.binary.data;

	document_open_object(b, "payload");
	if (redaction_is_record(envelope))
		document_put_pairs(b, payload, NULL);
	else if (slice_equal(document_get_text(payload, "was"), SLICE_OF("pending")))
		/* the status of the task when the database ended it */
		document_put_cstring(b, "was", "pending");
	redaction_put_kept_keys(b, envelope);
	document_open_object(b, "redacted");
	document_put_text(b, "sha256", digest);
	document_put_text(b, "reason", reason);
	document_close_object(b);
	document_close_object(b);
}

static bool
redaction_is_kept_field(Slice name)
{
	return !slice_equal(name, SLICE_OF("payload")) && !slice_equal(name, SLICE_OF("meta")) &&
		!slice_equal(name, SLICE_OF("attachments"));
}

static void
redaction_put_fields(DocumentBuilder *b, Jsonb *document)
{
	JsonbIterator *it = JsonbIteratorInit(&document->root);
	JsonbValue	key;
	JsonbValue	value;

	(void) JsonbIteratorNext(&it, &key, true);
	while (JsonbIteratorNext(&it, &key, true) == WJB_KEY)
	{
		Slice		name = document_text(&key);

		(void) JsonbIteratorNext(&it, &value, true);
		if (!redaction_is_kept_field(name))
			continue;
		document_key(b, name);
		document_add_value(b, &value);
	}
}

/* Puts meta.clutch, except for the output of a step. */
static void
redaction_put_orders(DocumentBuilder *b, JsonbContainer *meta)
{
	JsonbContainer *orders = document_get_container(meta, "clutch");
	JsonbContainer *step = document_get_container(orders, "step");

	if (orders == NULL)
		return;
	document_open_object(b, "meta");
	document_open_object(b, "clutch");
	document_put_pairs(b, orders, step != NULL ? "step" : NULL);
	if (step != NULL)
	{
		document_open_object(b, "step");
		document_put_pairs(b, step, "output");
		document_close_object(b);
	}
	document_close_object(b);
	document_close_object(b);
}

Jsonb *
redaction_document(const Envelope *envelope, Slice digest, Slice reason)
{
	DocumentBuilder b;

	document_begin(&b);
	redaction_put_fields(&b, envelope->doc);
	redaction_put_orders(&b, document_get_container(&envelope->doc->root, "meta"));
	redaction_put_payload(&b, envelope, digest, reason);
	return document_end(&b);
}

bool
redaction_is_done(const Envelope *envelope)
{
	JsonbContainer *payload = envelope->payload.val.binary.data;
	JsonbContainer *redacted = document_get_container(payload, "redacted");
	Jsonb	   *done;

	if (redacted == NULL)
		return false;
	done = redaction_document(envelope, document_get_text(redacted, "sha256"),
							  document_get_text(redacted, "reason"));
	return compareJsonbContainers(&done->root, &envelope->doc->root) == 0;
}
