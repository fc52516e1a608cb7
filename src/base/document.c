/*-------------------------------------------------------------------------
 *
 * document.c
 *	  Reading jsonb without going through text.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"

#include "base/number.h"

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

	return document_get(object, key, &v) ? document_text(&v) : SLICE_NONE;
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

	return document_get(object, key, &v) && v.type == jbvNumeric &&
		number_to_int64(v.val.numeric, number);
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

JsonbValue
document_value(Jsonb *document)
{
	JsonbValue	value;

	if (JB_ROOT_IS_SCALAR(document))
		(void) JsonbExtractScalar(&document->root, &value);
	else
		JsonbToJsonbValue(document, &value);
	return value;
}
