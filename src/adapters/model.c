/*-------------------------------------------------------------------------
 *
 * model.c
 *	  Prompts for language models, and their answers (spec 001, adapters).
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/model_part.h"

#include "adapters/credential.h"
#include "adapters/multiagent.h"
#include "adapters/translation.h"
#include "common/int.h"
#include "mb/pg_wchar.h"

#define PROTOCOL	"multiagent-1.0"
#define ORDER		"Answer with one JSON object of protocol \"" PROTOCOL "\", or in plain text."
#define TASK_CHARACTERS	160

struct ModelFamily
{
	const char *name;
	const char *agent;			/* the sender if an answer does not name its
								 * model */
	const char *display;
	const char *model;
	const char *intent;
	void		(*read) (const Json *raw, ModelAnswer *answer);
	Json	   *(*prompt) (Slice intent, const char *rendered);
};

static const char *const model_intents[] = {
	"plan", "decompose", "execute", "route", "retrieve", "analyze", "summarize", "reflect", "finalize", "tool.call"
};

/*
 * Returns the intent if spec 001 defines it, or else "reflect", so that no
 * other text can get into the prompt in its place.
 */
static Slice
model_intent(Slice intent)
{
	return slice_find(intent, model_intents, lengthof(model_intents)) >= 0 ? intent : SLICE_OF("reflect");
}

/* ------------------------------------------------------------------ prompts */

static Json *
model_turn(const char *role, char *content)
{
	Json	   *turn = json_new_object();

	json_put_cstring(turn, "/role", role);
	json_put_cstring(turn, "/content", content);
	return turn;
}

static Json *
model_prompt_claude(Slice intent, const char *rendered)
{
	Json	   *prompt = json_new_object();
	Json	   *messages = json_new_array();

	json_add(messages, model_turn("user", psprintf("[INTENT:%.*s]\n%s\n\n%s", intent.len, intent.s, ORDER, rendered)));
	json_put(prompt, "/messages", messages);
	return prompt;
}

static Json *
model_prompt_gpt5(Slice intent, const char *rendered)
{
	Json	   *prompt = json_new_object();
	Json	   *messages = json_new_array();

	json_add(messages, model_turn("system", psprintf("The intent is %.*s. %s", intent.len, intent.s, ORDER)));
	json_add(messages, model_turn("user", pstrdup(rendered)));
	json_put(prompt, "/messages", messages);
	return prompt;
}

static Json *
model_prompt_gemini(Slice intent, const char *rendered)
{
	Json	   *prompt = json_new_object();
	Json	   *contents = json_new_array();
	Json	   *turn = json_new_object();
	Json	   *parts = json_new_array();
	Json	   *part = json_new_object();

	json_put_cstring(part, "/text", psprintf("Intent: %.*s\n%s\n\n%s", intent.len, intent.s, ORDER, rendered));
	json_add(parts, part);
	json_put_cstring(turn, "/role", "user");
	json_put(turn, "/parts", parts);
	json_add(contents, turn);
	json_put(prompt, "/contents", contents);
	return prompt;
}

/* ----------------------------------------------------------------- families */

static const ModelFamily model_families[] = {
	{"claude", "claude.generic", "Claude", "claude", "analyze", model_read_claude, model_prompt_claude},
	{"gpt5", "gpt5.generic", "GPT-5", "gpt-5", "plan", model_read_gpt5, model_prompt_gpt5},
	{"gemini", "gemini.generic", "Gemini", "gemini", "execute", model_read_gemini, model_prompt_gemini},
};

const ModelFamily *
model_family(Slice name)
{
	for (int i = 0; i < lengthof(model_families); i++)
		if (slice_is(name, model_families[i].name))
			return &model_families[i];
	return NULL;
}

Json *
model_prompt(const ModelFamily *family, Slice intent, const char *rendered)
{
	return family->prompt(model_intent(intent), rendered);
}

/* ----------------------------------------------------------------- messages */

static bool
model_is_message(const Json *value)
{
	return json_says(value, "/protocol", PROTOCOL);
}

/*
 * Returns the message of multiagent-1.0 that the model itself has written, or
 * NULL if it has written none.
 *
 * The model decides what the members of the message say.  But it has read
 * texts by strangers, so we do not let it give orders by a carrier, which
 * could make any envelope of the message, nor speak as the system, which
 * registers agents, or as a user or a tool.  The token counts that it reports
 * about itself are ignored.
 */
static Json *
model_own_message(const Json *raw, const ModelAnswer *answer)
{
	Slice		json = answer->calls->n == 0 ? credential_json_of((Slice) {answer->text.data, answer->text.len}) : SLICE_NONE;
	Json	   *message = model_is_message(raw) ? json_copy(raw) : slice_present(json) ? json_parse(json) : NULL;

	if (!model_is_message(message))
		return NULL;
	json_put_text(message, "/intent", model_intent(json_get_text(message, "/intent")));
	(void) translation_take_carrier(&multiagent_adapter, message);
	json_put_cstring(message, "/role", "agent");
	if (json_get_kind(message, "/trace", JSON_OBJECT) != NULL)
		(void) json_take(message, "/trace/cost");
	return message;
}

/*
 * Puts the beginning of a text into the message.  Credentials must be removed
 * before the text is shortened, because none would be found in truncated JSON.
 * If the text is one, the intent takes its place, because a message must have a
 * task.
 */
static void
model_put_task(Json *message, Slice text)
{
	Json	   *task = json_new_array();

	json_add(task, json_of_text(text));
	(void) credential_remove(task);
	text = task->n > 0 ? task->items[0]->text : json_get_text(message, "/intent");
	text.len = pg_mbcharcliplen(text.s, text.len, TASK_CHARACTERS);
	json_put_text(message, "/task", text);
}

/*
 * Puts calls into the message.  A single call without a text becomes a
 * tool.call; other calls become outputs.next_actions.
 */
static void
model_put_calls(Json *message, const ModelAnswer *answer)
{
	Json	   *list = json_new_array();

	for (int i = 0; i < answer->calls->n; i++)
	{
		Json	   *item = json_new_object();
		Slice		tool = json_get_text(answer->calls->items[i], "/tool");
		Json	   *args = json_get(answer->calls->items[i], "/args");

		json_add(list, item);
		if (answer->calls->n == 1 && answer->text.len == 0)
		{
			json_put_cstring(item, "/type", "tool");
			json_put_text(item, "/id", tool);
			json_put(message, "/inputs/resources", list);
			json_put_cstring(message, "/intent", "tool.call");
			json_put(message, "/content/data", args);
			continue;
		}
		json_put_cstring(item, "/intent", "tool.call");
		json_put_text(item, "/task", tool);
		json_put(item, "/args", args);
		json_put(message, "/outputs/next_actions", list);
	}
}

static Json *
model_new_message(const ModelFamily *family, const ModelAnswer *answer)
{
	Json	   *message = json_new_object();
	Slice		text = {answer->text.data, answer->text.len};
	bool		is_text = answer->text.len > 0 && answer->data == NULL;

	json_put_cstring(message, "/protocol", PROTOCOL);
	json_put_cstring(message, "/role", "agent");
	json_put_cstring(message, "/intent", family->intent);
	json_put_cstring(message, "/content/type", is_text ? "text" : "json");
	model_put_task(message, answer->text.len > 0 ? text : json_get_text(answer->calls->items[0], "/tool"));
	if (is_text)
		json_put_text(message, TEXT_PLACE, text);
	json_put(message, "/content/data", answer->data);
	json_put_text(message, "/inputs/context", answer->context);
	model_put_calls(message, answer);
	return message;
}

/*
 * Puts the sum of several counts, because some interfaces count cached tokens,
 * and those of thoughts, separately.
 */
static void
model_put_tokens(const Json *raw, Json *message, const char *path, const char *const *counts, int n)
{
	int64		sum = 0;
	int64		count;
	int64		more;
	bool		counted = false;

	for (int i = 0; i < n; i++)
		if (json_get_int(raw, counts[i], &count) && count >= 0 && !pg_add_s64_overflow(sum, count, &more))
		{
			sum = more;
			counted = true;
		}
	if (counted)
		json_put(message, path, json_of_int(sum));
}

/*
 * Fills in what the message still lacks: the sender, and the tokens that were
 * used.  The ID of the API replaces the one in the message, because models
 * choose the same one again.
 */
static void
model_complete(const ModelFamily *family, const Json *raw, Json *message)
{
	static const char *const models[] = {"/model", "/modelVersion", "/model_version"};
	static const char *const ids[] = {"/id", "/responseId", "/response_id"};
	/* prompt_tokens includes cached tokens, also where these are counted beside it */
	static const char *const prompt[] = {"/usage/prompt_tokens"};
	static const char *const input[] = {
		"/usage/input_tokens", "/usage/cache_creation_input_tokens", "/usage/cache_read_input_tokens",
		"/usageMetadata/promptTokenCount", "/usageMetadata/toolUsePromptTokenCount",
		"/usage_metadata/prompt_token_count", "/usage_metadata/tool_use_prompt_token_count"
	};
	static const char *const output[] = {
		"/usage/output_tokens", "/usage/completion_tokens",
		"/usageMetadata/candidatesTokenCount", "/usageMetadata/thoughtsTokenCount",
		"/usage_metadata/candidates_token_count", "/usage_metadata/thoughts_token_count"
	};
	const char *const agent[][2] = {{"/agent/id", family->agent}, {"/agent/name", family->display}, {"/agent/model", family->model}};

	if (!model_is_message(raw))
	{
		for (int i = 0; i < lengthof(models); i++)
			if (json_get(message, "/agent/model") == NULL)
				json_put(message, "/agent/model", json_get_kind(raw, models[i], JSON_TEXT));
		for (int i = 0; i < lengthof(ids); i++)
			if (json_has_text(raw, ids[i]))
				json_put(message, "/trace/id", json_get(raw, ids[i]));
		if (json_get_kind(raw, prompt[0], JSON_NUMBER) != NULL)
			model_put_tokens(raw, message, "/trace/cost/input_tokens", prompt, lengthof(prompt));
		else
			model_put_tokens(raw, message, "/trace/cost/input_tokens", input, lengthof(input));
		model_put_tokens(raw, message, "/trace/cost/output_tokens", output, lengthof(output));
	}
	for (int i = 0; i < lengthof(agent); i++)
		if (json_get(message, agent[i][0]) == NULL)
			json_put_cstring(message, agent[i][0], agent[i][1]);
}

Json *
model_message(const ModelFamily *family, const Json *raw, Json **dropped)
{
	ModelAnswer answer = {.texts = json_new_array(), .calls = json_new_array()};
	Json	   *message;

	if (json_is(raw, JSON_TEXT))
		model_take_text(&answer, raw->text);
	else
		family->read(raw, &answer);
	model_join_texts(&answer);
	*dropped = answer.dropped;
	message = model_own_message(raw, &answer);
	if (message == NULL && answer.text.len == 0 && answer.calls->n == 0)
		return NULL;
	if (message == NULL)
		message = model_new_message(family, &answer);
	model_complete(family, raw, message);
	return message;
}
