/*-------------------------------------------------------------------------
 *
 * payload_type_limits.c
 *	  The schemas of the protocol's own documents, with the limits that are in
 *	  force.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/payload_type.h"

#include "base/document.h"
#include "protocol/value.h"
#include "utils/guc.h"

static void payload_type_put_value(DocumentBuilder *b, const JsonbContainer *container, int i,
								   const char *limit);

static bool
payload_type_is_limit(Slice keyword)
{
	return slice_equal(keyword, SLICE_OF("maxLength")) || slice_equal(keyword, SLICE_OF("maxItems")) ||
		slice_equal(keyword, SLICE_OF("maxProperties")) || slice_equal(keyword, SLICE_OF("maximum"));
}

/*
 * Returns the value of the setting that "$comment" names, or NULL if it names
 * none.
 */
static const char *
payload_type_limit(JsonbContainer *object)
{
	Slice		setting = document_get_text(object, "$comment");

	return slice_present(setting) && slice_starts(setting, SLICE_OF("clutch.")) ?
		GetConfigOption(slice_cstring(setting), true, false) : NULL;
}

static void
payload_type_put_children(DocumentBuilder *b, JsonbContainer *container)
{
	bool		is_object = JsonContainerIsObject(container);
	const char *limit = is_object ? payload_type_limit(container) : NULL;
	int			i;

	for (i = 0; i < JsonContainerSize(container); i++)
	{
		Slice		key = is_object ? value_key_at(container, i) : SLICE_NONE;

		if (is_object)
			document_key(b, key);
		payload_type_put_value(b, container, i,
							   is_object && payload_type_is_limit(key) ? limit : NULL);
	}
}

static void
payload_type_put_value(DocumentBuilder *b, const JsonbContainer *container, int i, const char *limit)
{
	JsonbValue	value;

	value_at(container, i, &value);
	if (limit != NULL)
		document_add_int(b, strtol(limit, NULL, 10));
	else if (value.type != jbvBinary)
		document_add_value(b, &value);
	else if (JsonContainerIsObject(value.val.binary.data))
	{
		document_open_object(b, NULL);
		payload_type_put_children(b, value.val.binary.data);
		document_close_object(b);
	}
	else
	{
		document_open_array(b, NULL);
		payload_type_put_children(b, value.val.binary.data);
		document_close_array(b);
	}
}

Jsonb *
payload_type_with_limits(Jsonb *document)
{
	DocumentBuilder b;

	document_begin(&b);
	payload_type_put_children(&b, &document->root);
	return document_end(&b);
}
