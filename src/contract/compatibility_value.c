/*-------------------------------------------------------------------------
 *
 * compatibility_value.c
 *	  Does a check of a single value follow from what is known about it?
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/compatibility_part.h"

#include "base/number.h"
#include "utils/builtins.h"

/* Returns the types that a check is about. */
static uint32
compatibility_concerns(SchemaCheckKind kind)
{
	if (kind <= CHECK_CONST)
		return SCHEMA_ANY;
	if (kind <= CHECK_EXCLUSIVE_MINIMUM)
		return SCHEMA_NUMBER;
	return kind <= CHECK_FORMAT ? SCHEMA_STRING : SCHEMA_ARRAY;
}

int64
compatibility_most(const Facts *facts, SchemaCheckKind kind)
{
	int64		most = -1;
	ListCell   *cell;

	foreach(cell, facts->nodes)
	{
		const SchemaCheck *check = json_schema_check_of(lfirst(cell), kind);

		if (check != NULL && (most < 0 || check->count < most))
			most = check->count;
	}
	return most;
}

static int64
compatibility_least(const Facts *facts, SchemaCheckKind kind)
{
	int64		least = 0;
	ListCell   *cell;

	foreach(cell, facts->nodes)
	{
		const SchemaCheck *check = json_schema_check_of(lfirst(cell), kind);

		if (check != NULL && check->count > least)
			least = check->count;
	}
	return least;
}

/*
 * Does one of the facts bound the number at least as narrowly?  With
 * exclusive, the bound itself must be excluded, too.
 */
static bool
compatibility_bounds(const Facts *facts, SchemaCheckKind kind, Numeric bound, bool upper,
					 bool exclusive)
{
	ListCell   *cell;

	foreach(cell, facts->nodes)
	{
		const SchemaCheck *check = json_schema_check_of(lfirst(cell), kind);
		int			order;

		if (check == NULL)
			continue;
		order = number_compare(check->number, bound) * (upper ? 1 : -1);
		if (order < 0 || (order == 0 && !exclusive))
			return true;
	}
	return false;
}

static bool
compatibility_proves_bound(const Facts *facts, const SchemaCheck *check)
{
	bool		upper = check->kind == CHECK_MAXIMUM || check->kind == CHECK_EXCLUSIVE_MAXIMUM;
	bool		exclusive = check->kind == CHECK_EXCLUSIVE_MAXIMUM ||
		check->kind == CHECK_EXCLUSIVE_MINIMUM;

	return compatibility_bounds(facts, upper ? CHECK_MAXIMUM : CHECK_MINIMUM, check->number, upper,
								exclusive) ||
		compatibility_bounds(facts, upper ? CHECK_EXCLUSIVE_MAXIMUM : CHECK_EXCLUSIVE_MINIMUM,
							 check->number, upper, false);
}

static bool
compatibility_proves_multiple(const Facts *facts, const SchemaCheck *check)
{
	ListCell   *cell;

	if ((facts->types & SCHEMA_FRACTION) == 0 &&
		number_is_multiple(int64_to_numeric(1), check->number))
		return true;
	foreach(cell, facts->nodes)
	{
		const SchemaCheck *fact = json_schema_check_of(lfirst(cell), CHECK_MULTIPLE_OF);

		if (fact != NULL && number_is_multiple(fact->number, check->number))
			return true;
	}
	return false;
}

/*
 * Does the other schema check formats if wide does?  The vocabulary of a schema
 * may say that it does; the setting is that of both.
 */
static bool
compatibility_asserts_as_much(const SchemaNode *other, const SchemaNode *wide)
{
	return (wide->resource->vocabularies & ~other->resource->vocabularies & VOCABULARY_FORMAT) == 0;
}

/* Is there a fact with the same pattern, or the same format? */
static bool
compatibility_proves_same(const Facts *facts, const SchemaNode *wide, const SchemaCheck *check)
{
	ListCell   *cell;

	if (check->kind == CHECK_FORMAT && check->format == FORMAT_UNKNOWN)
		return true;
	foreach(cell, facts->nodes)
	{
		const SchemaCheck *fact = json_schema_check_of(lfirst(cell), check->kind);

		if (fact != NULL &&
			(check->kind == CHECK_FORMAT ?
			 slice_equal(fact->word, check->word) && compatibility_asserts_as_much(lfirst(cell), wide) :
			 slice_equal(pattern_source(fact->patterns[0]), pattern_source(check->patterns[0]))))
			return true;
	}
	return false;
}

static bool
compatibility_proves_unique(const Facts *facts)
{
	ListCell   *cell;
	int64		most = compatibility_most(facts, CHECK_MAX_ITEMS);

	foreach(cell, facts->nodes)
		if (json_schema_check_of(lfirst(cell), CHECK_UNIQUE_ITEMS) != NULL)
			return true;
	return most == 0 || most == 1;
}

static bool
compatibility_follows(const Facts *facts, const SchemaNode *wide, const SchemaCheck *check)
{
	int64		most;

	switch (check->kind)
	{
		case CHECK_TYPE:
			return (facts->types & ~check->types) == 0;
		case CHECK_ENUM:
		case CHECK_CONST:
			return false;		/* facts with listed values have been examined
								 * already */
		case CHECK_MULTIPLE_OF:
			return compatibility_proves_multiple(facts, check);
		case CHECK_MAXIMUM:
		case CHECK_EXCLUSIVE_MAXIMUM:
		case CHECK_MINIMUM:
		case CHECK_EXCLUSIVE_MINIMUM:
			return compatibility_proves_bound(facts, check);
		case CHECK_MAX_LENGTH:
		case CHECK_MAX_ITEMS:
			most = compatibility_most(facts, check->kind);
			return most >= 0 && most <= check->count;
		case CHECK_MIN_LENGTH:
		case CHECK_MIN_ITEMS:
			return compatibility_least(facts, check->kind) >= check->count;
		case CHECK_UNIQUE_ITEMS:
			return compatibility_proves_unique(facts);
		default:
			return compatibility_proves_same(facts, wide, check);
	}
}

bool
compatibility_prove_value(Proof *proof, const Facts *facts, const SchemaNode *wide,
						  const SchemaCheck *check)
{
	static const char *const keywords[] = {
		"type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum",
		"exclusiveMinimum", "maxLength", "minLength", "pattern", "format", "maxItems", "minItems",
		"uniqueItems"
	};
	const char *keyword = keywords[check->kind];

	return (facts->types & compatibility_concerns(check->kind)) == 0 ||
		compatibility_follows(facts, wide, check) ||
		compatibility_refuse(proof, wide, keyword,
							 "\"%s\" may refuse what the other version allows.", keyword);
}
