/*-------------------------------------------------------------------------
 *
 * a2a_rest.c
 *	  The Agent2Agent protocol: the REST binding of version 0.3.
 *
 * Its messages and states are almost those of version 1.0, but the parts of a
 * message are in "content", the data of a part are {"data": ..}, a file is
 * {"file": {"fileWithUri", ..}}, and a state is CANCELLED.  Such a document is
 * converted to version 1.0 before it is read, and back after it has been
 * written.  The note "old_rest" marks it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/a2a_part.h"

/* the paths at which a body may have a message, a state or an artifact */
static const char *const a2a_message_places[] = {
	"", "/message", "/status/message", "/task/status/message", "/statusUpdate/status/message", NULL
};
static const char *const a2a_state_places[] = {"/status/state", "/task/status/state", "/statusUpdate/status/state", NULL};
static const char *const a2a_artifact_places[] = {"/artifacts", "/task/artifacts", NULL};

#define UPDATED_ARTIFACT	"/artifactUpdate/artifact"
#define CANCELED			"TASK_STATE_CANCELED"
#define OLD_CANCELED		"TASK_STATE_CANCELLED"

/* ------------------------------------------------------------------- parts */

static Json *
a2a_rest_part_in(const Json *part)
{
	Json	   *made = json_copy(part);
	const Json *data = json_get_kind(part, "/data", JSON_OBJECT);

	if (json_get_kind(part, "/file", JSON_OBJECT) != NULL)
	{
		json_put(made, "/raw", json_take(made, "/file/fileWithBytes"));
		json_put(made, "/url", json_take(made, "/file/fileWithUri"));
		json_put(made, "/filename", json_take(made, "/file/name"));
		json_put(made, "/mediaType", json_take(made, "/file/mimeType"));
		if (json_get(made, "/file")->n == 0)
			json_take(made, "/file");
	}
	else if (data != NULL && data->n == 1 && json_get(data, "/data") != NULL)
		json_put(made, "/data", json_get(made, "/data/data"));
	return made;
}

static Json *
a2a_rest_part_out(const Json *part)
{
	Json	   *made = json_copy(part);
	Json	   *data = json_get(made, "/data");

	if (json_get(part, "/raw") != NULL || json_get(part, "/url") != NULL)
	{
		json_put(made, "/file/fileWithBytes", json_take(made, "/raw"));
		json_put(made, "/file/fileWithUri", json_take(made, "/url"));
		json_put(made, "/file/name", json_take(made, "/filename"));
		json_put(made, "/file/mimeType", json_take(made, "/mediaType"));
	}
	else if (data != NULL)
	{
		json_put(made, "/data", json_new_object());
		json_put(made, "/data/data", data);
	}
	return made;
}

/*
 * Converts the parts in the member "from" of an object, and renames that
 * member to "to".
 */
static void
a2a_rest_parts(Json *object, const char *from, const char *to, Json *(*convert) (const Json *part))
{
	const Json *parts = json_get_kind(object, from, JSON_ARRAY);
	Json	   *made = json_new_array();

	for (int i = 0; parts != NULL && i < parts->n; i++)
		json_add(made, convert(parts->items[i]));
	if (parts == NULL)
		return;
	json_take(object, from);
	json_put(object, to, made);
}

static void
a2a_rest_artifacts(Json *raw, Json *(*convert) (const Json *part))
{
	for (const char *const *place = a2a_artifact_places; *place != NULL; place++)
	{
		Json	   *artifacts = json_get_kind(raw, *place, JSON_ARRAY);

		for (int i = 0; artifacts != NULL && i < artifacts->n; i++)
			a2a_rest_parts(artifacts->items[i], "/parts", "/parts", convert);
	}
	if (json_get(raw, UPDATED_ARTIFACT) != NULL)
		a2a_rest_parts(json_get(raw, UPDATED_ARTIFACT), "/parts", "/parts", convert);
}

/* ---------------------------------------------------------------- the test */

static bool
a2a_rest_has_file(const Json *artifact)
{
	const Json *parts = json_get_kind(artifact, "/parts", JSON_ARRAY);

	for (int i = 0; parts != NULL && i < parts->n; i++)
		if (json_get_kind(parts->items[i], "/file", JSON_OBJECT) != NULL && json_get(parts->items[i], "/kind") == NULL)
			return true;
	return false;
}

bool
a2a_is_old_rest(const Json *raw)
{
	bool		is_old = json_get(raw, "/statusUpdate/final") != NULL || json_get(raw, "/task/history/0/content") != NULL ||
		json_get(raw, "/history/0/content") != NULL || a2a_rest_has_file(json_get(raw, UPDATED_ARTIFACT));

	for (const char *const *place = a2a_message_places; *place != NULL; place++)
		is_old = is_old || json_get_kind(json_get(raw, *place), "/content", JSON_ARRAY) != NULL;
	for (const char *const *place = a2a_state_places; *place != NULL; place++)
		is_old = is_old || json_says(raw, *place, OLD_CANCELED);
	for (const char *const *place = a2a_artifact_places; *place != NULL; place++)
	{
		const Json *artifacts = json_get_kind(raw, *place, JSON_ARRAY);

		for (int i = 0; artifacts != NULL && i < artifacts->n; i++)
			is_old = is_old || a2a_rest_has_file(artifacts->items[i]);
	}
	return is_old;
}

/* --------------------------------------------------------------- both ways */

Json *
a2a_of_old_rest(const Json *raw)
{
	Json	   *made = json_copy(raw);

	for (const char *const *place = a2a_message_places; *place != NULL; place++)
	{
		Json	   *message = json_get_kind(made, *place, JSON_OBJECT);

		if (message != NULL && json_get(message, "/parts") == NULL)
			a2a_rest_parts(message, "/content", "/parts", a2a_rest_part_in);
	}
	for (const char *const *place = a2a_state_places; *place != NULL; place++)
		if (json_says(made, *place, OLD_CANCELED))
			json_put_cstring(made, *place, CANCELED);
	a2a_rest_artifacts(made, a2a_rest_part_in);
	return made;
}

/* Is the event the last of its stream? */
static bool
a2a_rest_is_final(const Json *raw)
{
	static const char *const others[] = {"TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_UNSPECIFIED", NULL};

	for (const char *const *state = others; *state != NULL; state++)
		if (json_says(raw, "/statusUpdate/status/state", *state))
			return false;
	return json_get(raw, "/statusUpdate") != NULL;
}

Json *
a2a_to_old_rest(const Json *raw)
{
	Json	   *made = json_copy(raw);

	for (const char *const *place = a2a_message_places; *place != NULL; place++)
		if (json_get_kind(made, *place, JSON_OBJECT) != NULL)
			a2a_rest_parts(json_get(made, *place), "/parts", "/content", a2a_rest_part_out);
	for (const char *const *place = a2a_state_places; *place != NULL; place++)
		if (json_says(made, *place, CANCELED))
			json_put_cstring(made, *place, OLD_CANCELED);
	if (a2a_rest_is_final(made))
		json_put(made, "/statusUpdate/final", json_of_bool(true));
	a2a_rest_artifacts(made, a2a_rest_part_out);
	return made;
}
