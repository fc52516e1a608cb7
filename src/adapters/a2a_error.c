/*-------------------------------------------------------------------------
 *
 * a2a_error.c
 *	  The Agent2Agent protocol: errors.
 *
 * An error is {code, message, data} in JSON-RPC and {code, status, message,
 * details} in the REST binding, where the code is the HTTP status.  data and
 * details are lists, in which version 1.0 has an ErrorInfo that names the
 * error.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/a2a_part.h"

#include "settings.h"

#define DOMAIN			"a2a-protocol.org"
#define ERROR_INFO		"type.googleapis.com/google.rpc.ErrorInfo"
#define NUMBER_CODE		"A2A_"	/* followed by the number of an error that has
								 * no name */
#define INTERNAL_NUMBER	(-32603)
#define INTERNAL_STATUS	500
#define FIRST_NUMBER	(-32009)	/* the numbers that only A2A uses */
#define LAST_NUMBER		(-32001)
#define FAILED			"The request failed."

typedef struct A2aCode
{
	int			number;
	int			http;
	const char *code;
	const char *reason;			/* name in an ErrorInfo; NULL if it equals the
								 * code */
} A2aCode;

/*
 * If several codes share a number, reading the number gives the first of them.
 */
static const A2aCode a2a_codes[] = {
	{-32700, 400, "PARSE_ERROR", NULL},
	{-32600, 400, "INVALID_REQUEST", NULL},
	{-32601, 404, "METHOD_NOT_FOUND", NULL},
	{-32602, 400, "INVALID_PARAMS", NULL},
	{-32603, 500, "INTERNAL", NULL},
	{-32001, 404, "TASK_NOT_FOUND", NULL},
	{-32002, 400, "TASK_NOT_CANCELABLE", NULL},
	{-32003, 400, "PUSH_NOTIFICATION_NOT_SUPPORTED", NULL},
	{-32004, 400, "UNSUPPORTED", "UNSUPPORTED_OPERATION"},
	{-32005, 400, "CONTENT_TYPE", "CONTENT_TYPE_NOT_SUPPORTED"},
	{-32006, 500, "INVALID_AGENT_RESPONSE", NULL},
	{-32007, 400, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", NULL},
	{-32008, 400, "EXTENSION_SUPPORT_REQUIRED", NULL},
	{-32009, 400, "VERSION", "VERSION_NOT_SUPPORTED"},
	{-32602, 400, "SCHEMA_VIOLATION", NULL},
	{-32602, 400, "AGENT_NOT_FOUND", NULL},
	{-32602, 400, "DUPLICATE_CONFLICT", NULL},
	{-32004, 400, "TASK_TERMINAL", NULL},
};

/* Returns NULL if the protocol has no such code. */
static const A2aCode *
a2a_code_of(Slice code)
{
	for (int i = 0; i < lengthof(a2a_codes); i++)
		if (slice_is(code, a2a_codes[i].code))
			return &a2a_codes[i];
	return NULL;
}

static const char *
a2a_reason_of(const A2aCode *code)
{
	return code->reason != NULL ? code->reason : code->code;
}

/* ----------------------------------------------------------------- ErrorInfo */

static const char *
a2a_details_place(bool is_call)
{
	return is_call ? "/data" : "/details";
}

/*
 * Returns the index of the ErrorInfo in the details, or -1 if there is none.
 */
static int
a2a_info_place(const Json *details)
{
	for (int i = 0; json_is(details, JSON_ARRAY) && i < details->n; i++)
		if (json_says(details->items[i], "/@type", ERROR_INFO))
			return i;
	return -1;
}

bool
a2a_is_error(const Json *error, bool is_call)
{
	const Json *details = json_get(error, a2a_details_place(is_call));
	int			at = a2a_info_place(details);
	int64		number;

	if (at >= 0)
		return json_says(details->items[at], "/domain", DOMAIN);
	return is_call && json_get_int(error, "/code", &number) && number >= FIRST_NUMBER && number <= LAST_NUMBER &&
		!json_is(details, JSON_OBJECT);
}

/* ------------------------------------------------------------------- inbound */

static Slice
a2a_code_of_number(int64 number)
{
	for (int i = 0; i < lengthof(a2a_codes); i++)
		if (a2a_codes[i].number == number)
			return slice_of_cstring(a2a_codes[i].code);
	return slice_of_cstring(psprintf(NUMBER_CODE INT64_FORMAT, number));
}

/*
 * Returns our code for an error.  JSON-RPC identifies an error by its number,
 * the REST binding only by an ErrorInfo.
 */
static Slice
a2a_read_code(const Adapter *self, const Json *error, bool is_call)
{
	const Json *details = json_get(error, a2a_details_place(is_call));
	int			at = is_call ? -1 : a2a_info_place(details);
	Slice		reason = at >= 0 ? json_get_text(details->items[at], "/reason") : SLICE_NONE;
	int64		number;

	for (int i = 0; i < lengthof(a2a_codes); i++)
		if (slice_is(reason, a2a_reason_of(&a2a_codes[i])))
			return slice_of_cstring(a2a_codes[i].code);
	if (reason.len > 0 && reason.len <= clutch_limits.max_id_bytes && identifier_find_control(reason) < 0)
		return reason;
	if (!json_get_int(error, "/code", &number) || number < -PG_INT32_MAX || number > PG_INT32_MAX)
		adapter_fault(self, "/code", "WRONG_TYPE", "it must be a whole number");
	return a2a_code_of_number(number);
}

/*
 * Makes an envelope from an error.  If the context names a task, the error
 * means that the request for this task has failed.
 */
Json *
a2a_read_error(const Adapter *self, const Json *error, bool is_call, const Json *context)
{
	bool		is_task = adapter_member(context, "/task_id") != NULL;
	Json	   *envelope = adapter_envelope(is_task ? MSG_TASK_ERROR : MSG_CHAT_SYSTEM);
	const Json *message = adapter_find(self, error, "/message", JSON_TEXT);
	bool		is_said = message != NULL && message->text.len > 0;

	if (!is_task)
		json_put_cstring(envelope, "/payload_type", A2A_METHOD_TYPE "error");
	json_put_text(envelope, "/payload/code", a2a_read_code(self, error, is_call));
	json_put_text(envelope, "/payload/message", is_said ? message->text : SLICE_OF(FAILED));
	if (!is_said)
		adapter_note(self, envelope, "/unsaid", json_of_bool(true));
	json_put(envelope, "/payload/retryable", json_of_bool(false));
	json_put(envelope, "/payload/details/data", adapter_member(error, a2a_details_place(is_call)));
	return envelope;
}

/* ------------------------------------------------------------------ outbound */

/*
 * Finds the number that stands for the code in JSON-RPC.  Returns false if
 * there is none.
 */
static bool
a2a_number_of(Slice text, int64 *number)
{
	const A2aCode *code = a2a_code_of(text);
	int			prefix = strlen(NUMBER_CODE);

	*number = code != NULL ? code->number : INTERNAL_NUMBER;
	if (code != NULL || !slice_present(text) || !slice_starts(text, SLICE_OF(NUMBER_CODE)) || text.len - prefix > 18)
		return code != NULL;
	*number = strtoll(slice_cstring(text) + prefix, NULL, 10);
	if (slice_equal(a2a_code_of_number(*number), text))
		return true;
	*number = INTERNAL_NUMBER;
	return false;
}

/*
 * Returns the details with the code in their ErrorInfo, which is added if the
 * caller needs one and there is none.
 */
static Json *
a2a_write_details(Json *noted, Slice text, bool is_needed)
{
	Json	   *details = json_is(noted, JSON_ARRAY) ? json_copy(noted) : json_new_array();
	const A2aCode *code = a2a_code_of(text);
	int			at = a2a_info_place(details);

	if (at < 0 && (!is_needed || (noted != NULL && noted->kind != JSON_ARRAY)))
		return noted;
	if (at < 0)
	{
		json_add(details, json_new_object());
		at = details->n - 1;
		json_put_cstring(details->items[at], "/@type", ERROR_INFO);
		json_put_cstring(details->items[at], "/domain", DOMAIN);
	}
	json_put_text(details->items[at], "/reason", code != NULL ? slice_of_cstring(a2a_reason_of(code)) : text);
	return details;
}

Json *
a2a_write_error(const Adapter *self, const Json *envelope, bool is_call)
{
	Json	   *error = json_new_object();
	Slice		text = json_get_text(envelope, "/payload/code");
	const A2aCode *code = a2a_code_of(text);
	Json	   *details = adapter_member(envelope, "/payload/details/data");
	int64		number;
	bool		has_number = a2a_number_of(text, &number);

	if (!is_call)
		number = code != NULL ? code->http : has_number ? number : INTERNAL_STATUS;
	json_put(error, "/code", json_of_int(number));
	if (!json_is_true(adapter_noted(self, envelope, ""), "/unsaid") || !json_says(envelope, "/payload/message", FAILED))
		json_put(error, "/message", json_get(envelope, "/payload/message"));
	if (slice_present(text))
		details = a2a_write_details(details, text, !is_call || !has_number);
	json_put(error, a2a_details_place(is_call), details);
	return error;
}

const char *
a2a_error_carrier(const Json *raw, const A2aDocument *d, AdapterCarrierForm *form)
{
	const char *details = psprintf("%s%s", d->at, a2a_details_place(d->is_call));
	int			info = a2a_info_place(json_get(raw, details));

	if (info < 0)
		return d->is_old && d->is_call ? psprintf("%s/metadata/clutch", d->at) : NULL;
	*form = CARRIER_TEXT;
	return psprintf("%s/%d/metadata/clutch", details, info);
}
