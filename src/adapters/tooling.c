/*-------------------------------------------------------------------------
 *
 * tooling.c
 *	  Tool calls as frameworks write them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/tooling.h"

#define TOOL_PREFIX		"tool:"
#define SERVER_PREFIX	"mcp:"

void
tooling_put_name(const Adapter *self, Json *envelope, const char *path, Slice name)
{
	Slice		tool = slice_starts(name, SLICE_OF(SERVER_PREFIX)) ? name :
		slice_of_cstring(psprintf(TOOL_PREFIX "%.*s", name.len, name.s));

	adapter_check_identifier(self, path, ID_TOOL, tool);
	json_put_text(envelope, "/payload/tool", tool);
}

Slice
tooling_name(const Json *envelope)
{
	Slice		tool = json_get_text(envelope, "/payload/tool");
	int			prefix = strlen(TOOL_PREFIX);

	if (!slice_present(tool) || !slice_starts(tool, SLICE_OF(TOOL_PREFIX)))
		return tool;
	return slice_after(tool, prefix);
}

static bool
tooling_is_empty(const Json *raw, const char *path)
{
	const Json *member = json_get_kind(raw, path, JSON_TEXT);

	return member != NULL && member->text.len == 0;
}

Slice
tooling_find_name(const Adapter *self, const Json *raw, const char *path)
{
	Slice		name = tooling_is_empty(raw, path) ? SLICE_NONE : adapter_find_word(self, raw, path);

	return slice_present(name) ? name : SLICE_OF("unknown");
}

Slice
tooling_require_name(const Adapter *self, const Json *raw, const char *path)
{
	return tooling_is_empty(raw, path) ? SLICE_OF("unknown") : adapter_require_word(self, raw, path);
}

Json *
tooling_find_id(const Adapter *self, const Json *raw, const char *path)
{
	return tooling_is_empty(raw, path) ? NULL : adapter_find_name(self, raw, path);
}

Json *
tooling_find_call(const Adapter *self, const Json *raw, const char *path, Slice answer)
{
	Json	   *call = tooling_is_empty(raw, path) ? json_of_cstring(psprintf("call of %.*s", answer.len, answer.s)) :
		adapter_find_name(self, raw, path);

	if (call == NULL)
		adapter_fault(self, path, "REQUIRED", "it is missing");
	return call;
}

/*
 * Returns the object that a JSON text contains, or NULL if it does not contain
 * an object.
 */
static Json *
tooling_parse_args(const Json *text)
{
	Json	   *parsed = json_is(text, JSON_TEXT) ? json_parse(text->text) : NULL;

	return json_is(parsed, JSON_OBJECT) ? parsed : NULL;
}

void
tooling_put_args(const Adapter *self, Json *envelope, Json *args)
{
	Json	   *parsed = json_is(args, JSON_OBJECT) ? args : tooling_parse_args(args);

	if (parsed == NULL)
	{
		parsed = json_new_object();
		json_put(parsed, "/input", args);
		if (args != NULL)
			adapter_note(self, envelope, "/args", json_of_bool(true));
	}
	else if (parsed != args)
		adapter_note(self, envelope, "/args", args);
	json_put(envelope, "/payload/args", parsed);
}

Json *
tooling_args(const Adapter *self, const Json *envelope)
{
	Json	   *args = json_get(envelope, "/payload/args");
	Json	   *noted = adapter_noted(self, envelope, "/args");

	if (json_is(noted, JSON_TEXT))
		return json_equal(tooling_parse_args(noted), args) ? noted : args != NULL ? json_of_text(json_print(args)) : NULL;
	if (json_is_true(noted, "") && json_is(args, JSON_OBJECT) && args->n == 1 && json_get(args, "/input") != NULL)
		return json_get(args, "/input");
	return args;
}

Json *
tooling_stub(const Adapter *self, Json *native, const char *path, Slice name)
{
	Json	   *stub = adapter_envelope(MSG_TOOL_CALL);

	json_put(stub, "/payload", json_new_object());
	tooling_put_name(self, stub, path, name);
	tooling_put_args(self, stub, NULL);
	adapter_note_native(self, stub, "id", native);
	adapter_mark_stub(self, stub);
	return stub;
}

/*
 * Returns the message of an error, which is never empty: the text that the
 * framework gives, or any other value as JSON.  NULL and an empty text give a
 * general message.
 */
static Slice
tooling_message(const Json *said)
{
	if (said == NULL || said->kind == JSON_NULL || (said->kind == JSON_TEXT && said->text.len == 0))
		return SLICE_OF("no reason was given");
	return said->kind == JSON_TEXT ? said->text : json_print(said);
}

void
tooling_put_error(const Adapter *self, Json *envelope, const char *code, Json *said)
{
	json_put(envelope, "/payload", json_new_object());
	json_put_cstring(envelope, "/payload/code", code);
	json_put_text(envelope, "/payload/message", tooling_message(said));
	if (said != NULL && (said->kind != JSON_TEXT || said->text.len == 0))
		adapter_note(self, envelope, "/said", said);
}

Json *
tooling_error(const Adapter *self, const Json *envelope)
{
	Json	   *message = json_get(envelope, "/payload/message");
	Json	   *noted = adapter_noted(self, envelope, "/said");

	return noted != NULL && json_is(message, JSON_TEXT) && slice_equal(tooling_message(noted), message->text) ? noted : message;
}
