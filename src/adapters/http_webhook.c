/*-------------------------------------------------------------------------
 *
 * http_webhook.c
 *	  Standard Webhooks, in both directions.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/http_part.h"

const char *
http_declines_webhook(const Json *raw)
{
	const Json *time = json_get_kind(raw, "/timestamp", JSON_TEXT);

	if (!json_has_text(raw, "/type") || time == NULL || raw->n != 2 + (json_get(raw, "/data") != NULL))
		return "it has neither specversion nor headers, and is not {type, timestamp, data}";
	if (!slice_present(adapter_time_of(time->text)))
		return "it is not a webhook, because its timestamp is not a time like \"2026-02-01T13:20:11.123Z\"";
	return identifier_is_valid(ID_WORD, json_get_text(raw, "/type")) ? NULL :
		"it is not a webhook, because its type has a reserved prefix or is not a word";
}

/*
 * Returns the members of a body without "data" that are not the type and the
 * time, or NULL if it has "data" or no others.
 */
static Json *
http_members(const Json *body)
{
	Json	   *members = json_new_object();

	for (int i = 0; i < body->n && json_get(body, "/data") == NULL; i++)
		if (!slice_is(body->keys[i], "type") && !slice_is(body->keys[i], "timestamp"))
			json_put_member(members, body->keys[i], body->items[i]);
	return members->n > 0 ? members : NULL;
}

/*
 * Are the members of the payload those of the body?  This is so if they were,
 * unless the payload has got a member that has a meaning there.
 */
static bool
http_is_flat(const Adapter *self, const Json *envelope)
{
	Json	   *payload = json_get(envelope, "/payload");

	return json_is_true(adapter_noted(self, envelope, ""), "/flat") && json_get(payload, "/type") == NULL &&
		json_get(payload, "/timestamp") == NULL && json_get(payload, "/data") == NULL;
}

/*
 * Does the body have the structure that the specification recommends, with a
 * type and a time?  A sender that uses these names for something else is within its
 * rights, and would give up if it were refused.
 */
static bool
http_is_typical(const Json *body)
{
	const Json *time = json_get(body, "/timestamp");

	return identifier_is_valid(ID_WORD, json_get_text(body, "/type")) &&
		(time == NULL || (json_is(time, JSON_TEXT) && slice_present(adapter_time_of(time->text))));
}

Json *
http_read_webhook(const Adapter *self, const Json *body, const Json *id)
{
	bool		plain = id != NULL && !http_is_typical(body);
	Json	   *members = plain || id == NULL ? NULL : http_members(body);
	Json	   *envelope = plain ? adapter_envelope(MSG_CHAT_MESSAGE) : http_read_type(self, body);

	adapter_note(self, envelope, "/kind", json_of_cstring("webhook"));
	if (plain)
		adapter_note(self, envelope, "/plain", json_of_bool(true));
	else
		json_put_text(envelope, "/ts", adapter_find_time(self, body, "/timestamp"));
	if (members != NULL)
		adapter_note(self, envelope, "/flat", json_of_bool(true));
	else
		members = plain ? unconstify(Json *, body) : adapter_member(body, "/data");
	adapter_put_payload(self, envelope, members);
	adapter_note_native(self, envelope, "id", unconstify(Json *, id));
	return envelope;
}

/* Returns the ID of the webhook in a request. */
static Json *
http_webhook_id(const Adapter *self, const Json *raw)
{
	const Json *headers = json_get(raw, "/headers");
	const Json *first = NULL;

	for (int i = 0; i < headers->n; i++)
		if (slice_is(http_lower(headers->keys[i]), "webhook-id"))
		{
			(void) adapter_require_word(self, raw, json_path("/headers", headers->keys[i]));
			http_check_header(self, headers->keys[i], headers->items[i], first);
			first = headers->items[i];
		}
	return unconstify(Json *, first);
}

Json *
http_read_webhook_request(const Adapter *self, const Json *raw)
{
	Json	   *id = http_webhook_id(self, raw);
	const Json *body = json_get(raw, "/body");
	Json	   *envelope;

	if (body == NULL)
		adapter_fault(self, "/body", "REQUIRED", "it is missing");
	envelope = http_read_webhook(adapter_within(self, "/body"), body, id);
	adapter_note(self, envelope, "/request", json_of_bool(true));
	http_note_spelling(self, envelope, http_header_name(raw, SLICE_OF("webhook-id")), SLICE_OF("webhook-id"));
	return envelope;
}

Json *
http_webhook_of(const Adapter *self, const Json *envelope)
{
	bool		plain = json_is_true(adapter_noted(self, envelope, ""), "/plain") && adapter_type(envelope) == MSG_CHAT_MESSAGE;
	bool		flat = http_is_flat(self, envelope);
	Json	   *body = plain ? adapter_payload(self, envelope) : flat ? json_copy(json_get(envelope, "/payload")) : json_new_object();
	Json	   *request = json_new_object();

	if (!plain)
	{
		json_put_text(body, "/type", http_type_of(self, envelope));
		json_put(body, "/timestamp", json_get(envelope, "/ts"));
	}
	if (!plain && !flat)
		json_put(body, "/data", adapter_payload(self, envelope));
	if (!json_is_true(adapter_noted(self, envelope, ""), "/request"))
		return body;
	json_put(request, "/headers", json_new_object());
	json_put_member(json_get(request, "/headers"), http_spelling(self, envelope, SLICE_OF("webhook-id")), adapter_native(self, envelope, "id"));
	json_put(request, "/body", body);
	return request;
}
