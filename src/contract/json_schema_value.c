/*-------------------------------------------------------------------------
 *
 * json_schema_value.c
 *	  Reading the keywords that hold values rather than schemas into checks.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/json_schema_keyword_part.h"

#include "base/document.h"
#include "base/number.h"
#include "protocol/value.h"
#include "settings.h"

static int
json_schema_compare_slices(const void *a, const void *b)
{
	return slice_compare_keys(*(const Slice *) a, *(const Slice *) b);
}

bool
json_schema_names(const JsonbValue *value, SliceList *names)
{
	JsonbContainer *array;
	int			i;

	if (value->type != jbvBinary || !JsonContainerIsArray(value->val.binary.data))
		return false;
	array = value->val.binary.data;
	names->n = JsonContainerSize(array);
	names->items = palloc(sizeof(Slice) * names->n);
	for (i = 0; i < names->n; i++)
	{
		JsonbValue	element;

		value_at(array, i, &element);
		names->items[i] = document_text(&element);
		if (!slice_present(names->items[i]))
			return false;
	}
	qsort(names->items, names->n, sizeof(Slice), json_schema_compare_slices);
	return true;
}

/* ------------------------------------------------------------- kinds of value */

static const struct
{
	Slice		name;
	uint32		bits;
}			schema_types[] = {
	{{"null", 4}, SCHEMA_NULL},
	{{"boolean", 7}, SCHEMA_BOOLEAN},
	{{"object", 6}, SCHEMA_OBJECT},
	{{"array", 5}, SCHEMA_ARRAY},
	{{"string", 6}, SCHEMA_STRING},
	{{"integer", 7}, SCHEMA_INTEGER},
	{{"number", 6}, SCHEMA_NUMBER},
};

static uint32
json_schema_type_named(const JsonbValue *value)
{
	int			i;

	for (i = 0; i < lengthof(schema_types) && value->type == jbvString; i++)
		if (slice_equal(document_text(value), schema_types[i].name))
			return schema_types[i].bits;
	return 0;
}

void
json_schema_read_type(const KeywordSight *at)
{
	const JsonbValue *value = at->value;
	bool		is_array = value->type == jbvBinary && JsonContainerIsArray(value->val.binary.data);
	int			n = is_array ? JsonContainerSize(value->val.binary.data) : 1;
	uint32		types = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		JsonbValue	element = *value;
		uint32		bits;

		if (is_array)
			value_at(value->val.binary.data, i, &element);
		bits = json_schema_type_named(&element);
		if (bits == 0)
		{
			types = 0;
			break;
		}
		types |= bits;
	}
	if (types == 0)
		json_schema_refuse(at, "WRONG_VALUE",
						   "one or several of null, boolean, object, array, string, number and integer");
	else
		json_schema_check(at)->types = types;
}

void
json_schema_read_enum(const KeywordSight *at)
{
	JsonbContainer *array = json_schema_expect(at, false, "an array");
	SchemaCheck *check;
	int			i;

	if (array == NULL)
		return;
	check = json_schema_check(at);
	check->n = JsonContainerSize(array);
	check->values = palloc(sizeof(JsonbValue) * check->n);
	for (i = 0; i < check->n; i++)
		value_at(array, i, &check->values[i]);
}

void
json_schema_read_const(const KeywordSight *at)
{
	SchemaCheck *check = json_schema_check(at);

	check->n = 1;
	check->values = palloc(sizeof(JsonbValue));
	check->values[0] = *at->value;
}

void
json_schema_read_number(const KeywordSight *at)
{
	bool		positive = at->keyword->kind == CHECK_MULTIPLE_OF;

	if (at->value->type != jbvNumeric)
		json_schema_refuse(at, "WRONG_TYPE", "a number");
	else if (positive && (number_is_negative(at->value->val.numeric) ||
						  number_compare(at->value->val.numeric, int64_to_numeric(0)) == 0))
		json_schema_refuse(at, "NUMBER_OUT_OF_RANGE", "more than zero");
	else
		json_schema_check(at)->number = at->value->val.numeric;
}

/* Returns a number that is a count, or -1 after a fault. */
static int64
json_schema_count_of(const KeywordSight *at)
{
	int64		count;

	if (at->value->type == jbvNumeric && number_to_int64(at->value->val.numeric, &count) &&
		count >= 0)
		return count;
	json_schema_refuse(at, at->value->type == jbvNumeric ? "NUMBER_OUT_OF_RANGE" : "WRONG_TYPE",
					   "a whole number that is not negative");
	return -1;
}

void
json_schema_read_count(const KeywordSight *at)
{
	int64		count = json_schema_count_of(at);

	if (count >= 0)
		json_schema_check(at)->count = count;
}

void
json_schema_read_max_contains(const KeywordSight *at)
{
	int64		count = json_schema_count_of(at);

	if (count >= 0)
		json_schema_check(at)->most = count;
}

void
json_schema_read_unique(const KeywordSight *at)
{
	if (at->value->type != jbvBool)
		json_schema_refuse(at, "WRONG_TYPE", "true or false");
	else if (at->value->val.boolean)
		(void) json_schema_check(at);
}

Pattern *
json_schema_read_regex(const KeywordSight *at, Slice source)
{
	const char *fault;
	Pattern    *pattern;

	if (json_schema_exceeds(at->c, at->node, at->keyword->name, source.len, clutch_max_pattern_bytes,
							"clutch.max_pattern_bytes") ||
		json_schema_exceeds(at->c, at->node, at->keyword->name, ++at->c->npatterns,
							clutch_max_schema_patterns, "clutch.max_schema_patterns"))
		return NULL;
	pattern = pattern_compile(source, &fault);
	if (pattern == NULL)
		json_schema_fault(at->c, at->node, at->keyword->name, "WRONG_FORMAT", "The pattern %s %s",
						  place_quote(source), fault);
	return pattern;
}

void
json_schema_read_pattern(const KeywordSight *at)
{
	Slice		source = document_text(at->value);
	SchemaCheck *check;

	if (!slice_present(source))
	{
		json_schema_refuse(at, "WRONG_TYPE", "a string");
		return;
	}
	check = json_schema_check(at);
	check->npatterns = 1;
	check->patterns = palloc(sizeof(Pattern *));
	check->patterns[0] = json_schema_read_regex(at, source);
}

void
json_schema_read_format(const KeywordSight *at)
{
	SchemaCheck *check;

	if (at->value->type != jbvString)
	{
		json_schema_refuse(at, "WRONG_TYPE", "a string");
		return;
	}
	check = json_schema_check(at);
	check->word = document_text(at->value);
	check->format = format_of(check->word);
}

void
json_schema_read_required(const KeywordSight *at)
{
	SliceList	names;

	if (!json_schema_names(at->value, &names))
	{
		json_schema_refuse(at, "WRONG_TYPE", "an array of strings");
		return;
	}
	json_schema_check(at)->n = names.n;
	json_schema_check(at)->names = names.items;
}

void
json_schema_read_dependent_required(const KeywordSight *at)
{
	JsonbContainer *object = json_schema_expect(at, true, "an object");
	SchemaCheck *check;
	int			i;

	if (object == NULL)
		return;
	check = json_schema_check(at);
	check->n = JsonContainerSize(object);
	check->names = palloc(sizeof(Slice) * check->n);
	check->lists = palloc(sizeof(SliceList) * check->n);
	for (i = 0; i < check->n; i++)
	{
		JsonbValue	value;

		value_at(object, i, &value);
		check->names[i] = value_key_at(object, i);
		if (!json_schema_names(&value, &check->lists[i]))
		{
			json_schema_refuse(at, "WRONG_TYPE", "an object whose values are arrays of strings");
			return;
		}
	}
}
