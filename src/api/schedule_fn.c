/*-------------------------------------------------------------------------
 *
 * schedule_fn.c
 *	  clutch.send_at, clutch.schedule and clutch.unschedule.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "base/document.h"
#include "flow/schedule.h"
#include "flow/ticker.h"
#include "flow/restored.h"
#include "protocol/problem.h"
#include "store/event.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(clutch_send_at);
PG_FUNCTION_INFO_V1(clutch_schedule);
PG_FUNCTION_INFO_V1(clutch_unschedule);

/*
 * Gets an object.  Returns false if the key has a value that is not an object.
 * *value may be NULL.
 */
static bool
send_at_get_object(JsonbContainer *object, const char *key, JsonbContainer **value)
{
	JsonbValue	given;

	*value = NULL;
	if (!document_get(object, key, &given) || given.type == jbvNull)
		return true;
	*value = document_get_container(object, key);
	return *value != NULL && JsonContainerIsObject(*value);
}

/*
 * Returns the envelope with meta.clutch.not_before set.  If its meta is not an
 * object, the envelope is returned unchanged, and will be refused for that.
 */
static Jsonb *
send_at_envelope(Jsonb *document, TimestampTz at)
{
	JsonbContainer *envelope = &document->root;
	JsonbContainer *meta;
	JsonbContainer *orders;
	DocumentBuilder b;

	if (!send_at_get_object(envelope, "meta", &meta) || !send_at_get_object(meta, "clutch", &orders))
		return document;
	document_begin(&b);
	document_put_pairs(&b, envelope, "meta");
	document_open_object(&b, "meta");
	if (meta != NULL)
		document_put_pairs(&b, meta, "clutch");
	document_open_object(&b, "clutch");
	if (orders != NULL)
		document_put_pairs(&b, orders, "not_before");
	document_put_timestamp(&b, "not_before", at);
	document_close_object(&b);
	document_close_object(&b);
	return document_end(&b);
}

Datum
clutch_send_at(PG_FUNCTION_ARGS)
{
	Jsonb	   *envelope = argument_jsonb(fcinfo, 0, "envelope");
	TimestampTz at;
	Receipt		receipt;

	if (argument_is_null(fcinfo, 1) || TIMESTAMP_NOT_FINITE(PG_GETARG_TIMESTAMPTZ(1)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("at", "WRONG_VALUE"),
				 errmsg("argument \"at\" must not be null or infinite")));
	at = PG_GETARG_TIMESTAMPTZ(1);
	if (JB_ROOT_IS_OBJECT(envelope) &&
		!slice_equal(document_get_text(&envelope->root, "type"), SLICE_OF("task.request")))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("/type", "WRONG_VALUE"),
				 errmsg("only a task.request can be sent for a later time"),
				 errhint("Use clutch.schedule to send an envelope of another type.")));
	if (JB_ROOT_IS_OBJECT(envelope))
		envelope = send_at_envelope(envelope, at);
	receipt = event_send(envelope);
	ticker_warn(_("The request is routed at its time only if something ticks then, or an idle agent claims."));
	return result_receipt(fcinfo, receipt);
}

Datum
clutch_schedule(PG_FUNCTION_ARGS)
{
	Slice		timezone = argument_optional_text(fcinfo, 3);
	TimestampTz first;

	/*
	 * start an epoch if there is none, because the worker ticks only in
	 * databases that have one
	 */
	(void) restored_epoch();
	first = schedule_put(argument_name(fcinfo, 0, "name", SCHEDULE_NAME_BYTES),
						 argument_name(fcinfo, 1, "cron", SCHEDULE_CRON_BYTES),
						 argument_jsonb(fcinfo, 2, "envelope"),
						 slice_present(timezone) ? timezone : SLICE_OF("UTC"));
	ticker_warn(_("No schedule is sent before something ticks."));
	PG_RETURN_TIMESTAMPTZ(first);
}

Datum
clutch_unschedule(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(schedule_drop(argument_text(fcinfo, 0, "name")));
}
