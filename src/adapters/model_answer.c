/*-------------------------------------------------------------------------
 *
 * model_answer.c
 *	  Reading what the interfaces of language models return.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/model_part.h"

#include "adapters/credential.h"

/*
 * Appends a piece of a text.  A piece continues where the one before it ended,
 * because an interface may cut a text anywhere.
 */
static void
model_take_piece(ModelAnswer *answer, Slice piece)
{
	if (!slice_present(piece) || piece.len == 0)
		return;
	if (!answer->goes_on)
		json_add(answer->texts, json_new_array());
	answer->goes_on = true;
	json_add(answer->texts->items[answer->texts->n - 1], json_of_text(piece));
}

void
model_take_text(ModelAnswer *answer, Slice text)
{
	answer->goes_on = false;
	model_take_piece(answer, text);
	answer->goes_on = false;
}

static bool
model_has_pieces(const ModelAnswer *answer)
{
	for (int i = 0; i < answer->texts->n; i++)
		if (answer->texts->items[i]->n > 1)
			return true;
	return answer->texts->n > 1;
}

/* Joins the texts of an array. */
static StringInfoData
model_join(const Json *texts, const char *separator)
{
	StringInfoData joined;

	initStringInfo(&joined);
	for (int i = 0; i < texts->n; i++)
	{
		Slice		text = texts->items[i]->text;

		appendStringInfoString(&joined, i > 0 ? separator : "");
		appendBinaryStringInfo(&joined, text.s, text.len);
	}
	return joined;
}

/*
 * Adds paths in the array of the texts to answer->dropped; paths is NULL if
 * there are none.  numbers[i] is the number of the text at index i.  If the
 * texts are arrays of pieces, the number of the piece is removed from the
 * path, because it means nothing to a reader.
 */
static void
model_note_dropped(ModelAnswer *answer, const Json *paths, const int *numbers, bool in_pieces)
{
	for (int i = 0; paths != NULL && i < paths->n; i++)
	{
		char	   *rest = slice_cstring(paths->items[i]->text);
		int			text = numbers[strtol(rest + 1, &rest, 10)];

		if (in_pieces)
			(void) strtol(rest + 1, &rest, 10);
		if (answer->dropped == NULL)
			answer->dropped = json_new_array();
		json_add(answer->dropped, json_of_cstring(psprintf(TEXT_PLACE "/%d%s", text, rest)));
	}
}

/*
 * Joins the texts.  If there are several, each is searched for credentials on
 * its own first, and its pieces as one text: after joining, they are not JSON
 * any more, and the translation of the message would find nothing in them.
 */
void
model_join_texts(ModelAnswer *answer)
{
	Json	   *texts = json_new_array();
	int		   *numbers = palloc(sizeof(int) * answer->texts->n);

	for (int i = 0; i < answer->texts->n; i++)
		numbers[i] = i;
	if (model_has_pieces(answer))
		model_note_dropped(answer, credential_remove(answer->texts), numbers, true);
	for (int i = 0; i < answer->texts->n; i++)
	{
		StringInfoData text = model_join(answer->texts->items[i], "");

		if (text.len == 0)
			continue;
		numbers[texts->n] = i;
		json_add(texts, json_of_text((Slice) {text.data, text.len}));
	}
	if (texts->n > 1)
		model_note_dropped(answer, credential_remove(texts), numbers, false);
	answer->text = model_join(texts, "\n");
}

/* Adds a call.  args is an object, or the text of one. */
static void
model_take_call(ModelAnswer *answer, Slice tool, Json *args)
{
	Json	   *call = json_new_object();

	if (!slice_present(tool))
		return;
	answer->goes_on = false;
	if (json_is(args, JSON_TEXT))
	{
		Json	   *parsed = json_parse(args->text);

		args = parsed != NULL ? parsed : args;
	}
	if (json_is(args, JSON_NULL))
		args = NULL;
	if (args != NULL && args->kind != JSON_OBJECT)
	{
		Json	   *value = args;

		args = json_new_object();
		json_put(args, "/value", value);
	}
	json_put_text(call, "/tool", tool);
	json_put(call, "/args", args != NULL ? args : json_new_object());
	json_add(answer->calls, call);
}

/* Reads {"content": [{"type": "text"}, {"type": "tool_use"}]}. */
void
model_read_claude(const Json *raw, ModelAnswer *answer)
{
	const Json *content = json_get_kind(raw, "/content", JSON_ARRAY);

	for (int i = 0; content != NULL && i < content->n; i++)
	{
		const Json *item = content->items[i];

		if (json_says(item, "/type", "text"))
			model_take_piece(answer, json_get_text(item, "/text"));
		else
			answer->goes_on = false;
		if (json_says(item, "/type", "tool_use"))
			model_take_call(answer, json_get_text(item, "/name"), json_get(item, "/input"));
	}
}

/*
 * Reads {"output": [{"type": "message"}, {"type": "function_call"}, {"type":
 * "custom_tool_call"}]}.
 */
static void
model_read_output(const Json *output, ModelAnswer *answer)
{
	for (int i = 0; output != NULL && i < output->n; i++)
	{
		const Json *item = output->items[i];
		const Json *content = json_get_kind(item, "/content", JSON_ARRAY);

		if (json_says(item, "/type", "function_call"))
			model_take_call(answer, json_get_text(item, "/name"), json_get(item, "/arguments"));
		else if (json_says(item, "/type", "custom_tool_call"))
			model_take_call(answer, json_get_text(item, "/name"), json_get(item, "/input"));
		answer->goes_on = false;
		for (int j = 0; json_says(item, "/type", "message") && content != NULL && j < content->n; j++)
		{
			model_take_piece(answer, json_get_text(content->items[j], "/text"));
			model_take_piece(answer, json_get_text(content->items[j], "/refusal"));
		}
	}
}

/*
 * Reads {"choices": [{"message": {"content", "refusal", "tool_calls",
 * "function_call"}}]}, or the output above, or {"system", "user"}.
 */
void
model_read_gpt5(const Json *raw, ModelAnswer *answer)
{
	const Json *message = json_get_kind(raw, "/choices/0/message", JSON_OBJECT);
	const Json *calls = json_get_kind(message, "/tool_calls", JSON_ARRAY);

	model_take_text(answer, json_get_text(message, "/content"));
	model_take_text(answer, json_get_text(message, "/refusal"));
	for (int i = 0; calls != NULL && i < calls->n; i++)
	{
		model_take_call(answer, json_get_text(calls->items[i], "/function/name"),
						json_get(calls->items[i], "/function/arguments"));
		model_take_call(answer, json_get_text(calls->items[i], "/custom/name"),
						json_get(calls->items[i], "/custom/input"));
	}
	model_take_call(answer, json_get_text(message, "/function_call/name"), json_get(message, "/function_call/arguments"));
	model_read_output(json_get_kind(raw, "/output", JSON_ARRAY), answer);
	/* a response may have a "user" as well: the ID of the end user, as the request gave it */
	if (json_get(raw, "/choices") != NULL || json_get(raw, "/output") != NULL)
		return;
	model_take_text(answer, json_get_text(raw, "/user"));
	answer->context = json_get_text(raw, "/system");
}

/*
 * Reads {"candidates": [{"content": {"parts": [{"text"},
 * {"functionCall"}]}}]}, or {"goal", "data"}.  The library for Python writes
 * the members as function_call, and adds those that are null.
 */
void
model_read_gemini(const Json *raw, ModelAnswer *answer)
{
	const Json *parts = json_get_kind(raw, "/candidates/0/content/parts", JSON_ARRAY);

	for (int i = 0; parts != NULL && i < parts->n; i++)
	{
		/* the model's thoughts on its way to the answer are skipped */
		if (json_is_true(parts->items[i], "/thought"))
			continue;
		if (!json_has_text(parts->items[i], "/text"))
			answer->goes_on = false;
		model_take_piece(answer, json_get_text(parts->items[i], "/text"));
		model_take_call(answer, json_get_text(parts->items[i], "/functionCall/name"),
						json_get(parts->items[i], "/functionCall/args"));
		model_take_call(answer, json_get_text(parts->items[i], "/function_call/name"),
						json_get(parts->items[i], "/function_call/args"));
	}
	model_take_text(answer, json_get_text(raw, "/goal"));
	answer->data = json_get(raw, "/data");
}

Slice
model_said_why(const Json *raw)
{
	static const char *const places[] = {
		"/error/message", "/promptFeedback/blockReason", "/prompt_feedback/block_reason", "/incomplete_details/reason",
		"/stop_reason", "/choices/0/finish_reason", "/candidates/0/finishReason", "/candidates/0/finish_reason"
	};

	for (int i = 0; i < lengthof(places); i++)
		if (slice_present(json_get_text(raw, places[i])))
			return json_get_text(raw, places[i]);
	return SLICE_NONE;
}
