/*-------------------------------------------------------------------------
 *
 * json_schema_container.c
 *	  Checks of an object or an array.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/json_schema_part.h"

#include "protocol/value.h"

static void
json_schema_mark(const SchemaSight *sight, int child)
{
	if (sight->evaluated != NULL)
		sight->evaluated[child] = true;
}

/* Returns the word for n of them, such as "element" or "elements". */
static const char *
json_schema_plural(int64 n, const char *one, const char *several)
{
	return n == 1 ? one : several;
}

/* ------------------------------------------------------------------ arrays */

typedef struct HashedItem
{
	uint32		hash;
	int			index;
} HashedItem;

static int
json_schema_compare_hashed(const void *a, const void *b)
{
	const HashedItem *x = a;
	const HashedItem *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->index - y->index;
}

/* Equal values have equal hashes, including 1 and 1.0. */
static uint32
json_schema_hash(JsonbValue *value)
{
	JsonbIterator *it;
	JsonbValue	part;
	JsonbIteratorToken token;
	uint32		hash = 0;

	if (value->type != jbvBinary)
	{
		JsonbHashScalarValue(value, &hash);
		return hash;
	}
	it = JsonbIteratorInit(value->val.binary.data);
	while ((token = JsonbIteratorNext(&it, &part, false)) != WJB_DONE)
	{
		hash = hash * 31 + token;
		if (token == WJB_KEY || token == WJB_VALUE || token == WJB_ELEM)
			JsonbHashScalarValue(&part, &hash);
	}
	return hash;
}

/*
 * Returns the index of an element that is equal to an earlier one, or -1.
 * *earlier is set to the index of the earlier one.
 */
static int
json_schema_find_repeated(const JsonbContainer *array, const SchemaSight *sight, int *earlier)
{
	int			n = JsonContainerSize(array);
	HashedItem *items = palloc(sizeof(HashedItem) * n);
	int			i;
	int			j;

	for (i = 0; i < n; i++)
	{
		JsonbValue	value;

		value_at(array, i, &value);
		json_schema_count(sight->run, 1 + (value.type == jbvBinary ? value.val.binary.len / 64 : 0));
		items[i] = (HashedItem) {json_schema_hash(&value), i};
	}
	qsort(items, n, sizeof(HashedItem), json_schema_compare_hashed);
	for (i = 1; i < n; i++)
		for (j = i - 1; j >= 0 && items[j].hash == items[i].hash && json_schema_goes_on(sight, true); j--)
		{
			JsonbValue	a;
			JsonbValue	b;

			value_at(array, items[j].index, &a);
			value_at(array, items[i].index, &b);
			json_schema_count(sight->run, 1 + (a.type == jbvBinary ? a.val.binary.len / 64 : 0));
			*earlier = items[j].index;
			if (json_schema_equal(&a, &b))
				return items[i].index;
		}
	return -1;
}

static bool
json_schema_check_unique(const SchemaNode *node, const JsonbContainer *array, const SchemaSight *sight)
{
	int			earlier;
	int			repeated = json_schema_find_repeated(array, sight, &earlier);

	return repeated < 0 ||
		json_schema_broken(sight, node, "uniqueItems",
						   "must not have equal elements, but element %d is equal to element %d.",
						   repeated, earlier);
}

/* Checks prefixItems and items. */
static bool
json_schema_check_items(const SchemaCheck *check, const JsonbContainer *array, const SchemaSight *sight)
{
	int			n = JsonContainerSize(array);
	int			last = check->rest != NULL ? n : Min(n, check->n);
	bool		valid = true;
	int			i;

	for (i = 0; i < last && json_schema_goes_on(sight, valid); i++)
	{
		JsonbValue	value;

		value_at(array, i, &value);
		json_schema_mark(sight, i);
		valid &= json_schema_run_child(i < check->n ? check->nodes[i] : check->rest, sight, &value,
									   SLICE_NONE, i);
	}
	return valid;
}

static bool
json_schema_check_contains(const SchemaNode *node, const SchemaCheck *check,
						   const JsonbContainer *array, const SchemaSight *sight)
{
	SchemaSight quiet = *sight;
	int64		found = 0;
	int			i;

	quiet.list = NULL;
	for (i = 0; i < JsonContainerSize(array) && json_schema_goes_on(sight, true); i++)
	{
		JsonbValue	value;

		value_at(array, i, &value);
		if (!json_schema_run_child(check->rest, &quiet, &value, SLICE_NONE, i))
			continue;
		found++;
		json_schema_mark(sight, i);
	}
	if (found < check->count)
		return json_schema_broken(sight, node, check->count == 1 ? "contains" : "minContains",
								  "must contain at least " INT64_FORMAT " %s that the schema of \"contains\" describes.",
								  check->count, json_schema_plural(check->count, "element", "elements"));
	return check->most < 0 || found <= check->most ||
		json_schema_broken(sight, node, "maxContains",
						   "must contain at most " INT64_FORMAT " %s that the schema of \"contains\" describes.",
						   check->most, json_schema_plural(check->most, "element", "elements"));
}

/* Checks what no other keyword has evaluated. */
static bool
json_schema_check_unevaluated(const SchemaCheck *check, const JsonbContainer *container,
							  const SchemaSight *sight)
{
	bool		is_object = JsonContainerIsObject(container);
	bool		valid = true;
	int			i;

	for (i = 0; i < JsonContainerSize(container) && json_schema_goes_on(sight, valid); i++)
	{
		JsonbValue	value;

		if (sight->evaluated[i])
			continue;
		sight->evaluated[i] = true;
		value_at(container, i, &value);
		valid &= json_schema_run_child(check->rest, sight, &value,
									   is_object ? value_key_at(container, i) : SLICE_NONE, i);
	}
	return valid;
}

bool
json_schema_check_array(const SchemaNode *node, const SchemaCheck *check, const SchemaSight *sight)
{
	const JsonbContainer *array = json_schema_array(sight->value);
	int			n = JsonContainerSize(array);

	switch (check->kind)
	{
		case CHECK_MAX_ITEMS:
			return n <= check->count ||
				json_schema_broken(sight, node, "maxItems", "must have at most " INT64_FORMAT " %s, not %d.",
								   check->count, json_schema_plural(check->count, "element", "elements"), n);
		case CHECK_MIN_ITEMS:
			return n >= check->count ||
				json_schema_broken(sight, node, "minItems", "must have at least " INT64_FORMAT " %s, not %d.",
								   check->count, json_schema_plural(check->count, "element", "elements"), n);
		case CHECK_UNIQUE_ITEMS:
			return json_schema_check_unique(node, array, sight);
		case CHECK_ITEMS:
			return json_schema_check_items(check, array, sight);
		case CHECK_CONTAINS:
			return json_schema_check_contains(node, check, array, sight);
		case CHECK_UNEVALUATED_ITEMS:
			return json_schema_check_unevaluated(check, array, sight);
		default:
			return true;
	}
}

/* ----------------------------------------------------------------- objects */

static bool
json_schema_has(const JsonbContainer *object, Slice name)
{
	JsonbValue	value;

	return getKeyJsonValueFromContainer(unconstify(JsonbContainer *, object), name.s, name.len,
										&value) != NULL;
}

/* Checks that the object has these names, which are in order. */
static bool
json_schema_require(const SchemaNode *node, const char *keyword, Slice because,
					SliceList names, const JsonbContainer *object, const SchemaSight *sight)
{
	bool		valid = true;
	int			i;

	for (i = 0; i < names.n && json_schema_goes_on(sight, valid); i++)
	{
		DocumentPlace place = {sight->place, names.items[i]};
		SchemaSight missing = *sight;

		if (json_schema_has(object, names.items[i]))
			continue;
		missing.place = &place;
		valid = slice_present(because) ?
			json_schema_broken(&missing, node, keyword, "is missing; it is required beside %s.",
							   sight->list != NULL ? place_quote(because) : "") :
			json_schema_broken(&missing, node, keyword, "is missing.");
	}
	return valid;
}

static bool
json_schema_check_dependent(const SchemaNode *node, const SchemaCheck *check,
							const JsonbContainer *object, const SchemaSight *sight)
{
	bool		valid = true;
	int			i;

	for (i = 0; i < check->n && json_schema_goes_on(sight, valid); i++)
	{
		if (!json_schema_has(object, check->names[i]))
			continue;
		valid &= check->kind == CHECK_DEPENDENT_SCHEMAS ? json_schema_run(check->nodes[i], sight) :
			json_schema_require(node, "dependentRequired", check->names[i], check->lists[i],
								object, sight);
	}
	return valid;
}

static bool
json_schema_check_names(const SchemaCheck *check, const JsonbContainer *object, const SchemaSight *sight)
{
	bool		valid = true;
	int			i;

	for (i = 0; i < JsonContainerSize(object) && json_schema_goes_on(sight, valid); i++)
	{
		Slice		key = value_key_at(object, i);
		JsonbValue	name = {.type = jbvString};

		name.val.string.val = unconstify(char *, key.s);
		name.val.string.len = key.len;
		valid &= json_schema_run_child(check->rest, sight, &name, key, -1);
	}
	return valid;
}

/*
 * Checks the schemas of patternProperties.  *matched is set to true if there
 * is one that applies.
 */
static bool
json_schema_check_patterns(const SchemaCheck *check, Slice key, const JsonbValue *value,
						   const SchemaSight *sight, bool *matched)
{
	bool		valid = true;
	int			i;

	for (i = 0; i < check->npatterns && json_schema_goes_on(sight, true); i++)
	{
		if (!json_schema_matches(sight, check->patterns[i], key))
			continue;
		*matched = true;
		valid &= json_schema_run_child(check->pattern_nodes[i], sight, value, key, -1);
	}
	return valid;
}

/* which properties are to be checked */
typedef enum MemberChoice
{
	MEMBERS_ALL,
	MEMBERS_PLAIN,				/* those that the schema names, if their schema
								 * is plain */
	MEMBERS_OTHER
} MemberChoice;

/*
 * Checks properties, patternProperties and additionalProperties.  The keys of
 * the object and the names of the schema are both in the order of jsonb, so
 * one pass over the two finds the properties.
 */
static bool
json_schema_check_members(const SchemaCheck *check, const JsonbContainer *object,
						  const SchemaSight *sight, MemberChoice choice)
{
	bool		valid = true;
	int			name = 0;
	int			i;

	json_schema_count(sight->run, JsonContainerSize(object) / 4);
	for (i = 0; i < JsonContainerSize(object) && json_schema_goes_on(sight, valid); i++)
	{
		Slice		key = value_key_at(object, i);
		bool		matched;
		JsonbValue	value;

		while (name < check->n && slice_compare_keys(key, check->names[name]) > 0)
			name++;
		matched = name < check->n && slice_equal(key, check->names[name]);
		value_at(object, i, &value);
		if (matched && (choice == MEMBERS_ALL || check->nodes[name]->plain == (choice == MEMBERS_PLAIN)))
			valid &= json_schema_run_child(check->nodes[name], sight, &value, key, -1);
		if (choice == MEMBERS_PLAIN)
			continue;
		if (check->npatterns > 0)
			valid &= json_schema_check_patterns(check, key, &value, sight, &matched);
		if (!matched && check->rest != NULL)
			valid &= json_schema_run_child(check->rest, sight, &value, key, -1);
		if (matched || check->rest != NULL)
			json_schema_mark(sight, i);
	}
	return valid;
}

/*
 * Only the verdict counts without a list, so the plain properties come first:
 * one of them tells whether the object is of that kind, and what is in it need
 * not be looked at if it is not.
 */
static bool
json_schema_check_properties(const SchemaCheck *check, const JsonbContainer *object,
							 const SchemaSight *sight)
{
	if (!check->mixed || sight->list != NULL)
		return json_schema_check_members(check, object, sight, MEMBERS_ALL);
	return json_schema_check_members(check, object, sight, MEMBERS_PLAIN) &&
		json_schema_check_members(check, object, sight, MEMBERS_OTHER);
}

bool
json_schema_check_object(const SchemaNode *node, const SchemaCheck *check, const SchemaSight *sight)
{
	const JsonbContainer *object = json_schema_object(sight->value);
	int			n = JsonContainerSize(object);

	switch (check->kind)
	{
		case CHECK_MAX_PROPERTIES:
			return n <= check->count ||
				json_schema_broken(sight, node, "maxProperties", "must have at most " INT64_FORMAT " %s, not %d.",
								   check->count, json_schema_plural(check->count, "property", "properties"), n);
		case CHECK_MIN_PROPERTIES:
			return n >= check->count ||
				json_schema_broken(sight, node, "minProperties", "must have at least " INT64_FORMAT " %s, not %d.",
								   check->count, json_schema_plural(check->count, "property", "properties"), n);
		case CHECK_REQUIRED:
			return json_schema_require(node, "required", SLICE_NONE,
									   (SliceList) {check->n, check->names}, object, sight);
		case CHECK_DEPENDENT_REQUIRED:
		case CHECK_DEPENDENT_SCHEMAS:
			return json_schema_check_dependent(node, check, object, sight);
		case CHECK_PROPERTY_NAMES:
			return json_schema_check_names(check, object, sight);
		case CHECK_PROPERTIES:
			return json_schema_check_properties(check, object, sight);
		case CHECK_UNEVALUATED_PROPERTIES:
			return json_schema_check_unevaluated(check, object, sight);
		default:
			return true;
	}
}
