/*-------------------------------------------------------------------------
 *
 * value.c
 *	  Reading and checking single values of a document.
 *
 * Children are read directly from the entries of their container, whose layout
 * is documented in utils/jsonb.h, because the server's own functions allocate
 * every value that they return.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "protocol/value.h"

static const char *
value_type_name(const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvNull:
			return "null";
		case jbvString:
			return "a string";
		case jbvNumeric:
			return "a number";
		case jbvBool:
			return "a boolean";
		case jbvBinary:
			return JsonContainerIsObject(value->val.binary.data) ? "an object" : "an array";
		default:
			return "something else";
	}
}

void
value_wrong_type(const JsonbValue *value, const DocumentPlace *place,
				 const char *expected, ProblemList *list)
{
	if (value->type == jbvNull)
		place_fault(place, list, "NULL_VALUE",
					"is null; it must be %s, or be left out if it is optional.", expected);
	else
		place_fault(place, list, "WRONG_TYPE", "is %s; it must be %s.",
					value_type_name(value), expected);
}

static inline Slice
value_text_of_kind(const JsonbValue *value, const DocumentPlace *place, TextKind kind,
				   ProblemList *list)
{
	Slice		text;
	int			most = kind == TEXT_ID ? list->limits->max_id_bytes :
		kind == TEXT_STRING ? list->limits->max_string_bytes : PG_INT32_MAX;
	int			control;

	if (value->type != jbvString)
	{
		value_wrong_type(value, place, "a string", list);
		return SLICE_NONE;
	}
	text = document_text(value);
	control = kind == TEXT_ID && !list->limits->any_character ?
		identifier_find_control(text) : -1;
	if (text.len > 0 && text.len <= most && control < 0)
		return text;

	if (text.len == 0)
		place_fault(place, list, "EMPTY",
					"is an empty string; give it a value or leave it out.");
	else if (text.len > most)
		place_fault(place, list, "TOO_LONG",
					"has %d bytes; the limit is %d (setting %s).", text.len, most,
					kind == TEXT_ID ? "clutch.max_id_bytes" : "clutch.max_string_bytes");
	else
		place_fault(place, list, "CONTROL_CHARACTER",
					"contains a line break or another control character (byte %d).",
					control + 1);
	return SLICE_NONE;
}

Slice
value_text(const JsonbValue *value, const DocumentPlace *place, TextKind kind,
		   ProblemList *list)
{
	return value_text_of_kind(value, place, kind, list);
}

Slice
value_identifier(const JsonbValue *value, const DocumentPlace *place, IdentifierKind kind,
				 ProblemList *list)
{
	Slice		text = value_text_of_kind(value, place, TEXT_ID, list);
	const char *code;
	const char *rule;

	if (!slice_present(text))
		return SLICE_NONE;
	code = identifier_fault(kind, text, &rule);
	if (code == NULL)
		return text;
	place_fault(place, list, code, "is %s; %s.", place_quote(text), rule);
	return SLICE_NONE;
}

const JsonbContainer *
value_container(const JsonbValue *value, const DocumentPlace *place, ContainerKind kind,
				ProblemList *list)
{
	if (value->type == jbvBinary &&
		JsonContainerIsObject(value->val.binary.data) == (kind == CONTAINER_OBJECT))
		return value->val.binary.data;
	value_wrong_type(value, place, kind == CONTAINER_OBJECT ? "an object" : "an array", list);
	return NULL;
}

/* ---------------------------------------------------------------- children */

Slice
value_key_at(const JsonbContainer *object, int i)
{
	const char *data = (const char *) &object->children[2 * JsonContainerSize(object)];

	return (Slice) {data + getJsonbOffset(object, i), getJsonbLength(object, i)};
}

void
value_at(const JsonbContainer *container, int i, JsonbValue *value)
{
	int			n = JsonContainerSize(container);
	bool		is_object = JsonContainerIsObject(container);
	int			child = is_object ? n + i : i;
	const char *data = (const char *) &container->children[is_object ? 2 * n : n];
	uint32		start = getJsonbOffset(container, child);

	value_fill(container->children[child], data, start,
			   start + getJsonbLength(container, child), value);
}
