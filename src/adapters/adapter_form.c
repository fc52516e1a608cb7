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

#include "base/uri.h"
#include "mb/pg_wchar.h"
#include "settings.h"

/* ------------------------------------------------------------ attachments */

Json *
adapter_attachment(Slice uri)
{
	Json	   *attachment = json_new_object();

	if (uri.len > clutch_limits.max_string_bytes || !uri_is_plausible(uri))
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

Slice
adapter_decode_header(Slice text)
{
	Slice		plain = uri_decode(text, false);

	return pg_verify_mbstr(PG_UTF8, plain.s, plain.len, true) ? plain : SLICE_NONE;
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
