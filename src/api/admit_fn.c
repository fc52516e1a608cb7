/*-------------------------------------------------------------------------
 *
 * admit_fn.c
 *	  The door: what happens to an envelope between the INSERT and the row.
 *
 * admit_envelope() shows the whole sequence, one step per line; the comments
 * below number the main steps.  It runs in a BEFORE ROW trigger, and there is
 * no other trigger: state is changed before the row is written, so that each
 * row of a statement sees the effects of the rows before it
 * (docs/decisions.md).
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/admit_fn.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/rows.h"
#include "base/savepoint.h"
#include "commands/trigger.h"
#include "contract/payload_type.h"
#include "flow/answer.h"
#include "flow/attachment.h"
#include "flow/callee.h"
#include "flow/emission.h"
#include "flow/expiry.h"
#include "flow/intake.h"
#include "flow/liveness.h"
#include "flow/restored.h"
#include "flow/right.h"
#include "flow/suspend.h"
#include "flow/ticker.h"
#include "flow/tool_call.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "outbox/webhook.h"
#include "protocol/problem.h"
#include "registry/agent.h"
#include "settings.h"
#include "store/dedup.h"
#include "store/epoch.h"
#include "store/erasure.h"
#include "store/participant.h"
#include "store/scope.h"
#include "task/task.h"
#include "trust/principal.h"
#include "trust/signature.h"
#include "trust/traffic.h"
#include "utils/rel.h"
#include "wake/notify.h"

PG_FUNCTION_INFO_V1(clutch_admit);
PG_FUNCTION_INFO_V1(clutch_append_only);

/*
 * Step 1: reads the envelope, reporting all faults of the protocol at once
 * (P1).
 */
static void
read_envelope(Jsonb *document, Event *event)
{
	ProblemList *problems = problem_list();

	if (event->internal)
		envelope_read_admitted(document, &event->envelope, problems);
	else
	{
		envelope_read(document, &event->envelope, problems);
		envelope_refuse_internal(&event->envelope, problems);
	}
	if (problems->n > 0)
		problem_raise(problems, ERRCODE_CLUTCH_ENVELOPE_INVALID, "envelope");
}

/*
 * Checks the payload against its contract, if its type is always enforced
 * (spec 3).  Whoever resends an event that was admitted before that gets its
 * receipt.
 */
static bool
check_contract(Event *event)
{
	ProblemList *problems = event->internal ? NULL : payload_type_enforce(&event->envelope);

	if (problems == NULL)
		return true;
	if (!intake_was_seen(event))
		problem_raise(problems, ERRCODE_CLUTCH_CONTRACT_BROKEN, "payload");
	return false;
}

/*
 * Step 2: records when the event was received, and in which copy of the
 * database.
 */
static void
stamp(Event *event)
{
	event->received_at = clock_now();
	event->epoch = restored_epoch();
	event->attempt = event->envelope.attempt;
}

/*
 * Checks the signature.  Anybody may have kept a copy of an old envelope, so
 * the signature of an old one no longer authenticates its sender.  But whoever
 * resends it gets its receipt.
 */
static bool
check_signature(Event *event)
{
	const Envelope *envelope = &event->envelope;
	ProblemList *problems = problem_list();

	signature_check(envelope, (SignatureTime) {event->received_at, true}, problems);
	if (problems->n > 0)
		problem_raise(problems, ERRCODE_CLUTCH_SIGNATURE_REFUSED, "signature");
	if (signature_is_fresh(envelope, event->received_at) ||
		principal_speaks_for(envelope->from_agent))
		return true;
	if (!dedup_seen(event))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_SIGNATURE_REFUSED),
				 errproblem("/ts", "SIGNATURE_STALE"),
				 errmsg("the envelope was signed for a time that is more than %d seconds from now", clutch_signature_skew),
				 errhint("Sign it again with the current time as \"ts\", or have it sent by a role that speaks for the agent.")));
	return false;
}

/*
 * Raises an error if the agent must sign what has this bit in
 * clutch.signed_types.  The envelope does not have its signature.
 */
static void
check_unsigned(const Envelope *envelope, Slice agent_id, uint32 bit)
{
	if (signature_is_required(agent_id, bit))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("/security/auth", "SIGNATURE_REQUIRED"),
				 errmsg("\"%.*s\" must sign this %s of type %s", agent_id.len, agent_id.s,
						bit == SIGNED_ANSWERS ? "answer" : "envelope",
						message_type_name(envelope->type)),
				 errhint("Send an envelope with security.auth; the settings clutch.require_signature and clutch.signed_types say who must sign what.")));
}

/*
 * Step 3: checks who is speaking, and whether they may write into the run
 * (P8).  After this, from_agent can be trusted.  Returns false if the
 * signature is too old for that, but the event is in the log already.
 */
static bool
check_sender(Event *event)
{
	const Envelope *envelope = &event->envelope;

	if (event->internal)
		return true;
	if (!envelope->is_signed)
	{
		principal_require(envelope->from_agent, "/from/agent_id");
		check_unsigned(envelope, envelope->from_agent, SIGNED_TYPE(envelope->type));
	}
	else if (!check_signature(event))
		return false;
	if (envelope->type == MSG_CHAT_SYSTEM)
		principal_require_broadcast(envelope->from_agent, principal_holder(envelope->is_signed));
	right_require_sender(envelope);
	return true;
}

static void
draw_seq(Event *event)
{
	event->scope = scope_of_run(event->envelope.run_id);
	event->seq = rows_nextval(SEQUENCE_EVENT_SEQ);
}

/* Step 4 for an event that moves no task. */
static bool
take_other(Event *event)
{
	if (dedup_seen(event))
		return false;
	if (event->envelope.type == MSG_TOOL_CALL)
		tool_call_check(&event->envelope);
	draw_seq(event);
	if (event->envelope.type == MSG_TOOL_CALL)
		callee_note_tool_call(event);
	return true;
}

/* Step 4 for a chat.message that may answer a question. */
static bool
take_answer(Event *event)
{
	if (!event->envelope.is_signed)
		check_unsigned(&event->envelope, event->envelope.from_agent, SIGNED_ANSWERS);
	return answer_take(event);
}

/*
 * Checks a card: nobody else speaks for the agent, and it does not grant
 * itself capabilities.
 */
static void
check_card(const Envelope *envelope, Slice agent_id)
{
	JsonbValue	payload = envelope->payload;
	AgentCard	card;
	bool		speaks_for_itself = envelope->is_signed && slice_equal(agent_id, envelope->from_agent);

	if (!speaks_for_itself)
		principal_require(agent_id, "/payload/agent_id");
	if (!slice_equal(agent_id, envelope->from_agent))
		check_unsigned(envelope, agent_id, SIGNED_TYPE(envelope->type));
	if (envelope->type == MSG_AGENT_HEARTBEAT)
		return;
	agent_card_read(&payload, "/payload", envelope->type == MSG_AGENT_UPDATE, &card,
					problem_list());
	principal_require_card(agent_id, &card, principal_holder(speaks_for_itself));
}

/*
 * Checks a new card against the agent's current one, because what an update
 * leaves unchanged counts as well.  The agent is locked.
 */
static void
check_update(const Envelope *envelope, Slice agent_id)
{
	JsonbValue	payload = envelope->payload;
	AgentCard	current;
	AgentCard	update;
	bool		is_update = envelope->type == MSG_AGENT_UPDATE;

	if ((!is_update && envelope->type != MSG_AGENT_REGISTER) || !agent_read_card(agent_id, &current))
		return;
	agent_card_read(&payload, "/payload", is_update, &update, problem_list());
	principal_require_delegation(&current, &update);
	if (!is_update)
		return;
	principal_require_update(agent_id, &current, &update,
							 principal_holder(envelope->is_signed &&
											  slice_equal(agent_id, envelope->from_agent)));
}

/*
 * Step 4 for agent.*: changes the registry, then handles the tasks that were
 * waiting for such an agent.
 */
static bool
take_agent(Event *event)
{
	const Envelope *envelope = &event->envelope;
	Slice		agent_id = agent_of_event(envelope);

	check_card(envelope, agent_id);
	if (dedup_seen(event))
		return false;
	agent_lock(envelope);
	check_update(envelope, agent_id);
	agent_check_status(envelope);
	draw_seq(event);
	agent_apply(envelope, event->seq, event->received_at);
	liveness_follow(envelope, agent_id);
	return true;
}

/*
 * Step 4: deduplication, judgement, change of state.  Returns false if the
 * event is in the log already.
 */
static bool
take(Event *event)
{
	if (event->internal)
	{
		/*
		 * the function that appends it applies its effect, and its ID is new
		 */
		draw_seq(event);
		return true;
	}
	if (event->envelope.type == MSG_TASK_REQUEST)
		return intake_request(event);
	if (message_type_is_task(event->envelope.type))
		return intake_report(event);
	if (message_type_is_agent(event->envelope.type))
		return take_agent(event);
	if (!(answer_concerns(&event->envelope) ? take_answer(event) : take_other(event)))
		return false;
	if (!event->late)
		expiry_note(&event->envelope, event->seq);
	if (event->envelope.orders.has_deadline)
		ticker_warn(_("Whoever sent a message is told that nobody replied to it only when something ticks."));
	return true;
}

/*
 * Has the event ended a task?  A task cannot be ended twice unless the role
 * retries it, which counts as well.  An error after which the task is retried
 * ends nothing.
 */
static bool
has_ended_task(const Event *event)
{
	MessageType type = event->envelope.type;

	return !event->late &&
		(type == MSG_TASK_RESULT || type == MSG_TASK_ERROR || type == MSG_TASK_CANCEL) &&
		!task_is_open(event->envelope.task_id);
}

/*
 * Step 5: counts what the role has sent, for its quotas.  The end of a task is
 * never refused, so that no task gets stuck.
 */
static void
count_for_role(const Event *event)
{
	if (!event->internal && traffic_is_counted())
		traffic_add(VARSIZE(event->envelope.doc), event->received_at, !has_ended_task(event));
}

/* Step 6: notifies listeners and webhooks. */
void
admit_announce(const Event *event)
{
	notify_event(event);
	webhook_note(event);
}

/* The processing of an envelope, one step per line. */
bool
admit_envelope(Jsonb *document, Event *event)
{
	event_take_awaited(document, event);
	read_envelope(document, event);
	stamp(event);
	if (!check_sender(event))
		return false;
	if (!check_contract(event))
		return false;
	if (!take(event))
		return false;
	count_for_role(event);
	right_add_recipients(event);
	attachment_take(event);
	suspend_hear(event);
	emission_note(event);
	admit_announce(event);
	event_leave_receipt(event, event->seq, event->received_at, event->envelope.id, false,
						event->envelope.run_id, event->envelope.task_id, event->late);
	return true;
}

/*
 * Stamps and keeps a row that another database admitted (logical replication).
 * It is neither judged nor routed nor announced.
 */
static void
keep_replicated(Jsonb *document, Event *event)
{
	event->internal = true;
	read_envelope(document, event);
	event->received_at = clock_now();
	event->attempt = event->envelope.attempt;
	event->epoch = EPOCH_ELSEWHERE(epoch_look_to_write());
	event->scope = event->envelope.orders.scope;
	event->seq = rows_nextval(SEQUENCE_EVENT_SEQ);
	participant_add_recipients(&event->envelope, SLICE_NONE);
}

/*
 * A row that comes with its seq is an event that was admitted before and is
 * being restored from a dump.  It is kept without being judged.  Therefore
 * only the owner and superusers may insert such rows, even if another role may
 * write all columns of the table (pg_write_all_data).
 */
static void
require_restorer(void)
{
	if (!principal_may_restore())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("", "NOT_RESTORED"),
				 errmsg("role \"%s\" may not insert a row into clutch.events with seq set",
						GetUserNameFromId(GetUserId(), false)),
				 errhint("Insert the envelope alone: INSERT INTO clutch.events (envelope) VALUES ($1::jsonb). "
						 "Only the owner of the extension and superusers may restore rows.")));
}

Datum
clutch_admit(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	TupleDesc	desc;
	Event		event = {0};
	Datum		document;
	bool		isnull;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_BEFORE(trigger->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(trigger->tg_event) ||
		!TRIGGER_FIRED_BY_INSERT(trigger->tg_event) ||
		RelationGetRelid(trigger->tg_relation) != rows_table_oid(TABLE_EVENTS))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("clutch.admit is the BEFORE INSERT row trigger of clutch.events")));
	desc = RelationGetDescr(trigger->tg_relation);

	(void) heap_getattr(trigger->tg_trigtuple, Anum_event_seq, desc, &isnull);
	if (!isnull)
	{
		require_restorer();
		return PointerGetDatum(trigger->tg_trigtuple);
	}

	document = heap_getattr(trigger->tg_trigtuple, Anum_event_envelope, desc, &isnull);
	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_ENVELOPE_INVALID),
				 errproblem("", "REQUIRED"),
				 errmsg("envelope is null"),
				 errhint("INSERT INTO clutch.events (envelope) VALUES ($1::jsonb).")));
	if (SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA)
		keep_replicated(DatumGetJsonbP(document), &event);
	else if (!admit_envelope(DatumGetJsonbP(document), &event))
		return PointerGetDatum(NULL);
	savepoint_note_insert();
	return PointerGetDatum(event_form_tuple(&event, desc));
}

/*
 * Does the statement come from store/erasure, and is this one of the rows that
 * it may change?
 */
static bool
is_permitted(const TriggerData *trigger)
{
	bool		is_delete = TRIGGER_FIRED_BY_DELETE(trigger->tg_event);

	if (!is_delete && !TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
		return false;
	if (TRIGGER_FIRED_FOR_STATEMENT(trigger->tg_event))
		return erasure_permits_statement(is_delete);
	return erasure_permits_row(RelationGetDescr(trigger->tg_relation), trigger->tg_trigtuple,
							   is_delete ? NULL : trigger->tg_newtuple);
}

/*
 * P3: nobody, not even the owner, changes what is in the log, except for
 * store/erasure.
 */
Datum
clutch_append_only(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	const char *what = "change";

	if (!CALLED_AS_TRIGGER(fcinfo) ||
		RelationGetRelid(trigger->tg_relation) != rows_table_oid(TABLE_EVENTS))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("clutch.append_only is a trigger of clutch.events")));
	if (is_permitted(trigger))
		return PointerGetDatum(TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newtuple :
							   trigger->tg_trigtuple);
	if (TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
		what = "UPDATE";
	else if (TRIGGER_FIRED_BY_DELETE(trigger->tg_event))
		what = "DELETE";
	else if (TRIGGER_FIRED_BY_TRUNCATE(trigger->tg_event))
		what = "TRUNCATE";
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_LOG_IS_APPEND_ONLY),
			 errproblem("", "LOG_IS_APPEND_ONLY"),
			 errmsg("%s of clutch.events is refused: the log is append-only", what),
			 errhint("Append an event that corrects the earlier one.")));
}
