/*-------------------------------------------------------------------------
 *
 * document.c
 *	  Reading and building jsonb without going through text.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"

#include <math.h>

#include "base/clock.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

bool
document_get(JsonbContainer *object, const char *key, JsonbValue *value)
{
	if (object == NULL || !JsonContainerIsObject(object))
		return false;
	return getKeyJsonValueFromContainer(object, key, strlen(key), value) != NULL;
}

Slice
document_get_text(JsonbContainer *object, const char *key)
{
	JsonbValue	v;

	if (!document_get(object, key, &v) || v.type != jbvString)
		return SLICE_NONE;
	return (Slice) {v.val.string.val, v.val.string.len};
}

JsonbContainer *
document_get_container(JsonbContainer *object, const char *key)
{
	JsonbValue	v;

	if (!document_get(object, key, &v) || v.type != jbvBinary)
		return NULL;
	return v.val.binary.data;
}

bool
document_get_int(JsonbContainer *object, const char *key, int64 *number)
{
	JsonbValue	v;
	float8		f;

	if (!document_get(object, key, &v) || v.type != jbvNumeric)
		return false;
	f = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
										   NumericGetDatum(v.val.numeric)));
	/* 2^53: beyond it a double does not tell neighbours apart */
	if (isnan(f) || f < -9007199254740992.0 || f > 9007199254740992.0 || f != rint(f))
		return false;
	*number = (int64) f;
	return true;
}

bool
document_get_bool(JsonbContainer *object, const char *key, bool *flag)
{
	JsonbValue	v;

	if (!document_get(object, key, &v) || v.type != jbvBool)
		return false;
	*flag = v.val.boolean;
	return true;
}

Jsonb *
document_of_value(JsonbValue *value)
{
	return JsonbValueToJsonb(value);
}

/* ---------------------------------------------------------------- building */

static void
put_key(DocumentBuilder *b, Slice key)
{
	JsonbValue	k;

	k.type = jbvString;
	k.val.string.val = unconstify(char *, key.s);
	k.val.string.len = key.len;
	b->result = pushJsonbValue(&b->state, WJB_KEY, &k);
}

static void
put(DocumentBuilder *b, const char *key, JsonbValue *value)
{
	put_key(b, slice_of_cstring(key));
	b->result = pushJsonbValue(&b->state, WJB_VALUE, value);
}

static JsonbValue
value_of_text(Slice text)
{
	JsonbValue	v;

	v.type = jbvString;
	v.val.string.val = unconstify(char *, text.s);
	v.val.string.len = text.len;
	return v;
}

void
document_begin(DocumentBuilder *b)
{
	b->state = NULL;
	b->result = pushJsonbValue(&b->state, WJB_BEGIN_OBJECT, NULL);
}

Jsonb *
document_end(DocumentBuilder *b)
{
	b->result = pushJsonbValue(&b->state, WJB_END_OBJECT, NULL);
	return JsonbValueToJsonb(b->result);
}

void
document_put_text(DocumentBuilder *b, const char *key, Slice value)
{
	JsonbValue	v = value_of_text(value);

	if (slice_present(value))
		put(b, key, &v);
}

void
document_put_cstring(DocumentBuilder *b, const char *key, const char *value)
{
	document_put_text(b, key, slice_of_cstring(value));
}

void
document_put_int(DocumentBuilder *b, const char *key, int64 value)
{
	JsonbValue	v;

	v.type = jbvNumeric;
	v.val.numeric = int64_to_numeric(value);
	put(b, key, &v);
}

void
document_put_bool(DocumentBuilder *b, const char *key, bool value)
{
	JsonbValue	v;

	v.type = jbvBool;
	v.val.boolean = value;
	put(b, key, &v);
}

void
document_put_timestamp(DocumentBuilder *b, const char *key, TimestampTz value)
{
	document_put_cstring(b, key, clock_rfc3339(value));
}

void
document_put_value(DocumentBuilder *b, const char *key, JsonbValue *value)
{
	put(b, key, value);
}

void
document_put_jsonb(DocumentBuilder *b, const char *key, Jsonb *value)
{
	JsonbValue	v;

	JsonbToJsonbValue(value, &v);
	/* a scalar is stored as an array of one: take it out again */
	if (JsonContainerIsScalar(&value->root))
	{
		JsonbIterator *it = JsonbIteratorInit(&value->root);

		(void) JsonbIteratorNext(&it, &v, true);
		(void) JsonbIteratorNext(&it, &v, true);
	}
	put(b, key, &v);
}

void
document_put_pairs(DocumentBuilder *b, JsonbContainer *object, const char *but)
{
	JsonbIterator *it = JsonbIteratorInit(object);
	JsonbValue	key;
	JsonbValue	value;

	(void) JsonbIteratorNext(&it, &key, true);	/* the opening brace */
	while (JsonbIteratorNext(&it, &key, true) == WJB_KEY)
	{
		Slice		name = {key.val.string.val, key.val.string.len};

		(void) JsonbIteratorNext(&it, &value, true);
		if (but && slice_equal(name, slice_of_cstring(but)))
			continue;
		put_key(b, name);
		b->result = pushJsonbValue(&b->state, WJB_VALUE, &value);
	}
}

void
document_open_object(DocumentBuilder *b, const char *key)
{
	if (key)
		put_key(b, slice_of_cstring(key));
	b->result = pushJsonbValue(&b->state, WJB_BEGIN_OBJECT, NULL);
}

void
document_close_object(DocumentBuilder *b)
{
	b->result = pushJsonbValue(&b->state, WJB_END_OBJECT, NULL);
}

void
document_open_array(DocumentBuilder *b, const char *key)
{
	if (key)
		put_key(b, slice_of_cstring(key));
	b->result = pushJsonbValue(&b->state, WJB_BEGIN_ARRAY, NULL);
}

void
document_close_array(DocumentBuilder *b)
{
	b->result = pushJsonbValue(&b->state, WJB_END_ARRAY, NULL);
}

void
document_add_text(DocumentBuilder *b, Slice value)
{
	JsonbValue	v = value_of_text(value);

	b->result = pushJsonbValue(&b->state, WJB_ELEM, &v);
}
