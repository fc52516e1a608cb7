/*-------------------------------------------------------------------------
 *
 * envelope.c
 *	  Reading envelopes (spec 1.1, 1.2) from jsonb in place, with all their
 *	  faults.
 *
 * One pass over the document checks its limits (limits.c), and one pass over
 * each object of the protocol finds its fields (fields.c).  Nothing is copied.
 * The larger parts have their own files: envelope_address.c,
 * envelope_policy.c, envelope_orders.c and envelope_payload.c.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/envelope.h"

#include "base/document.h"
#include "base/uri.h"
#include "compat.h"
#include "protocol/envelope_part.h"
#include "protocol/legacy.h"
#include "protocol/limits.h"
#include "semver/version_range.h"

/* the fields of spec 1.2, in the order of keys in jsonb */
enum
{
	FIELD_V,
	FIELD_ID,
	FIELD_TO,
	FIELD_TS,
	FIELD_FROM,
	FIELD_META,
	FIELD_TYPE,
	FIELD_TRACE,
	FIELD_DOMAIN,
	FIELD_RUN_ID,
	FIELD_ATTEMPT,
	FIELD_PAYLOAD,
	FIELD_PREFERS,
	FIELD_TASK_ID,
	FIELD_REQUIRES,
	FIELD_SECURITY,
	FIELD_THREAD_ID,
	FIELD_SCHEMA_REF,
	FIELD_ATTACHMENTS,
	FIELD_PAYLOAD_TYPE,
	FIELD_PARENT_TASK_ID,
	FIELD_IDEMPOTENCY_KEY
};

static const Slice envelope_names[] = {
	FIELD("v"),
	FIELD("id"),
	FIELD("to"),
	FIELD("ts"),
	FIELD("from"),
	FIELD("meta"),
	FIELD("type"),
	FIELD("trace"),
	FIELD("domain"),
	FIELD("run_id"),
	FIELD("attempt"),
	FIELD("payload"),
	FIELD("prefers"),
	FIELD("task_id"),
	FIELD("requires"),
	FIELD("security"),
	FIELD("thread_id"),
	FIELD("schema_ref"),
	FIELD("attachments"),
	FIELD("payload_type"),
	FIELD("parent_task_id"),
	FIELD("idempotency_key"),
};
static const FieldTable envelope_fields =
FIELD_TABLE(envelope_names, "put a framework's own data into \"meta\"");

enum
{
	ATTACHMENT_REF,
	ATTACHMENT_KIND
};

static const Slice attachment_names[] = {
	FIELD("ref"),
	FIELD("kind"),
};
static const FieldTable attachment_fields = FIELD_TABLE_OPEN(attachment_names);

static const char *const envelope_versions[] = {CLUTCH_PROTOCOL, NULL};

/* -------------------------------------------------- identifiers and parties */

static void
envelope_read_identifiers(Fields *f, Envelope *envelope)
{
	DocumentPlace parent = fields_place(f, FIELD_PARENT_TASK_ID);

	envelope->id = fields_identifier(f, FIELD_ID, REQUIRED, ID_MESSAGE);
	envelope->thread_id = fields_identifier(f, FIELD_THREAD_ID, REQUIRED, ID_THREAD);
	envelope->run_id = fields_identifier(f, FIELD_RUN_ID, REQUIRED, ID_RUN);
	envelope->task_id = fields_identifier(f, FIELD_TASK_ID, REQUIRED, ID_TASK);
	envelope->parent_task_id = fields_identifier(f, FIELD_PARENT_TASK_ID, NULLABLE, ID_TASK);
	envelope->idempotency_key = fields_text(f, FIELD_IDEMPOTENCY_KEY, NULLABLE, TEXT_ID);

	if (slice_present(envelope->parent_task_id) &&
		slice_equal(envelope->parent_task_id, envelope->task_id))
		place_fault(&parent, f->list, "SELF_PARENT",
					"is the ID of the task itself; a task cannot be its own parent.");
}

static void
envelope_read_parties(Fields *f, Envelope *envelope)
{
	DocumentPlace from = fields_place(f, FIELD_FROM);
	DocumentPlace to = fields_place(f, FIELD_TO);
	const JsonbValue *sender = fields_object(f, FIELD_FROM, REQUIRED);
	const JsonbContainer *recipients = fields_array(f, FIELD_TO, REQUIRED,
													f->list->limits->max_recipients,
													"clutch.max_recipients");

	if (sender)
		envelope_read_from(sender, &from, envelope, f->list);
	if (recipients)
		envelope_read_to(recipients, &to, envelope, f->list);
}

/* --------------------------------------------------------- type and contract */

static void
envelope_add_unknown_type(const DocumentPlace *place, Slice name, ProblemList *list)
{
	MessageType nearest = message_type_nearest(name);

	if (legacy_type_known(name))
		place_fault(place, list, "UNKNOWN_TYPE",
					"is %s, a legacy type; clutch.from_legacy translates the envelope.",
					place_quote(name));
	else if (nearest != MSG_UNKNOWN)
		place_fault(place, list, "UNKNOWN_TYPE",
					"is %s, which is not a message type; perhaps you meant \"%s\".",
					place_quote(name), message_type_name(nearest));
	else
		place_fault(place, list, "UNKNOWN_TYPE",
					"is %s, which is not a message type; the types are %s.",
					place_quote(name), message_type_list());
}

static void
envelope_read_type(Fields *f, Envelope *envelope)
{
	DocumentPlace place = fields_place(f, FIELD_TYPE);

	envelope->type = MSG_UNKNOWN;
	envelope->type_name = fields_text(f, FIELD_TYPE, REQUIRED, TEXT_ID);
	if (!slice_present(envelope->type_name))
		return;
	envelope->type = message_type_parse(envelope->type_name);
	if (envelope->type == MSG_UNKNOWN)
		envelope_add_unknown_type(&place, envelope->type_name, f->list);
}

/*
 * Checks a schema_ref like schema://clutch/research/summary@1, which is a path
 * with an optional version.  It is only checked: other protocols and the
 * requests of rules carry it, but it does not choose what validates a payload.
 */
static void
envelope_check_schema_ref(Fields *f)
{
	DocumentPlace place = fields_place(f, FIELD_SCHEMA_REF);
	Slice		ref = fields_identifier(f, FIELD_SCHEMA_REF, NULLABLE, ID_SCHEMA);

	if (ref.len > 0 && (memchr(ref.s, ' ', ref.len) || ref.s[ref.len - 1] == '@'))
		place_fault(&place, f->list, "WRONG_FORMAT",
					"is %s; it must be like \"schema://clutch/research/summary@1\".",
					place_quote(ref));
}

static void
envelope_read_contract(Fields *f, Envelope *envelope)
{
	envelope->domain = fields_identifier(f, FIELD_DOMAIN, NULLABLE, ID_WORD);
	envelope->payload_type = fields_identifier(f, FIELD_PAYLOAD_TYPE, NULLABLE, ID_WORD);
	envelope_check_schema_ref(f);
}

static void
envelope_read_attempt(Fields *f, Envelope *envelope)
{
	int64		attempt;

	if (!fields_integer(f, FIELD_ATTEMPT, NULLABLE, 1, PG_INT32_MAX, &attempt))
		return;
	envelope->has_attempt = true;
	envelope->attempt = attempt;
}

/* ----------------------------------------------- capabilities and attachments */

/* Reads requires or prefers: capabilities, which may have an @range. */
static void
envelope_read_capabilities(Fields *f, int field, SliceList *entries)
{
	DocumentPlace place = fields_place(f, field);
	DocumentPlace element = {&place, SLICE_NONE};

	fields_identifiers(f, field, NULLABLE, ID_CAPABILITY, entries);
	for (; element.index < entries->n; element.index++)
	{
		Slice		entry = entries->items[element.index];
		Slice		id;
		Slice		range;

		/* tags, domains and models, which "prefers" may name, have no version */
		if (!slice_present(entry) || slice_starts(entry, SLICE_OF("tag:")) || slice_starts(entry, SLICE_OF("domain:")) ||
			(field == FIELD_PREFERS && slice_starts(entry, SLICE_OF("model:"))))
			continue;
		identifier_split_version(entry, &id, &range);
		if (slice_present(range) && (range.len == 0 || !version_range_valid(range)))
			place_fault(&element, f->list, "WRONG_FORMAT",
						"is %s; a version or a range, like \"^1.0\", must follow the @.",
						place_quote(entry));
	}
}

/* Checks the ref of an attachment of kind "uri". */
static void
envelope_check_uri(Fields *attachment)
{
	DocumentPlace place = fields_place(attachment, ATTACHMENT_REF);
	Slice		uri = fields_text(attachment, ATTACHMENT_REF, REQUIRED, TEXT_STRING);

	if (slice_present(uri) && !uri_is_plausible(uri))
		place_fault(&place, attachment->list, "WRONG_FORMAT",
					"is %s; of an attachment of kind \"uri\", it must be an absolute URI like \"https://a.example/b\".",
					place_quote(uri));
}

static void
envelope_read_attachments(Fields *f, SliceList *references)
{
	const JsonbContainer *array = fields_array(f, FIELD_ATTACHMENTS, NULLABLE,
											   f->list->limits->max_list, "clutch.max_list");
	DocumentPlace place = fields_place(f, FIELD_ATTACHMENTS);
	DocumentPlace element = {&place, SLICE_NONE};
	int			n = array ? JsonContainerSize(array) : 0;

	references->n = n;
	references->items = n > 0 ? palloc0(n * sizeof(Slice)) : NULL;
	for (; element.index < n; element.index++)
	{
		Fields		attachment;
		JsonbValue	value;

		value_at(array, element.index, &value);
		if (!fields_open(&attachment, &attachment_fields, &value, &element, f->list))
			continue;
		if (slice_equal(fields_identifier(&attachment, ATTACHMENT_KIND, REQUIRED, ID_WORD), SLICE_OF("uri")))
			envelope_check_uri(&attachment);
		else
			references->items[element.index] =
				fields_identifier(&attachment, ATTACHMENT_REF, REQUIRED, ID_ARTIFACT);
	}
}

/* Reads the trace IDs: any keys, with strings as values. */
static void
envelope_read_trace(Fields *f, Envelope *envelope)
{
	const JsonbValue *trace = fields_object(f, FIELD_TRACE, NULLABLE);
	DocumentPlace place = fields_place(f, FIELD_TRACE);
	const JsonbContainer *object;
	int			i;

	if (trace == NULL)
		return;
	object = trace->val.binary.data;
	if (JsonContainerSize(object) > f->list->limits->max_list)
	{
		place_fault(&place, f->list, "TOO_MANY",
					"has %d fields; the limit is %d (setting clutch.max_list).",
					(int) JsonContainerSize(object), f->list->limits->max_list);
		return;
	}
	for (i = 0; i < JsonContainerSize(object); i++)
	{
		DocumentPlace one = {&place, value_key_at(object, i)};
		JsonbValue	value;

		value_at(object, i, &value);
		(void) value_text(&value, &one, TEXT_STRING, f->list);
	}
	if (envelope->type == MSG_TASK_REQUEST)
		envelope->trace = document_of_value(unconstify(JsonbValue *, trace));
}

/* ------------------------------------------------------------- the envelope */

static void
envelope_set_defaults(Envelope *envelope, Jsonb *doc)
{
	memset(envelope, 0, sizeof(*envelope));
	envelope->doc = doc;
	envelope->type = MSG_UNKNOWN;
	envelope->attempt = 1;
	envelope->payload.type = jbvNull;
	envelope->policy.sandbox = true;
	envelope->policy.network = NETWORK_NONE;
	envelope->policy.trust = TRUST_SANDBOX;
	envelope->orders.priority = 2;
	envelope->orders.join = JOIN_NONE;
	envelope->orders.retry = RETRY_POLICY_UNSAID;
	envelope->orders.move = MOVE_NONE;
	envelope->orders.wait = SUSPENSION_NONE;
}

/* Reads the parts that have files of their own. */
static void
envelope_read_parts(Fields *f, Envelope *envelope)
{
	DocumentPlace security_place = fields_place(f, FIELD_SECURITY);
	DocumentPlace meta_place = fields_place(f, FIELD_META);
	DocumentPlace payload_place = fields_place(f, FIELD_PAYLOAD);
	const JsonbValue *security = fields_object(f, FIELD_SECURITY, NULLABLE);
	const JsonbValue *meta = fields_object(f, FIELD_META, NULLABLE);

	if (security)
		envelope_read_security(security, &security_place, envelope, f->list);
	if (meta)
		envelope_read_meta(meta, &meta_place, envelope, f->list);
	/*
	 * read this last, because checking a tool's answer requires
	 * meta.clutch.reply_to
	 */
	envelope_read_payload(fields_object(f, FIELD_PAYLOAD, REQUIRED), &payload_place,
						  envelope, f->list);
}

/* Reads the document, whose root is an object. */
static void
envelope_read_document(Jsonb *doc, Envelope *envelope, ProblemList *list)
{
	JsonbValue	root = document_value(doc);
	Fields		f;

	(void) fields_open(&f, &envelope_fields, &root, NULL, list);

	(void) fields_word(&f, FIELD_V, REQUIRED, envelope_versions);
	(void) fields_time(&f, FIELD_TS, REQUIRED, &envelope->ts);
	envelope_read_type(&f, envelope);
	envelope_read_identifiers(&f, envelope);
	envelope_read_parties(&f, envelope);
	envelope_read_contract(&f, envelope);
	envelope_read_attempt(&f, envelope);
	envelope_read_capabilities(&f, FIELD_REQUIRES, &envelope->requires);
	envelope_read_capabilities(&f, FIELD_PREFERS, &envelope->prefers);
	envelope_read_attachments(&f, &envelope->attachments);
	envelope_read_trace(&f, envelope);
	envelope_read_parts(&f, envelope);
}

void
envelope_read(Jsonb *doc, Envelope *envelope, ProblemList *list)
{
	envelope_set_defaults(envelope, doc);
	if (!JB_ROOT_IS_OBJECT(doc))
	{
		problem_add(list, "", "WRONG_TYPE", "An envelope must be a JSON object.");
		return;
	}
	limits_check(doc, LIMITS_USE_ARTIFACTS, list);
	envelope_read_document(doc, envelope, list);
}

void
envelope_read_admitted(Jsonb *doc, Envelope *envelope, ProblemList *list)
{
	list->limits = &clutch_limits_admitted;
	envelope_read(doc, envelope, list);
}

void
envelope_read_own(Jsonb *doc, Envelope *envelope, ProblemList *list)
{
	list->limits = &clutch_limits_admitted;
	envelope_set_defaults(envelope, doc);
	envelope_read_document(doc, envelope, list);
}

void
envelope_refuse_internal(const Envelope *envelope, ProblemList *list)
{
	if (message_type_is_internal(envelope->type))
		problem_add(list, "/type", "NOT_ALLOWED",
					"\"%s\" is written by the database only.",
					message_type_name(envelope->type));
	if (envelope->orders.move != MOVE_NONE)
		problem_add(list, "/meta/clutch/move", "NOT_ALLOWED",
					"\"move\" is written by the database only.");
}
