/*-------------------------------------------------------------------------
 *
 * document.c
 *	  Reading jsonb without going through text.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"

#include <math.h>

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
	/* beyond 2^53, doubles do not represent all integers */
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
