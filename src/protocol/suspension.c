/*-------------------------------------------------------------------------
 *
 * suspension.c
 *	  Suspensions: what a suspended task waits for, from meta.clutch.wait of a
 *	  task.progress.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "protocol/fields.h"
#include "protocol/suspension.h"
#include "utils/timestamp.h"

/* a hundred years */
#define LONGEST_WAIT_MS		(INT64CONST(100) * 365 * 24 * 3600 * 1000)

enum
{
	WAIT_UNTIL,
	WAIT_FOR_MS,
	WAIT_MESSAGE,
	WAIT_CHILDREN
};

static const Slice wait_names[] = {
	FIELD("until"),
	FIELD("for_ms"),
	FIELD("message"),
	FIELD("children"),
};
static const FieldTable wait_fields = FIELD_TABLE(wait_names,
												  "a task waits for \"children\", a \"message\", \"until\" a time or \"for_ms\"");

int
suspension_read_children(Fields *f, int field)
{
	DocumentPlace place = fields_place(f, field);
	enum jbvType type = fields_present(f, field) ? f->values[field].type : jbvNull;
	Slice		word;
	int64		count;

	if (type == jbvNumeric)
		return fields_limited_integer(f, field, OPTIONAL, 1, f->list->limits->max_list,
									  "clutch.max_list", &count) ? (int) count : JOIN_NONE;
	if (type != jbvString && type != jbvNull)
	{
		place_fault(&place, f->list, "WRONG_TYPE", "must be \"all\", \"any\" or a number.");
		return JOIN_NONE;
	}
	word = fields_text(f, field, OPTIONAL, TEXT_ID);
	if (slice_is(word, "all"))
		return JOIN_ALL;
	if (slice_is(word, "any"))
		return 1;
	if (slice_present(word))
		place_fault(&place, f->list, "WRONG_VALUE", "is %s; it must be \"all\", \"any\" or a number.",
					place_quote(word));
	return JOIN_NONE;
}

/*
 * Checks that there is exactly one of children and message, or else a time,
 * and at most one of the two times.
 */
static void
suspension_check_fields(const Fields *f)
{
	if (f->present == 0)
		place_fault(f->place, f->list, "EMPTY",
					"is empty; it must name \"children\", a \"message\", \"until\" or \"for_ms\".");
	if (fields_present(f, WAIT_CHILDREN) && fields_present(f, WAIT_MESSAGE))
		place_fault(f->place, f->list, "WRONG_VALUE",
					"names both \"children\" and a \"message\"; a task waits for one of them.");
	if (fields_present(f, WAIT_UNTIL) && fields_present(f, WAIT_FOR_MS))
		place_fault(f->place, f->list, "WRONG_VALUE",
					"has both \"until\" and \"for_ms\"; one of them says how long to wait.");
}

void
suspension_read(Fields *parent, int field, Suspension *suspension)
{
	DocumentPlace place = fields_place(parent, field);
	const JsonbValue *message;
	Fields		f;

	if (!fields_present(parent, field))
		return;
	suspension->is_set = true;
	if (!fields_open(&f, &wait_fields, &parent->values[field], &place, parent->list))
		return;
	suspension_check_fields(&f);
	suspension->children = suspension_read_children(&f, WAIT_CHILDREN);
	message = fields_object(&f, WAIT_MESSAGE, OPTIONAL);
	suspension->has_message = message != NULL;
	if (message != NULL)
		suspension->message = *message;
	if (fields_time(&f, WAIT_UNTIL, OPTIONAL, &suspension->until))
		/*
		 * avoid 0, the first instant of the year 2000, which stands for "none"
		 */
		suspension->until = Max(suspension->until, 1);
	(void) fields_integer(&f, WAIT_FOR_MS, OPTIONAL, 1, LONGEST_WAIT_MS, &suspension->for_ms);
}

TimestampTz
suspension_end(const Suspension *suspension, TimestampTz from)
{
	return suspension->for_ms > 0 ? from + suspension->for_ms * 1000 : suspension->until;
}

bool
suspension_has_note(JsonbContainer *payload)
{
	JsonbValue	value;
	int			has_state = document_get(payload, "state", &value);
	int			is_redacted = document_get(payload, "redacted", &value);

	return JsonContainerSize(payload) > has_state + is_redacted || (is_redacted && !has_state);
}
