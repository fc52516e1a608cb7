/*-------------------------------------------------------------------------
 *
 * http_header.c
 *	  Headers of a request.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/http_part.h"

Slice
http_lower(Slice name)
{
	char	   *lower = palloc(name.len + 1);

	for (int i = 0; i < name.len; i++)
		lower[i] = pg_ascii_tolower((unsigned char) name.s[i]);
	return (Slice) {lower, name.len};
}

Slice
http_header_name(const Json *raw, Slice lower)
{
	const Json *headers = json_get_kind(raw, "/headers", JSON_OBJECT);

	for (int i = 0; headers != NULL && i < headers->n; i++)
		if (slice_equal(http_lower(headers->keys[i]), lower))
			return headers->keys[i];
	return SLICE_NONE;
}

Json *
http_header(const Json *raw, Slice lower)
{
	Slice		name = http_header_name(raw, lower);

	return slice_present(name) ? json_member(json_get(raw, "/headers"), name) : NULL;
}

/*
 * Returns the content of a quoted string of HTTP, without its backslashes, or
 * the text itself if it is anything else.
 */
static Slice
http_unquote(Slice text)
{
	char	   *plain = palloc(text.len + 1);
	int			end = text.len - 1;
	int			n = 0;

	if (text.len < 2 || text.s[0] != '"' || text.s[end] != '"')
		return text;
	for (int i = 1; i < end; i++)
	{
		if (text.s[i] == '"' || (text.s[i] == '\\' && ++i == end))
			return text;
		plain[n++] = text.s[i];
	}
	return (Slice) {plain, n};
}

Json *
http_attribute(const Json *header)
{
	Slice		text = adapter_decode_header(http_unquote(header->text));

	return slice_present(text) ? json_of_text(text) : NULL;
}

void
http_check_header(const Adapter *self, Slice name, const Json *value, const Json *first)
{
	if (first != NULL && !json_equal(first, value))
		adapter_fault(self, json_path("/headers", name), "DUPLICATE_VALUE",
					  "the header is there twice, with different values; the case of its name does not matter");
}

const char *
http_carrier(const Adapter *self, const Json *raw, AdapterCarrierForm *form)
{
	Slice		header = http_header(raw, SLICE_OF("ce-specversion")) != NULL ? SLICE_OF("ce-clutchenvelope") : SLICE_OF("clutch-envelope");
	Slice		name = http_header_name(raw, header);

	*form = CARRIER_TEXT;
	if (json_get(raw, "/specversion") != NULL)
		return "/clutchenvelope";
	*form = CARRIER_HEADER;
	return json_get_kind(raw, "/headers", JSON_OBJECT) == NULL ? NULL :
		json_path("/headers", slice_present(name) ? name : header);
}
