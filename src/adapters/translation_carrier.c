/*-------------------------------------------------------------------------
 *
 * translation_carrier.c
 *	  Reading and writing the carriers of documents.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/translation_part.h"

#include "adapters/credential.h"

/* Is it the path of an element of an array? */
static bool
translation_is_element(const Json *document, const char *path)
{
	char	   *up = pstrdup(path);

	*strrchr(up, '/') = '\0';
	return json_get_kind(document, up, JSON_ARRAY) != NULL;
}

Json *
translation_take(Json *document, const char *path)
{
	Json	   *taken = json_take(document, path);
	char	   *way = pstrdup(path);
	char	   *slash;

	while (taken != NULL && (slash = strrchr(way, '/')) != NULL && slash != way)
	{
		Json	   *parent;

		*slash = '\0';
		parent = json_get_kind(document, way, JSON_OBJECT);
		if (parent == NULL || parent->n > 0 || strcmp(way, "/result") == 0 || translation_is_element(document, way))
			break;
		json_take(document, way);
	}
	return taken;
}

/*
 * Returns the first value on the way to a path, from the top, that is not an
 * object or an array, or NULL if there is none.  *end is set to where the way
 * to this value ends.
 */
static const Json *
translation_obstacle(const Json *document, const char *path, const char **end)
{
	for (*end = strchr(path + 1, '/'); *end != NULL; *end = strchr(*end + 1, '/'))
	{
		const Json *value = json_get(document, pnstrdup(path, *end - path));

		if (value == NULL)
			return NULL;
		if (value->kind != JSON_OBJECT && !(value->kind == JSON_ARRAY && isdigit((unsigned char) (*end)[1])))
			return value;
	}
	return NULL;
}

/*
 * A value that is not an object may be in the way.  Then the carrier is beside
 * this value, under its usual name.  Null counts as missing.
 */
const char *
translation_carrier_path(const Adapter *adapter, const Json *raw, AdapterCarrierForm *form)
{
	const char *path;
	const char *end;
	const Json *obstacle;

	*form = adapter->carrier_form;
	path = adapter->carrier_at != NULL ? adapter->carrier_at(adapter, raw, form) : adapter->carrier;
	obstacle = path == NULL ? NULL : translation_obstacle(raw, path, &end);
	if (obstacle == NULL || obstacle->kind == JSON_NULL)
		return path;
	while (*--end != '/')
		;
	return psprintf("%.*s%s", (int) (end - path), path, strrchr(path, '/'));
}

Json *
translation_take_carrier(const Adapter *adapter, Json *raw)
{
	AdapterCarrierForm form;
	const char *path = translation_carrier_path(adapter, raw, &form);
	Json	   *changes = path != NULL ? json_get(raw, path) : NULL;
	Slice		text = form != CARRIER_ARRAY && json_is(changes, JSON_TEXT) ? changes->text : SLICE_NONE;

	if (form == CARRIER_HEADER && slice_present(text))
		text = adapter_decode_header(text);
	if (form != CARRIER_ARRAY)
		changes = slice_present(text) && slice_starts(text, SLICE_OF("[")) ? json_parse(text) : NULL;
	if (!json_is(changes, JSON_ARRAY))
		return NULL;
	translation_take(raw, path);
	return changes;
}

Json *
translation_clean(const Adapter *adapter, Json *raw)
{
	Json	   *dropped = credential_remove(raw);
	AdapterCarrierForm form;
	const char *path = translation_carrier_path(adapter, raw, &form);
	Slice		text = path != NULL && form == CARRIER_HEADER ? json_get_text(raw, path) : SLICE_NONE;
	Slice		plain = slice_present(text) ? adapter_decode_header(text) : SLICE_NONE;
	Json	   *carrier;
	Json	   *more;

	if (!slice_present(plain))
		return dropped;
	carrier = json_of_text(plain);
	more = credential_remove(carrier);
	if (more == NULL)
		return dropped;
	json_put_text(raw, path, adapter_encode_header(carrier->text));
	if (dropped == NULL)
		dropped = json_new_array();
	for (int i = 0; i < more->n; i++)
		json_add(dropped, json_of_cstring(psprintf("%s%.*s", path, more->items[i]->text.len, more->items[i]->text.s)));
	return dropped;
}

void
translation_put_carrier(const Adapter *adapter, Json *raw, const Json *changes)
{
	AdapterCarrierForm form;
	const char *path = translation_carrier_path(adapter, raw, &form);
	const char *end;
	Slice		text;

	if (path == NULL)
		return;
	if (translation_obstacle(raw, path, &end) != NULL)
		json_take(raw, pnstrdup(path, end - path));
	if (form == CARRIER_ARRAY)
	{
		json_put(raw, path, json_copy(changes));
		return;
	}
	text = json_print(changes);
	json_put_text(raw, path, form == CARRIER_HEADER ? adapter_encode_header(text) : text);
}

Json *
translation_uncarried(const Adapter *adapter, Json *document)
{
	AdapterCarrierForm form;
	const char *path = translation_carrier_path(adapter, document, &form);
	const char *end;
	Json	   *uncarried;

	if (path == NULL || (json_get(document, path) == NULL && translation_obstacle(document, path, &end) == NULL))
		return document;
	uncarried = json_copy(document);
	translation_put_carrier(adapter, uncarried, json_new_array());
	(void) translation_take_carrier(adapter, uncarried);
	return uncarried;
}

void
translation_make_sendable(const Adapter *adapter, Json *envelope, Slice plain)
{
	MessageType type = adapter_type(envelope);
	Json	   *orders = json_get_kind(envelope, "/meta/clutch", JSON_OBJECT);
	Json	   *move = json_take(envelope, "/meta/clutch/move");

	if (move != NULL && orders->n == 0)
		json_take(envelope, "/meta/clutch");
	adapter_note(adapter, envelope, "/move", move);
	if (type == MSG_TASK_TIMEOUT)
		json_put_cstring(envelope, "/type", message_type_name(MSG_TASK_ERROR));
	else if (message_type_is_internal(type))
		json_put_text(envelope, "/type", plain);
}
