/*-------------------------------------------------------------------------
 *
 * map.c
 *	  Messages of the Multi-Agent Protocol (spec 004).
 *
 * Notes:
 *
 *	frame		"message" or "send": the message came in JSON-RPC, with this
 *				method
 *	stamped		where its time was: "top", "meta" or "both"
 *	form, to	see map_address.c
 *	expects		true if the message expects responses from everybody
 *	correlation_id	that of a message for which the context named the task
 *	relationship, delivery, protocol	members of its meta
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/map_part.h"

#include "base/clock.h"
#include "datatype/timestamp.h"
#include "utils/fmgrprotos.h"

#define METHOD_MESSAGE	"map/message"
#define METHOD_SEND		"map/send"

/*
 * followed by a number: code of an error whose code is a number in the
 * document
 */
#define CODE_PREFIX		"MAP_"

/* difference between the epochs of Unix and PostgreSQL, in ms */
#define EPOCH_MS		((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (SECS_PER_DAY * INT64CONST(1000)))

/* limits of times: the years 0001 to 9999 */
#define LEAST_MS		INT64CONST(-62135596800000)
#define MOST_MS			INT64CONST(253402300799999)

/* members that are always translated */
static const AdapterRow map_rows[] = {
	{ROW_NATIVE, "/id", "id"},
	{ROW_VALUE, "/meta/relationship", "/meta/map/relationship"},
	{ROW_VALUE, "/meta/delivery", "/meta/map/delivery"},
	{ROW_VALUE, "/meta/protocol", "/meta/map/protocol"},
	{ROW_VALUE, NULL, NULL}
};

/* the index of a word is the priority */
static const char *const map_priorities[] = {NULL, "low", "normal", "high", "urgent"};

/* -------------------------------------------------------------------- frames */

/* Returns the path of the message in the document. */
static const char *
map_frame(const Json *raw)
{
	if (json_get(raw, "/jsonrpc") == NULL)
		return "";
	return json_says(raw, "/method", METHOD_SEND) ? "/params" : "/params/message";
}

static bool
map_was_sent(const Adapter *self, const Json *envelope)
{
	return json_says(adapter_noted(self, envelope, "/frame"), "", "send");
}

static Json *
map_framed(const Adapter *self, const Json *envelope, Json *message)
{
	Json	   *raw = json_new_object();
	bool		sent = map_was_sent(self, envelope);

	if (adapter_noted(self, envelope, "/frame") == NULL)
		return message;
	json_put_cstring(raw, "/jsonrpc", "2.0");
	json_put_cstring(raw, "/method", sent ? METHOD_SEND : METHOD_MESSAGE);
	json_put(raw, sent ? "/params" : "/params/message", message);
	return raw;
}

/* ---------------------------------------------------------------------- time */

static void
map_read_time(const Adapter *self, const Json *message, Json *envelope)
{
	const Json *top = adapter_find(self, message, "/timestamp", JSON_NUMBER);
	const Json *meta = adapter_find(self, message, "/meta/timestamp", JSON_NUMBER);
	int64		ms;

	if (top == NULL && meta == NULL)
		return;
	if (!json_get_int(top != NULL ? top : meta, "", &ms) || ms < LEAST_MS || ms > MOST_MS)
		adapter_fault(self, top != NULL ? "/timestamp" : "/meta/timestamp", "NUMBER_OUT_OF_RANGE",
					  "it must be a number of milliseconds since 1970");
	json_put_cstring(envelope, "/ts", clock_rfc3339((ms - EPOCH_MS) * 1000));
	adapter_note(self, envelope, "/stamped",
				 json_of_cstring(top == NULL ? "meta" : meta == NULL ? "top" : "both"));
}

static void
map_write_time(const Adapter *self, const Json *envelope, Json *message)
{
	Slice		stamped = json_get_text(adapter_noted(self, envelope, "/stamped"), "");
	bool		everywhere = !adapter_was_foreign(self, envelope);
	TimestampTz t;
	int64		ms;

	if ((!slice_present(stamped) && !everywhere) || !clock_parse_rfc3339(json_get_text(envelope, "/ts"), &t))
		return;
	/* rounded down, also for times before 2000, which are negative */
	ms = (t >= 0 ? t / 1000 : -((-t + 999) / 1000)) + EPOCH_MS;
	if (ms < LEAST_MS || ms > MOST_MS)
		return;
	if (everywhere || !slice_is(stamped, "meta"))
		json_put(message, "/timestamp", json_of_int(ms));
	if (everywhere || !slice_is(stamped, "top"))
		json_put(message, "/meta/timestamp", json_of_int(ms));
}

/* -------------------------------------------------------------------- orders */

static void
map_read_orders(const Adapter *self, const Json *message, Json *envelope)
{
	const Json *word = adapter_find(self, message, "/meta/priority", JSON_TEXT);

	for (int i = 1; word != NULL && i < lengthof(map_priorities); i++)
		if (slice_is(word->text, map_priorities[i]))
			json_put(envelope, "/meta/clutch/priority", json_of_int(i));
	json_put(envelope, "/meta/clutch/ttl_ms", adapter_find_ttl(self, message, "/meta/ttlMs"));
}

static void
map_write_orders(const Json *envelope, Json *message)
{
	int64		priority;

	if (json_get_int(envelope, "/meta/clutch/priority", &priority))
		json_put_cstring(message, "/meta/priority", map_priorities[Min(Max(priority, 1), 4)]);
	json_put(message, "/meta/ttlMs", json_get(envelope, "/meta/clutch/ttl_ms"));
}

/* ---------------------------------------------------------- type and payload */

static bool
map_is_missing_or(const Json *payload, const char *path, JsonKind kind)
{
	return json_get(payload, path) == NULL || json_get_kind(payload, path, kind) != NULL;
}

/*
 * Is it {code, message, ..}, with a code that is a word or a whole number?  The
 * result of a task may have these names and mean something else by them, so
 * "retryable" and "details" must be what they are in an error, too.
 */
static bool
map_is_error(const Json *payload)
{
	Slice		message = json_get_text(payload, "/message");
	const Json *code = json_get(payload, "/code");
	int64		number;

	return json_is(payload, JSON_OBJECT) && slice_present(message) && message.len > 0 && code != NULL &&
		(identifier_is_valid(ID_WORD, json_get_text(payload, "/code")) || json_get_int(code, "", &number)) &&
		map_is_missing_or(payload, "/retryable", JSON_BOOL) && map_is_missing_or(payload, "/details", JSON_OBJECT);
}

static MessageType
map_read_type(const Adapter *self, const Json *message, const Json *envelope)
{
	const Json *result = adapter_find(self, message, "/meta/isResult", JSON_BOOL);
	const Json *expects = adapter_find(self, message, "/meta/expectsResponse", JSON_BOOL);

	if (result != NULL && result->boolean)
		return map_is_error(json_get(message, "/payload")) ? MSG_TASK_ERROR : MSG_TASK_RESULT;
	return expects != NULL && expects->boolean && map_can_work(envelope) ? MSG_TASK_REQUEST : MSG_CHAT_MESSAGE;
}

/*
 * Returns the payload of an error.  A numeric code becomes CODE_PREFIX
 * followed by the number.
 */
static Json *
map_read_error(const Json *message)
{
	Json	   *payload = json_copy(json_get(message, "/payload"));
	int64		number;

	if (json_get_int(payload, "/code", &number))
		json_put_cstring(payload, "/code", psprintf(CODE_PREFIX INT64_FORMAT, number));
	return payload;
}

/* Returns the payload for the message.  Such a code becomes a number again. */
static Json *
map_payload_of(const Adapter *self, const Json *envelope)
{
	Json	   *payload = adapter_payload(self, envelope);
	Slice		code = json_get_text(payload, "/code");
	char	   *digits;
	char	   *end;
	int64		number;

	if (adapter_type(envelope) != MSG_TASK_ERROR || !adapter_was_foreign(self, envelope) ||
		!slice_starts(code, SLICE_OF(CODE_PREFIX)))
		return payload;
	digits = slice_cstring(code) + strlen(CODE_PREFIX);
	errno = 0;
	number = strtoll(digits, &end, 10);
	if (errno != 0 || *end != '\0' || strcmp(digits, psprintf(INT64_FORMAT, number)) != 0)
		return payload;
	payload = json_copy(payload);
	json_put(payload, "/code", json_of_int(number));
	return payload;
}

/* -------------------------------------------------------------------- inbound */

/*
 * Reads the task.  The correlation ID stands for it.  A response to a request
 * without one has the ID of the request instead.  Whoever responds has the
 * correlation ID from the requester, and only the context can say which task
 * that is here.
 */
static void
map_read_task(const Adapter *self, const Json *message, const Json *context, Json *envelope)
{
	Json	   *correlation = adapter_find_name(self, message, "/meta/correlationId");
	bool		is_request = adapter_type(envelope) == MSG_TASK_REQUEST;

	if (correlation == NULL && is_request)
		correlation = adapter_member(message, "/id");
	if (is_request || adapter_member(context, "/task_id") == NULL)
		adapter_note_native(self, envelope, "task_id", correlation);
	else if (correlation != NULL)
		adapter_note(self, envelope, "/correlation_id", correlation);
	if (json_has_text(message, "/to/scope"))
		adapter_note_native(self, envelope, "thread_id", json_get(message, "/to/scope"));
}

static List *
map_inbound(const Adapter *self, const Json *raw, const Json *context)
{
	const char *frame = map_frame(raw);
	const Json *message = json_get(raw, frame);
	bool		sent = strcmp(frame, "/params") == 0;
	const Adapter *within = adapter_within(self, frame);
	Json	   *envelope = json_new_object();
	MessageType type;

	if (frame[0] != '\0')
		adapter_note(self, envelope, "/frame", json_of_cstring(sent ? "send" : "message"));
	(void) adapter_find(within, message, "/meta", JSON_OBJECT);
	map_read_address(within, message, envelope);
	type = map_read_type(within, message, envelope);
	json_put_cstring(envelope, "/type", message_type_name(type));
	if (type == MSG_CHAT_MESSAGE && json_is_true(message, "/meta/expectsResponse"))
		adapter_note(self, envelope, "/expects", json_of_bool(true));
	if (!sent)
	{
		(void) adapter_require_word(within, message, "/id");
		(void) adapter_require_word(within, message, "/from");
		json_put_text(envelope, "/from/agent_id", adapter_find_agent(within, message, "/from"));
	}
	adapter_rows_inbound(within, map_rows, message, envelope);
	map_read_task(within, message, context, envelope);
	map_read_time(within, message, envelope);
	map_read_orders(within, message, envelope);
	adapter_put_payload(within, envelope, type == MSG_TASK_ERROR ? map_read_error(message) :
						adapter_member(message, "/payload"));
	return list_make1(envelope);
}

/* ------------------------------------------------------------------ outbound */

static void
map_write_type(const Adapter *self, const Json *envelope, Json *message)
{
	MessageType type = adapter_type(envelope);
	bool		expects = json_is_true(adapter_noted(self, envelope, "/expects"), "");

	if (type == MSG_TASK_RESULT || type == MSG_TASK_ERROR || type == MSG_TASK_TIMEOUT)
		json_put(message, "/meta/isResult", json_of_bool(true));
	if (type == MSG_TASK_REQUEST || (type == MSG_CHAT_MESSAGE && expects))
		json_put(message, "/meta/expectsResponse", json_of_bool(true));
}

static Json *
map_outbound(const Adapter *self, const Json *envelope)
{
	Json	   *message = json_new_object();
	Json	   *correlation = adapter_noted(self, envelope, "/correlation_id");
	Json	   *task = correlation != NULL ? correlation : adapter_native(self, envelope, "task_id");

	adapter_rows_outbound(self, map_rows, envelope, message);
	if (!map_was_sent(self, envelope))
		json_put_text(message, "/from", adapter_agent_name(json_get_text(envelope, "/from/agent_id")));
	json_put(message, "/to", map_address_of(self, envelope));
	map_write_time(self, envelope, message);
	map_write_type(self, envelope, message);
	map_write_orders(envelope, message);
	if (adapter_type(envelope) != MSG_TASK_REQUEST || !adapter_was_foreign(self, envelope) ||
		!json_equal(task, adapter_native(self, envelope, "id")))
		json_put(message, "/meta/correlationId", task);
	json_put(message, "/payload", map_payload_of(self, envelope));
	return map_framed(self, envelope, message);
}

/* ------------------------------------------------------------------ the test */

static const char *
map_declines(const Adapter *self, const Json *raw)
{
	const Json *to = json_get(raw, "/to");

	if (!json_is(raw, JSON_OBJECT))
		return "it is not an object";
	if (json_get(raw, "/jsonrpc") != NULL)
	{
		if (!json_says(raw, "/jsonrpc", "2.0"))
			return "its jsonrpc is not \"2.0\"";
		if (!json_says(raw, "/method", METHOD_SEND) && !json_says(raw, "/method", METHOD_MESSAGE))
			return "its method is neither \"" METHOD_MESSAGE "\" nor \"" METHOD_SEND "\"";
		return json_get_kind(raw, map_frame(raw), JSON_OBJECT) != NULL ? NULL : "its params have no message";
	}
	if (!json_has_text(raw, "/id") || !json_has_text(raw, "/from"))
		return "it has no member \"jsonrpc\", nor the members \"id\" and \"from\"";
	if (!json_is(to, JSON_TEXT) && !json_is(to, JSON_OBJECT))
		return "its member \"to\" is not an address";
	return json_get(raw, "/payload") != NULL || json_get(raw, "/meta") != NULL || json_get_kind(raw, "/timestamp", JSON_NUMBER) != NULL ? NULL :
		"it has neither payload nor meta nor a number as timestamp";
}

/*
 * A call only sends its message.  What answers the message is another message,
 * and not the response to the call.
 */
static bool
map_is_call(const Adapter *self, const Json *request, const Json *asked)
{
	return false;
}

/* The messages of one exchange have the same correlationId. */
static void
map_names_request(const Adapter *self, const Json *request, const Json *asked, Json *document)
{
	Json	   *task = adapter_noted(self, request, "/native/task_id");

	json_put(document, psprintf("%s/meta/correlationId", map_frame(document)), task != NULL ? task : json_get(request, "/task_id"));
}

const Adapter map_adapter = {
	.name = "map",
	.carrier = "/meta/_meta/clutch",
	.declines = map_declines,
	.inbound = map_inbound,
	.outbound = map_outbound,
	.is_call = map_is_call,
	.names_request = map_names_request,
};
