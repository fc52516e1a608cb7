/*-------------------------------------------------------------------------
 *
 * json_schema_scalar.c
 *	  Checks of a single value: its type, and what it must equal; checks of
 *	  numbers and of strings.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/json_schema_part.h"

#include "base/document.h"
#include "base/number.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "settings.h"
#include "utils/builtins.h"

/* ------------------------------------------------------- types and equality */

static const struct
{
	uint32		bits;
	const char *name;
}			schema_type_names[] = {
	{SCHEMA_NULL, "null"},
	{SCHEMA_BOOLEAN, "a boolean"},
	{SCHEMA_OBJECT, "an object"},
	{SCHEMA_ARRAY, "an array"},
	{SCHEMA_STRING, "a string"},
	{SCHEMA_NUMBER, "a number"},
	{SCHEMA_INTEGER, "an integer"},
	{SCHEMA_FRACTION, "a number that is not an integer"},
};

/* Returns "a string or null". */
static char *
json_schema_name_types(uint32 types)
{
	StringInfoData buf;
	int			i;

	initStringInfo(&buf);
	for (i = 0; i < lengthof(schema_type_names); i++)
		if ((types & schema_type_names[i].bits) == schema_type_names[i].bits)
		{
			appendStringInfo(&buf, "%s%s", buf.len > 0 ? " or " : "", schema_type_names[i].name);
			types &= ~schema_type_names[i].bits;
		}
	return buf.data;
}

static bool
json_schema_check_type(const SchemaNode *node, const SchemaCheck *check, const SchemaSight *sight)
{
	uint32		type;

	/* finding out what kind of number it is costs more */
	if (sight->value->type == jbvNumeric && (check->types & SCHEMA_NUMBER) == SCHEMA_NUMBER)
		return true;
	type = json_schema_type_of(sight->value);
	if ((check->types & type) != 0)
		return true;
	return sight->list != NULL &&
		json_schema_broken(sight, node, "type", "must be %s, not %s.",
						   json_schema_name_types(check->types), json_schema_name_types(type));
}

/*
 * Returns the number of bytes of a value that a comparison may have to look
 * at.
 */
static int64
json_schema_width(const JsonbValue *value)
{
	return value->type == jbvBinary ? value->val.binary.len :
		value->type == jbvString ? value->val.string.len : 0;
}

/*
 * Returns a clause with the allowed words, if they are strings, or else a
 * general one.
 */
static char *
json_schema_name_values(const SchemaCheck *check)
{
	StringInfoData buf;
	int			i;

	initStringInfo(&buf);
	for (i = 0; i < check->n && i < 10; i++)
	{
		if (check->values[i].type != jbvString)
			return "must be one of the values of \"enum\"";
		appendStringInfo(&buf, "%s%s", i == 0 ? "" : ", ",
						 place_quote(document_text(&check->values[i])));
	}
	return psprintf("must be one of %s%s", buf.data, check->n > 10 ? ", ..." : "");
}

static bool
json_schema_check_values(const SchemaNode *node, const SchemaCheck *check, const SchemaSight *sight)
{
	int			i;

	for (i = 0; i < check->n && json_schema_goes_on(sight, true); i++)
	{
		json_schema_count(sight->run, 1 + Min(json_schema_width(&check->values[i]),
											  json_schema_width(sight->value)) / 64);
		if (json_schema_equal(&check->values[i], sight->value))
			return true;
	}
	if (sight->list == NULL)
		return false;
	if (check->kind == CHECK_CONST)
		return json_schema_broken(sight, node, "const", "must be %s.",
								  check->values[0].type == jbvString ?
								  place_quote(document_text(&check->values[0])) :
								  "equal to the value of \"const\"");
	return json_schema_broken(sight, node, "enum", "%s.", json_schema_name_values(check));
}

/* ----------------------------------------------------------------- numbers */

static const char *
json_schema_print(Numeric number)
{
	return DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(number)));
}

static bool
json_schema_check_number(const SchemaNode *node, const SchemaCheck *check, const SchemaSight *sight)
{
	Numeric		number = sight->value->val.numeric;
	int			order = check->kind == CHECK_MULTIPLE_OF ? 0 : number_compare(number, check->number);
	const char *keyword;
	const char *expected;

	switch (check->kind)
	{
		case CHECK_MULTIPLE_OF:
			if (number_is_multiple(number, check->number))
				return true;
			keyword = "multipleOf";
			expected = "must be a multiple of %s.";
			break;
		case CHECK_MAXIMUM:
			if (order <= 0)
				return true;
			keyword = "maximum";
			expected = "must be at most %s.";
			break;
		case CHECK_EXCLUSIVE_MAXIMUM:
			if (order < 0)
				return true;
			keyword = "exclusiveMaximum";
			expected = "must be less than %s.";
			break;
		case CHECK_MINIMUM:
			if (order >= 0)
				return true;
			keyword = "minimum";
			expected = "must be at least %s.";
			break;
		default:
			if (order > 0)
				return true;
			keyword = "exclusiveMinimum";
			expected = "must be more than %s.";
			break;
	}
	return sight->list != NULL &&
		json_schema_broken(sight, node, keyword, expected, json_schema_print(check->number));
}

/* ----------------------------------------------------------------- strings */

static bool
json_schema_asserts(const SchemaNode *node)
{
	return clutch_assert_formats || (node->resource->vocabularies & VOCABULARY_FORMAT) != 0;
}

static bool
json_schema_check_string(const SchemaNode *node, const SchemaCheck *check, const SchemaSight *sight)
{
	Slice		text = document_text(sight->value);

	json_schema_count(sight->run, text.len / 64);
	switch (check->kind)
	{
		case CHECK_MAX_LENGTH:
			return text.len <= check->count ||
				pg_mbstrlen_with_len(text.s, text.len) <= check->count ||
				json_schema_broken(sight, node, "maxLength", "must have at most " INT64_FORMAT " characters.",
								   check->count);
		case CHECK_MIN_LENGTH:
			return pg_mbstrlen_with_len(text.s, text.len) >= check->count ||
				json_schema_broken(sight, node, "minLength", "must have at least " INT64_FORMAT " characters.",
								   check->count);
		case CHECK_PATTERN:
			return json_schema_matches(sight, check->patterns[0], text) ||
				json_schema_broken(sight, node, "pattern", "must match the pattern %s.",
								   place_quote(pattern_source(check->patterns[0])));
		default:
			return !json_schema_asserts(node) || format_valid(check->format, text) ||
				json_schema_broken(sight, node, "format", "must have the format %s.",
								   place_quote(check->word));
	}
}

bool
json_schema_check_scalar(const SchemaNode *node, const SchemaCheck *check, const SchemaSight *sight)
{
	switch (check->kind)
	{
		case CHECK_TYPE:
			return json_schema_check_type(node, check, sight);
		case CHECK_ENUM:
		case CHECK_CONST:
			return json_schema_check_values(node, check, sight);
		case CHECK_MULTIPLE_OF:
		case CHECK_MAXIMUM:
		case CHECK_EXCLUSIVE_MAXIMUM:
		case CHECK_MINIMUM:
		case CHECK_EXCLUSIVE_MINIMUM:
			return sight->value->type != jbvNumeric || json_schema_check_number(node, check, sight);
		default:
			return sight->value->type != jbvString || json_schema_check_string(node, check, sight);
	}
}
