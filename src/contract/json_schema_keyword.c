/*-------------------------------------------------------------------------
 *
 * json_schema_keyword.c
 *	  The keywords of JSON Schema, read into checks.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/json_schema_keyword_part.h"

#include "base/document.h"
#include "protocol/value.h"
#include "settings.h"

/* ---------------------------------------------------------------- small parts */

SchemaCheck *
json_schema_check(const KeywordSight *at)
{
	SchemaNode *node = at->node;
	SchemaCheck *check = json_schema_check_of(node, at->keyword->kind);

	if (check != NULL)
		return check;
	check = &node->checks[node->nchecks++];
	check->kind = at->keyword->kind;
	check->most = -1;
	check->count = check->kind == CHECK_CONTAINS ? 1 : 0;
	return check;
}

void
json_schema_refuse(const KeywordSight *at, const char *code, const char *expected)
{
	json_schema_fault(at->c, at->node, at->keyword->name, code, "\"%s\" must be %s.",
					  at->keyword->name, expected);
}

JsonbContainer *
json_schema_expect(const KeywordSight *at, bool is_object, const char *expected)
{
	const JsonbValue *value = at->value;

	if (value->type == jbvBinary &&
		(is_object ? JsonContainerIsObject(value->val.binary.data) :
		 JsonContainerIsArray(value->val.binary.data)))
		return value->val.binary.data;
	json_schema_refuse(at, "WRONG_TYPE", expected);
	return NULL;
}

/* ------------------------------------------------------------ schemas in schemas */

void
json_schema_read_rest(const KeywordSight *at)
{
	json_schema_check(at)->rest = json_schema_read(at->c, at->node, at->value, at->keyword->name,
												   SLICE_NONE, -1);
}

static void
json_schema_read_part(const KeywordSight *at)
{
	SchemaCheck *check = json_schema_check(at);

	check->n = 3;
	if (check->nodes == NULL)
		check->nodes = palloc0(sizeof(SchemaNode *) * 3);
	check->nodes[at->keyword->part] = json_schema_read(at->c, at->node, at->value,
													   at->keyword->name, SLICE_NONE, -1);
}

void
json_schema_read_array(const KeywordSight *at)
{
	JsonbContainer *array = json_schema_expect(at, false, "an array of schemas");
	SchemaCheck *check;
	int			i;

	if (array == NULL)
		return;
	if (JsonContainerSize(array) == 0)
	{
		json_schema_refuse(at, "EMPTY", "an array with at least one schema");
		return;
	}
	check = json_schema_check(at);
	check->n = JsonContainerSize(array);
	check->nodes = palloc0(sizeof(SchemaNode *) * check->n);
	for (i = 0; i < check->n; i++)
	{
		JsonbValue	value;

		value_at(array, i, &value);
		check->nodes[i] = json_schema_read(at->c, at->node, &value, at->keyword->name, SLICE_NONE, i);
	}
}

/*
 * Reads an object of schemas.  The names and the schemas are stored in the two
 * arrays.  Returns their number.
 */
static int
json_schema_read_members(const KeywordSight *at, Slice **names, SchemaNode ***nodes)
{
	JsonbContainer *object = json_schema_expect(at, true, "an object of schemas");
	int			n = object != NULL ? JsonContainerSize(object) : 0;
	int			i;

	*names = palloc(sizeof(Slice) * n);
	*nodes = palloc0(sizeof(SchemaNode *) * n);
	for (i = 0; i < n; i++)
	{
		JsonbValue	value;

		value_at(object, i, &value);
		(*names)[i] = value_key_at(object, i);
		(*nodes)[i] = json_schema_read(at->c, at->node, &value, at->keyword->name, (*names)[i], -1);
	}
	return n;
}

static void
json_schema_read_object_of(const KeywordSight *at)
{
	SchemaCheck *check = json_schema_check(at);

	check->n = json_schema_read_members(at, &check->names, &check->nodes);
}

static void
json_schema_read_patterns(const KeywordSight *at)
{
	SchemaCheck *check = json_schema_check(at);
	Slice	   *names;
	int			i;

	check->npatterns = json_schema_read_members(at, &names, &check->pattern_nodes);
	check->patterns = palloc0(sizeof(Pattern *) * check->npatterns);
	for (i = 0; i < check->npatterns; i++)
		check->patterns[i] = json_schema_read_regex(at, names[i]);
}

/* Reads $defs, which is only referred to. */
static void
json_schema_read_definitions(const KeywordSight *at)
{
	Slice	   *names;
	SchemaNode **nodes;

	(void) json_schema_read_members(at, &names, &nodes);
}

/* --------------------------------------------------------- names and references */

static void
json_schema_read_reference(const KeywordSight *at)
{
	SchemaPending *pending;

	if (at->value->type != jbvString)
	{
		json_schema_refuse(at, "WRONG_TYPE", "a string");
		return;
	}
	json_schema_check(at)->word = document_text(at->value);
	pending = palloc(sizeof(SchemaPending));
	pending->node = at->node;
	pending->kind = at->keyword->kind;
	at->c->pending = lappend(at->c->pending, pending);
}

void
json_schema_add_anchor(const KeywordSight *at, Slice name, bool dynamic)
{
	SchemaAnchor *anchor;
	SchemaResource *resource = at->node->resource;
	ListCell   *cell;

	foreach(cell, resource->anchors)
	{
		SchemaAnchor *other = lfirst(cell);

		if (slice_equal(other->name, name) && other->node != at->node)
			json_schema_refuse(at, "DUPLICATE_VALUE", "unique within its schema resource");
	}
	anchor = palloc(sizeof(SchemaAnchor));
	anchor->name = name;
	anchor->dynamic = dynamic;
	anchor->node = at->node;
	resource->anchors = lappend(resource->anchors, anchor);
}

static void
json_schema_read_anchor(const KeywordSight *at)
{
	Slice		name = document_text(at->value);

	if (name.len == 0 || memchr(name.s, '#', name.len) || memchr(name.s, '/', name.len))
		json_schema_refuse(at, "WRONG_FORMAT",
						   "a string of letters, digits, \"-\", \"_\" and \".\"");
	else
		json_schema_add_anchor(at, name, at->keyword->part == 1);
}

/* -------------------------------------------------------------- the keywords */

#define CORE		VOCABULARY_CORE
#define APPLICATOR	VOCABULARY_APPLICATOR
#define VALIDATION	VOCABULARY_VALIDATION
#define UNEVALUATED	VOCABULARY_UNEVALUATED
#define DRAFT_7		VOCABULARY_DRAFT_7

/* in the table: a keyword that draft-07 does not have, or reads differently */
#define NEWER		(1 << 30)

static const SchemaKeyword schema_keywords[] = {
	{"$ref", CORE, CHECK_REF, json_schema_read_reference},
	{"$dynamicRef", CORE | NEWER, CHECK_DYNAMIC_REF, json_schema_read_reference},
	{"$anchor", CORE | NEWER, 0, json_schema_read_anchor, 0},
	{"$dynamicAnchor", CORE | NEWER, 0, json_schema_read_anchor, 1},
	{"$defs", CORE, 0, json_schema_read_definitions},
	{"type", VALIDATION, CHECK_TYPE, json_schema_read_type},
	{"enum", VALIDATION, CHECK_ENUM, json_schema_read_enum},
	{"const", VALIDATION, CHECK_CONST, json_schema_read_const},
	{"multipleOf", VALIDATION, CHECK_MULTIPLE_OF, json_schema_read_number},
	{"maximum", VALIDATION, CHECK_MAXIMUM, json_schema_read_number},
	{"exclusiveMaximum", VALIDATION, CHECK_EXCLUSIVE_MAXIMUM, json_schema_read_number},
	{"minimum", VALIDATION, CHECK_MINIMUM, json_schema_read_number},
	{"exclusiveMinimum", VALIDATION, CHECK_EXCLUSIVE_MINIMUM, json_schema_read_number},
	{"maxLength", VALIDATION, CHECK_MAX_LENGTH, json_schema_read_count},
	{"minLength", VALIDATION, CHECK_MIN_LENGTH, json_schema_read_count},
	{"pattern", VALIDATION, CHECK_PATTERN, json_schema_read_pattern},
	{"format", CORE, CHECK_FORMAT, json_schema_read_format},
	{"maxItems", VALIDATION, CHECK_MAX_ITEMS, json_schema_read_count},
	{"minItems", VALIDATION, CHECK_MIN_ITEMS, json_schema_read_count},
	{"uniqueItems", VALIDATION, CHECK_UNIQUE_ITEMS, json_schema_read_unique},
	{"prefixItems", APPLICATOR | NEWER, CHECK_ITEMS, json_schema_read_array},
	{"items", APPLICATOR | NEWER, CHECK_ITEMS, json_schema_read_rest},
	{"contains", APPLICATOR, CHECK_CONTAINS, json_schema_read_rest},
	{"minContains", VALIDATION | NEWER, CHECK_CONTAINS, json_schema_read_count},
	{"maxContains", VALIDATION | NEWER, CHECK_CONTAINS, json_schema_read_max_contains},
	{"maxProperties", VALIDATION, CHECK_MAX_PROPERTIES, json_schema_read_count},
	{"minProperties", VALIDATION, CHECK_MIN_PROPERTIES, json_schema_read_count},
	{"required", VALIDATION, CHECK_REQUIRED, json_schema_read_required},
	{"dependentRequired", VALIDATION | NEWER, CHECK_DEPENDENT_REQUIRED, json_schema_read_dependent_required},
	{"propertyNames", APPLICATOR, CHECK_PROPERTY_NAMES, json_schema_read_rest},
	{"properties", APPLICATOR, CHECK_PROPERTIES, json_schema_read_object_of},
	{"patternProperties", APPLICATOR, CHECK_PROPERTIES, json_schema_read_patterns},
	{"additionalProperties", APPLICATOR, CHECK_PROPERTIES, json_schema_read_rest},
	{"allOf", APPLICATOR, CHECK_ALL_OF, json_schema_read_array},
	{"anyOf", APPLICATOR, CHECK_ANY_OF, json_schema_read_array},
	{"oneOf", APPLICATOR, CHECK_ONE_OF, json_schema_read_array},
	{"not", APPLICATOR, CHECK_NOT, json_schema_read_rest},
	{"if", APPLICATOR, CHECK_IF, json_schema_read_part, 0},
	{"then", APPLICATOR, CHECK_IF, json_schema_read_part, 1},
	{"else", APPLICATOR, CHECK_IF, json_schema_read_part, 2},
	{"dependentSchemas", APPLICATOR | NEWER, CHECK_DEPENDENT_SCHEMAS, json_schema_read_object_of},
	{"unevaluatedItems", UNEVALUATED, CHECK_UNEVALUATED_ITEMS, json_schema_read_rest},
	{"unevaluatedProperties", UNEVALUATED, CHECK_UNEVALUATED_PROPERTIES, json_schema_read_rest},
	{"$id", DRAFT_7, 0, json_schema_read_named_by_id},
	{"definitions", DRAFT_7, 0, json_schema_read_definitions},
	{"items", DRAFT_7, CHECK_ITEMS, json_schema_read_items},
	{"additionalItems", DRAFT_7, CHECK_ITEMS, json_schema_read_additional_items},
	{"dependencies", DRAFT_7, CHECK_DEPENDENT_SCHEMAS, json_schema_read_dependencies},
};

/*
 * Returns NULL if the keyword is not known, or is not one of the schema's
 * vocabularies.
 */
static const SchemaKeyword *
json_schema_keyword(const SchemaNode *node, Slice name)
{
	uint32		vocabularies = node->resource->vocabularies;
	int			i;

	for (i = 0; i < lengthof(schema_keywords); i++)
	{
		const SchemaKeyword *keyword = &schema_keywords[i];

		if ((vocabularies & keyword->vocabulary) != 0 && slice_is(name, keyword->name) &&
			!((vocabularies & DRAFT_7) && (keyword->vocabulary & NEWER)))
			return keyword;
	}
	return NULL;
}

/*
 * Does the check say nothing?  This is true of minContains without contains,
 * and of then without if.
 */
static bool
json_schema_says_nothing(const SchemaCheck *check)
{
	return (check->kind == CHECK_CONTAINS && check->rest == NULL) ||
		(check->kind == CHECK_IF && check->nodes[0] == NULL);
}

static int
json_schema_compare_checks(const void *a, const void *b)
{
	return (int) ((const SchemaCheck *) a)->kind - (int) ((const SchemaCheck *) b)->kind;
}

static bool
json_schema_is_plain(const SchemaNode *node)
{
	return node->nchecks > 0 && node->checks[node->nchecks - 1].kind <= CHECK_CONST;
}

/* Does it look into an object or an array, or refer to other schemas? */
static bool
json_schema_is_deep(const SchemaNode *node)
{
	return node->nchecks > 0 && node->checks[node->nchecks - 1].kind >= CHECK_ITEMS;
}

/* Are some of the properties plain, while others, or those without a name, go deeper? */
static bool
json_schema_is_mixed(const SchemaCheck *check)
{
	bool		plain = false;
	bool		deep = check->rest != NULL && json_schema_is_deep(check->rest);
	int			i;

	for (i = 0; i < check->n; i++)
	{
		plain |= check->nodes[i]->plain;
		deep |= json_schema_is_deep(check->nodes[i]);
	}
	for (i = 0; i < check->npatterns; i++)
		deep |= json_schema_is_deep(check->pattern_nodes[i]);
	return plain && deep;
}

static void
json_schema_finish_checks(SchemaNode *node)
{
	SchemaCheck *properties;
	int			n = 0;
	int			i;

	for (i = 0; i < node->nchecks; i++)
		if (!json_schema_says_nothing(&node->checks[i]))
			node->checks[n++] = node->checks[i];
	node->nchecks = n;
	if (n > 1)
		qsort(node->checks, n, sizeof(SchemaCheck), json_schema_compare_checks);
	node->plain = json_schema_is_plain(node);
	properties = json_schema_check_of(node, CHECK_PROPERTIES);
	if (properties != NULL)
		properties->mixed = json_schema_is_mixed(properties);
	node->collects = json_schema_check_of(node, CHECK_UNEVALUATED_ITEMS) != NULL ||
		json_schema_check_of(node, CHECK_UNEVALUATED_PROPERTIES) != NULL;
}

void
json_schema_read_keywords(SchemaCompiler *c, SchemaNode *node, JsonbContainer *object)
{
	bool		only_refers = json_schema_only_refers(node, object);
	int			n = JsonContainerSize(object);
	int			i;

	c->keywords += n;
	if (json_schema_exceeds(c, node, NULL, c->keywords, clutch_max_schema_keywords,
							"clutch.max_schema_keywords"))
		return;
	node->checks = palloc0(sizeof(SchemaCheck) * n);
	for (i = 0; i < n && !c->stopped; i++)
	{
		JsonbValue	value;
		KeywordSight at = {c, node, json_schema_keyword(node, value_key_at(object, i)), &value};

		value_at(object, i, &value);
		if (at.keyword != NULL && (!only_refers || at.keyword->kind == CHECK_REF))
			at.keyword->read(&at);
	}
	json_schema_finish_checks(node);
}
