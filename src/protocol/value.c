/*-------------------------------------------------------------------------
 *
 * value.c
 *	  One value of a document, judged where it stands.
 *
 * Children are read from the entries of their container, in the form of
 * utils/jsonb.h: the server's own getters allocate a value for each.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/value.h"

#include "settings.h"

static const char *
type_name(const JsonbValue *value)
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
value_wrong_type(const JsonbValue *value, const Place *place,
				 const char *expected, ProblemList *list)
{
	if (value->type == jbvNull)
		place_fault(place, list, "NULL_VALUE",
					"is null; it must be %s (if it is optional, leave it out).", expected);
	else
		place_fault(place, list, "WRONG_TYPE", "is %s; it must be %s.",
					type_name(value), expected);
}

Slice
value_text(const JsonbValue *value, const Place *place, TextLimit limit, ProblemList *list)
{
	Slice		text;
	int			most = limit == TEXT_ID ? clutch_max_id_bytes :
		limit == TEXT_STRING ? clutch_max_string_bytes : PG_INT32_MAX;

	if (value->type != jbvString)
	{
		value_wrong_type(value, place, "a string", list);
		return SLICE_NONE;
	}
	text = (Slice) {value->val.string.val, value->val.string.len};
	if (text.len > 0 && text.len <= most)
		return text;

	if (text.len == 0)
		place_fault(place, list, "EMPTY", "is an empty string; write something or leave it out.");
	else
		place_fault(place, list, "TOO_LONG",
					"has %d bytes; the limit is %d (setting %s).", text.len, most,
					limit == TEXT_ID ? "clutch.max_id_bytes" : "clutch.max_string_bytes");
	return SLICE_NONE;
}

Slice
value_identifier(const JsonbValue *value, const Place *place, IdentifierKind kind,
				 ProblemList *list)
{
	Slice		text = value_text(value, place, TEXT_ID, list);
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
value_container(const JsonbValue *value, const Place *place, Container which,
				ProblemList *list)
{
	if (value->type == jbvBinary &&
		JsonContainerIsObject(value->val.binary.data) == (which == CONTAINER_OBJECT))
		return value->val.binary.data;
	value_wrong_type(value, place, which == CONTAINER_OBJECT ? "an object" : "an array", list);
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
value_fill(JEntry entry, const char *data, uint32 start, uint32 end, JsonbValue *value)
{
	char	   *at = unconstify(char *, data) + start;
	char	   *aligned = unconstify(char *, data) + INTALIGN(start);

	switch (entry & JENTRY_TYPEMASK)
	{
		case JENTRY_ISSTRING:
			value->type = jbvString;
			value->val.string.val = at;
			value->val.string.len = end - start;
			break;
		case JENTRY_ISNUMERIC:
			value->type = jbvNumeric;
			value->val.numeric = (Numeric) aligned;
			break;
		case JENTRY_ISBOOL_FALSE:
		case JENTRY_ISBOOL_TRUE:
			value->type = jbvBool;
			value->val.boolean = JBE_ISBOOL_TRUE(entry);
			break;
		case JENTRY_ISCONTAINER:
			value->type = jbvBinary;
			value->val.binary.data = (JsonbContainer *) aligned;
			value->val.binary.len = at + (end - start) - aligned;
			break;
		default:
			value->type = jbvNull;
			break;
	}
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
