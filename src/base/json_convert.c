/*-------------------------------------------------------------------------
 *
 * json_convert.c
 *	  JSON documents that can be changed: from and to jsonb.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/json_part.h"

#include "base/savepoint.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"

/* -------------------------------------------------------- reading a jsonb */

static Json *
json_read_scalar(const JsonbValue *value)
{
	Json	   *scalar;

	switch (value->type)
	{
		case jbvBool:
			return json_of_bool(value->val.boolean);
		case jbvNumeric:
			scalar = json_new(JSON_NUMBER);
			scalar->number = value->val.numeric;
			return scalar;
		case jbvString:
			return json_of_text((Slice) {value->val.string.val, value->val.string.len});
		default:
			return json_new_null();
	}
}

/* the container that the iterator has just begun, up to its end */
static Json *
json_read_container(JsonbIterator **it, JsonKind kind)
{
	Json	   *container = json_new(kind);
	Slice		key = SLICE_NONE;
	JsonbIteratorToken token;
	JsonbValue	value;

	check_stack_depth();
	while ((token = JsonbIteratorNext(it, &value, false)) != WJB_END_ARRAY && token != WJB_END_OBJECT)
	{
		Json	   *item;

		if (token == WJB_KEY)
		{
			key = (Slice) {value.val.string.val, value.val.string.len};
			continue;
		}
		if (token == WJB_BEGIN_ARRAY)
			item = json_read_container(it, JSON_ARRAY);
		else if (token == WJB_BEGIN_OBJECT)
			item = json_read_container(it, JSON_OBJECT);
		else
			item = json_read_scalar(&value);
		json_insert(container, container->n, key, item);
	}
	return container;
}

static Json *
json_read_root(JsonbContainer *root)
{
	JsonbIterator *it = JsonbIteratorInit(root);
	JsonbValue	value;
	JsonbIteratorToken token = JsonbIteratorNext(&it, &value, false);

	return json_read_container(&it, token == WJB_BEGIN_OBJECT ? JSON_OBJECT : JSON_ARRAY);
}

Json *
json_read(Jsonb *document)
{
	Json	   *value = json_read_root(&document->root);

	return JB_ROOT_IS_SCALAR(document) ? value->items[0] : value;
}

Json *
json_read_value(const JsonbValue *value)
{
	return value->type == jbvBinary ? json_read_root(value->val.binary.data) : json_read_scalar(value);
}

typedef struct JsonParse
{
	char	   *text;
	Jsonb	   *document;
} JsonParse;

static void
json_parse_step(void *arg)
{
	JsonParse  *parse = arg;

	parse->document = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(parse->text)));
}

Json *
json_parse(Slice text)
{
	JsonParse	parse = {slice_cstring(text), NULL};

	return savepoint_run(json_parse_step, &parse) == NULL ? json_read(parse.document) : NULL;
}

/* --------------------------------------------------------- writing a jsonb */

static JsonbValue
json_scalar_of(const Json *scalar)
{
	JsonbValue	value = {.type = jbvNull};

	if (scalar->kind == JSON_BOOL)
	{
		value.type = jbvBool;
		value.val.boolean = scalar->boolean;
	}
	else if (scalar->kind == JSON_NUMBER)
	{
		value.type = jbvNumeric;
		value.val.numeric = scalar->number;
	}
	else if (scalar->kind == JSON_TEXT)
	{
		value.type = jbvString;
		value.val.string.val = unconstify(char *, scalar->text.s);
		value.val.string.len = scalar->text.len;
	}
	return value;
}

static JsonbValue *
json_push(JsonbParseState **state, const Json *value, JsonbIteratorToken token)
{
	bool		is_object = value->kind == JSON_OBJECT;
	JsonbValue	pushed;

	check_stack_depth();
	if (!is_object && value->kind != JSON_ARRAY)
	{
		pushed = json_scalar_of(value);
		return pushJsonbValue(state, token, &pushed);
	}
	pushJsonbValue(state, is_object ? WJB_BEGIN_OBJECT : WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < value->n; i++)
	{
		if (is_object)
		{
			pushed = (JsonbValue) {.type = jbvString};
			pushed.val.string.val = unconstify(char *, value->keys[i].s);
			pushed.val.string.len = value->keys[i].len;
			pushJsonbValue(state, WJB_KEY, &pushed);
		}
		json_push(state, value->items[i], is_object ? WJB_VALUE : WJB_ELEM);
	}
	return pushJsonbValue(state, is_object ? WJB_END_OBJECT : WJB_END_ARRAY, NULL);
}

Jsonb *
json_write(const Json *value)
{
	JsonbParseState *state = NULL;
	JsonbValue	scalar;

	if (value->kind == JSON_OBJECT || value->kind == JSON_ARRAY)
		return JsonbValueToJsonb(json_push(&state, value, WJB_VALUE));
	scalar = json_scalar_of(value);
	return JsonbValueToJsonb(&scalar);
}
