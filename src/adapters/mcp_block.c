/*-------------------------------------------------------------------------
 *
 * mcp_block.c
 *	  The Model Context Protocol: the blocks of a content.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/mcp_part.h"

bool
mcp_is_text_block(const Json *block)
{
	return json_says(block, "/type", "text") && json_get_text(block, "/text").len > 0;
}

Json *
mcp_text_block(Slice text)
{
	Json	   *block = json_new_object();

	json_put_cstring(block, "/type", "text");
	json_put_text(block, "/text", text);
	return block;
}

Slice
mcp_only_text(const Json *content)
{
	if (!json_is(content, JSON_ARRAY) || content->n != 1 || !mcp_is_text_block(content->items[0]))
		return SLICE_NONE;
	return json_get_text(content->items[0], "/text");
}

static bool
mcp_has_texts(const Json *block, const char *one, const char *other)
{
	return json_has_text(block, one) && json_has_text(block, other);
}

/* Is it a block that clients know, with the members that they require? */
static bool
mcp_is_block(const Json *block)
{
	if (json_says(block, "/type", "text"))
		return json_has_text(block, "/text");
	if (json_says(block, "/type", "image") || json_says(block, "/type", "audio"))
		return mcp_has_texts(block, "/data", "/mimeType");
	if (json_says(block, "/type", "resource_link"))
		return mcp_has_texts(block, "/uri", "/name");
	return json_says(block, "/type", "resource") &&
		(mcp_has_texts(block, "/resource/uri", "/resource/text") || mcp_has_texts(block, "/resource/uri", "/resource/blob"));
}

bool
mcp_may_be_written(const Adapter *self, const Json *envelope, const Json *content, const Json *structured)
{
	if (adapter_was_foreign(self, envelope) && !json_is_true(adapter_noted(self, envelope, ""), ADAPTER_REPLY))
		return true;
	if ((content != NULL && !json_is(content, JSON_ARRAY)) || (structured != NULL && !json_is(structured, JSON_OBJECT)))
		return false;
	for (int i = 0; content != NULL && i < content->n; i++)
		if (!mcp_is_block(content->items[i]))
			return false;
	return true;
}
