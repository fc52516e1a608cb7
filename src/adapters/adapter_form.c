/*-------------------------------------------------------------------------
 *
 * adapter_form.c
 *	  Functions shared by all adapters: the forms of texts.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/adapter.h"

#include <ctype.h>

#include "mb/pg_wchar.h"
#include "settings.h"

/* ------------------------------------------------------------ attachments */

static bool
adapter_is_uri(Slice text)
{
	int			scheme = 0;
	bool		absolute;

	if (!slice_present(text) || text.len == 0 || text.len > clutch_limits.max_string_bytes)
		return false;
	while (scheme < text.len && (isalnum((unsigned char) text.s[scheme]) || strchr("+-.", text.s[scheme]) != NULL))
		scheme++;
	absolute = isalpha((unsigned char) text.s[0]) && scheme + 1 < text.len && text.s[scheme] == ':';
	for (int i = 0; absolute && i < text.len; i++)
		absolute = (unsigned char) text.s[i] > ' ' && text.s[i] != 0x7F;
	return absolute;
}

Json *
adapter_attachment(Slice uri)
{
	Json	   *attachment = json_new_object();

	if (!adapter_is_uri(uri))
		return NULL;
	json_put_cstring(attachment, "/kind", identifier_is_valid(ID_ARTIFACT, uri) ? "artifact_ref" : "uri");
	json_put_text(attachment, "/ref", uri);
	return attachment;
}

bool
adapter_is_base64(Slice text)
{
	int			len = text.len;
	int			digits = 0;

	if (slice_starts(text, SLICE_OF("artifact:")))
		return true;
	while (len > 0 && text.s[len - 1] == '=')
		len--;
	for (int i = 0; i < len; i++)
	{
		if (isalnum((unsigned char) text.s[i]) || (text.s[i] != '\0' && strchr("+/-_", text.s[i]) != NULL))
			digits++;
		else if (text.s[i] == '\0' || strchr(" \r\n", text.s[i]) == NULL)
			return false;
	}
	/* four digits encode three bytes; a single one left over encodes none */
	return digits % 4 != 1;
}

/* ----------------------------------------------------------------- headers */

static int
adapter_hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

Slice
adapter_decode_header(Slice text)
{
	char	   *plain = palloc(text.len + 1);
	int			n = 0;

	for (int i = 0; i < text.len; i++)
	{
		int			high = text.s[i] == '%' && i + 2 < text.len ? adapter_hex(text.s[i + 1]) : -1;
		int			low = high >= 0 ? adapter_hex(text.s[i + 2]) : -1;

		plain[n++] = low >= 0 ? (char) (high * 16 + low) : text.s[i];
		i += low >= 0 ? 2 : 0;
	}
	return pg_verify_mbstr(PG_UTF8, plain, n, true) ? (Slice) {plain, n} : SLICE_NONE;
}

Slice
adapter_encode_header(Slice text)
{
	StringInfoData encoded;

	initStringInfo(&encoded);
	for (int i = 0; i < text.len; i++)
	{
		unsigned char c = text.s[i];

		if (c <= ' ' || c > '~' || c == '"' || c == '%')
			appendStringInfo(&encoded, "%%%02X", c);
		else
			appendStringInfoChar(&encoded, c);
	}
	return (Slice) {encoded.data, encoded.len};
}
