/*-------------------------------------------------------------------------
 *
 * fields.c
 *	  Reading the fields of an object: they are found in one pass, and then
 *	  read one by one.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/fields.h"

#include "base/clock.h"
#include "base/number.h"
#include "lib/stringinfo.h"

/* -------------------------------------------------------------- finding them */

static void
fields_add_unknown(const Fields *f, Slice key)
{
	DocumentPlace place = {f->place, key};
	StringInfoData known;
	int			i;

	if (f->list->n == PROBLEM_MAX)
	{
		f->list->dropped++;
		return;
	}
	initStringInfo(&known);
	for (i = 0; i < f->table->n; i++)
		appendStringInfo(&known, "%s%s", i > 0 ? ", " : "", f->table->names[i].s);
	place_fault(&place, f->list, "UNKNOWN_FIELD",
				"is not a known field; %s (known fields: %s).",
				f->table->advice, known.data);
}

/*
 * The keys of the object and the names in the table are both in order, so one
 * pass over the two finds the fields.
 */
bool
fields_open(Fields *f, const FieldTable *table, const JsonbValue *value,
			const DocumentPlace *place, ProblemList *list)
{
	const JsonbContainer *object = value_container(value, place, CONTAINER_OBJECT, list);
	const Slice *names = table->names;
	const int	nnames = table->n;
	const char *data;
	uint32		key_offset = 0;
	uint32		value_offset;
	uint32		present = 0;
	int			name = 0;
	int			n;
	int			i;

	Assert(nnames <= FIELDS_MAX);
	f->table = table;
	f->place = place;
	f->list = list;
	f->present = 0;
	if (object == NULL)
		return false;

	n = JsonContainerSize(object);
	data = (const char *) &object->children[2 * n];
	value_offset = n > 0 ? getJsonbOffset(object, n) : 0;
	for (i = 0; i < n; i++)
	{
		JEntry		entry = object->children[n + i];
		uint32		start = value_offset;
		Slice		key;
		int			order = 1;

		key.s = data + key_offset;
		JBE_ADVANCE_OFFSET(key_offset, object->children[i]);
		key.len = data + key_offset - key.s;
		JBE_ADVANCE_OFFSET(value_offset, entry);

		while (name < nnames && (order = slice_compare_keys(key, names[name])) > 0)
			name++;
		if (name < nnames && order == 0)
		{
			value_fill(entry, data, start, value_offset, &f->values[name]);
			present |= UINT32_C(1) << name++;
		}
		else if (!table->open)
			fields_add_unknown(f, key);
	}
	f->present = present;
	return true;
}

/*
 * Returns the value of the field, or NULL.  Adds a fault if the field is
 * missing and required.
 */
static const JsonbValue *
fields_value(Fields *f, int field, Presence presence)
{
	const JsonbValue *value = &f->values[field];

	if (fields_present(f, field))
		return presence == NULLABLE && value->type == jbvNull ? NULL : value;
	if (presence == REQUIRED)
	{
		DocumentPlace place = fields_place(f, field);

		place_fault(&place, f->list, "REQUIRED", "is missing; it is required here.");
	}
	return NULL;
}

/* ------------------------------------------------------------- reading them */

Slice
fields_text(Fields *f, int field, Presence presence, TextKind kind)
{
	const JsonbValue *value = fields_value(f, field, presence);
	DocumentPlace place = fields_place(f, field);

	return value ? value_text(value, &place, kind, f->list) : SLICE_NONE;
}

Slice
fields_identifier(Fields *f, int field, Presence presence, IdentifierKind kind)
{
	const JsonbValue *value = fields_value(f, field, presence);
	DocumentPlace place = fields_place(f, field);

	return value ? value_identifier(value, &place, kind, f->list) : SLICE_NONE;
}

int
fields_word(Fields *f, int field, Presence presence, const char *const *words)
{
	Slice		text = fields_text(f, field, presence, TEXT_ID);
	DocumentPlace place = fields_place(f, field);
	StringInfoData known;
	int			i;

	if (!slice_present(text))
		return -1;
	for (i = 0; words[i] != NULL; i++)
		if (slice_is(text, words[i]))
			return i;

	initStringInfo(&known);
	for (i = 0; words[i] != NULL; i++)
		appendStringInfo(&known, "%s\"%s\"",
						 i == 0 ? "" : words[i + 1] == NULL ? " or " : ", ", words[i]);
	place_fault(&place, f->list, "WRONG_VALUE", "is %s; it must be %s.",
				place_quote(text), known.data);
	return -1;
}

bool
fields_time(Fields *f, int field, Presence presence, TimestampTz *t)
{
	Slice		text = fields_text(f, field, presence, TEXT_ID);
	DocumentPlace place = fields_place(f, field);

	if (!slice_present(text))
		return false;
	if (clock_parse_rfc3339(text, t))
		return true;
	place_fault(&place, f->list, "WRONG_FORMAT",
				"is %s; it must be an RFC 3339 timestamp with a time zone, "
				"like \"2026-02-01T13:20:11.123Z\".", place_quote(text));
	return false;
}

bool
fields_bool(Fields *f, int field, Presence presence, bool *flag)
{
	const JsonbValue *value = fields_value(f, field, presence);
	DocumentPlace place = fields_place(f, field);

	if (value == NULL)
		return false;
	if (value->type != jbvBool)
	{
		value_wrong_type(value, &place, "true or false", f->list);
		return false;
	}
	*flag = value->val.boolean;
	return true;
}

bool
fields_integer(Fields *f, int field, Presence presence,
			   int64 least, int64 most, int64 *number)
{
	return fields_limited_integer(f, field, presence, least, most, NULL, number);
}

bool
fields_limited_integer(Fields *f, int field, Presence presence,
					   int64 least, int64 most, const char *setting, int64 *number)
{
	const JsonbValue *value = fields_value(f, field, presence);
	DocumentPlace place = fields_place(f, field);

	if (value == NULL)
		return false;
	if (value->type != jbvNumeric)
	{
		value_wrong_type(value, &place, "an integer", f->list);
		return false;
	}
	if (number_to_int64(value->val.numeric, number) &&
		*number >= least && *number <= most)
		return true;

	if (number_is_integer(value->val.numeric))
		place_fault(&place, f->list, "NUMBER_OUT_OF_RANGE",
					"must be between " INT64_FORMAT " and " INT64_FORMAT "%s.", least, most,
					setting != NULL ? psprintf(" (setting %s)", setting) : "");
	else
		place_fault(&place, f->list, "WRONG_TYPE", "has a fraction; it must be an integer.");
	return false;
}

Numeric
fields_amount(Fields *f, int field)
{
	const JsonbValue *value = fields_value(f, field, OPTIONAL);
	DocumentPlace place = fields_place(f, field);

	if (value == NULL)
		return NULL;
	if (value->type != jbvNumeric)
		value_wrong_type(value, &place, "a number", f->list);
	else if (number_is_negative(value->val.numeric))
		place_fault(&place, f->list, "NUMBER_OUT_OF_RANGE",
					"is negative; it must be 0 or more.");
	else
		return value->val.numeric;
	return NULL;
}

const JsonbValue *
fields_object(Fields *f, int field, Presence presence)
{
	const JsonbValue *value = fields_value(f, field, presence);
	DocumentPlace place = fields_place(f, field);

	if (value == NULL || value_container(value, &place, CONTAINER_OBJECT, f->list) == NULL)
		return NULL;
	return value;
}

const JsonbContainer *
fields_array(Fields *f, int field, Presence presence, int most, const char *setting)
{
	const JsonbValue *value = fields_value(f, field, presence);
	DocumentPlace place = fields_place(f, field);
	const JsonbContainer *array;

	if (value == NULL)
		return NULL;
	array = value_container(value, &place, CONTAINER_ARRAY, f->list);
	if (array == NULL || JsonContainerSize(array) <= most)
		return array;
	place_fault(&place, f->list, "TOO_MANY",
				"has %d elements; the limit is %d (setting %s).",
				(int) JsonContainerSize(array), most, setting);
	return NULL;
}

void
fields_identifiers(Fields *f, int field, Presence presence, IdentifierKind kind,
				   SliceList *items)
{
	const JsonbContainer *array = fields_array(f, field, presence, f->list->limits->max_list,
											   "clutch.max_list");
	DocumentPlace place = fields_place(f, field);
	DocumentPlace element = {&place, SLICE_NONE};
	int			n = array ? JsonContainerSize(array) : 0;

	items->n = n;
	items->items = n > 0 ? palloc(n * sizeof(Slice)) : NULL;
	for (; element.index < n; element.index++)
	{
		JsonbValue	value;

		value_at(array, element.index, &value);
		items->items[element.index] = value_identifier(&value, &element, kind, f->list);
	}
}
