/*-------------------------------------------------------------------------
 *
 * dedup.c
 *	  Deduplication: each (run_id, id), and each key of a sender, enters the
 *	  log once.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "base/guard.h"
#include "base/rows.h"
#include "base/wait.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "store/dedup.h"
#include "store/redaction.h"

/*
 * What a resend may change: its time, the sender's count of attempts, its
 * trace, its signature, and the notes of an adapter (meta).
 */
static const char *const envelope_free[] = {"ts", "attempt", "trace", "security", "meta", NULL};
static const char *const report_free[] = {"id", "ts", "attempt", "trace", "security", "meta", NULL};
static const char *const security_free[] = {"auth", NULL};
static const char *const nothing_free[] = {NULL};

static bool
dedup_key_is_free(Slice key, const char *const *free_keys)
{
	int			i;

	for (i = 0; free_keys[i] != NULL; i++)
		if (slice_is(key, free_keys[i]))
			return true;
	return false;
}

static bool
dedup_is_same_value(JsonbValue *a, JsonbValue *b)
{
	return compareJsonbContainers(&JsonbValueToJsonb(a)->root,
								  &JsonbValueToJsonb(b)->root) == 0;
}

/* Gets the native ID of a document from the notes of an adapter. */
static bool
dedup_native_id(const JsonbValue *notes, JsonbValue *id)
{
	JsonbContainer *native = notes->type == jbvBinary ? document_get_container(notes->val.binary.data, "native") : NULL;

	return document_get(native, "id", id) && id->type != jbvNull;
}

/*
 * Are two members of meta equal, or notes of an adapter about the same
 * document?  The notes also say how it was delivered, which may differ when a
 * webhook is retried.
 */
static bool
dedup_is_same_note(JsonbValue *a, JsonbValue *b)
{
	JsonbValue	a_id;
	JsonbValue	b_id;

	return dedup_is_same_value(a, b) ||
		(dedup_native_id(a, &a_id) && dedup_native_id(b, &b_id) && dedup_is_same_value(&a_id, &b_id));
}

typedef bool (*SameValue) (JsonbValue *a, JsonbValue *b);

/* Is every key of a, apart from the free ones, in b with the same value? */
static bool
dedup_object_covers(JsonbContainer *a, JsonbContainer *b, const char *const *free_keys, SameValue is_same)
{
	JsonbIterator *it;
	JsonbValue	key;
	JsonbValue	value;
	JsonbIteratorToken token;

	if (a == NULL || !JsonContainerIsObject(a))
		return true;
	it = JsonbIteratorInit(a);
	(void) JsonbIteratorNext(&it, &key, true);
	while ((token = JsonbIteratorNext(&it, &key, true)) == WJB_KEY)
	{
		JsonbValue *other;

		(void) JsonbIteratorNext(&it, &value, true);
		if (dedup_key_is_free(document_text(&key), free_keys))
			continue;
		if (b == NULL || !JsonContainerIsObject(b))
			return false;
		other = getKeyJsonValueFromContainer(b, key.val.string.val, key.val.string.len, NULL);
		if (other == NULL || !is_same(&value, other))
			return false;
	}
	return true;
}

/*
 * Do both have the same keys with the same values, apart from the free ones?
 */
static bool
dedup_is_same_object(JsonbContainer *a, JsonbContainer *b, const char *const *free_keys, SameValue is_same)
{
	return dedup_object_covers(a, b, free_keys, is_same) && dedup_object_covers(b, a, free_keys, is_same);
}

static bool
dedup_is_same_content(Jsonb *a, Jsonb *b, const char *const *free_keys)
{
	return dedup_is_same_object(&a->root, &b->root, free_keys, dedup_is_same_value) &&
		dedup_is_same_object(document_get_container(&a->root, "security"), document_get_container(&b->root, "security"),
							 security_free, dedup_is_same_value) &&
		dedup_is_same_object(document_get_container(&a->root, "meta"), document_get_container(&b->root, "meta"),
							 nothing_free, dedup_is_same_note);
}

/* Of a redacted event, only the digest can be compared. */
static bool
dedup_is_same_redacted(const Event *event, Jsonb *first)
{
	Slice		digest = redaction_of(first);
	JsonbValue	payload = event->envelope.payload;

	return slice_present(digest) && slice_equal(digest, redaction_digest(&payload));
}

static void
dedup_check_same_id(const Event *event, Jsonb *first, int64 seq)
{
	if (!dedup_is_same_content(event->envelope.doc, first, envelope_free) && !dedup_is_same_redacted(event, first))
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errproblem("/id", "ID_REUSED"),
				 errmsg("id \"%.*s\" was used in this run for another envelope (seq " INT64_FORMAT ")",
						event->envelope.id.len, event->envelope.id.s, seq),
				 errhint("Give a new message a new id; a resend repeats the envelope unchanged, or calls clutch.envelope with the same arguments.")));
}

static bool
dedup_is_same_payload(const Event *event, Jsonb *first)
{
	JsonbValue	payload;

	return dedup_is_same_redacted(event, first) ||
		(document_get(&first->root, "payload", &payload) &&
		 dedup_is_same_value(&payload, unconstify(JsonbValue *, &event->envelope.payload)));
}

static void
dedup_check_same_command(const Event *event, Jsonb *first, Slice type, int64 seq)
{
	if (!slice_equal(type, event->envelope.type_name) || !dedup_is_same_payload(event, first))
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errproblem("/idempotency_key", "KEY_REUSED"),
				 errmsg("idempotency_key \"%.*s\" was used in this run for another type or payload (seq " INT64_FORMAT ")",
						event->envelope.idempotency_key.len,
						event->envelope.idempotency_key.s, seq),
				 errhint("Use one key for one command; a repeat has the same type and payload.")));
}

typedef enum DedupSight
{
	SIGHT_NOTHING,
	SIGHT_EVENT,				/* it is there, and its receipt has been left */
	SIGHT_DOUBT					/* another transaction is inserting it */
} DedupSight;

static void
dedup_leave_receipt(const Event *event, const RowScan *scan)
{
	event_leave_receipt(event, rows_int8(scan, Anum_event_seq),
						rows_timestamp(scan, Anum_event_received_at),
						rows_text(scan, Anum_event_id), true,
						rows_text(scan, Anum_event_run_id),
						rows_text(scan, Anum_event_task_id),
						rows_bool(scan, Anum_event_late));
}

/*
 * Looks for the first row of the scan.  If it is there, raises an error unless
 * it says the same as the event, and leaves its receipt.  If it is in doubt,
 * *in_doubt is set to the transaction that is inserting it.
 */
static DedupSight
dedup_look(RowScan *scan, const Event *event, bool by_key, TransactionId *in_doubt)
{
	DedupSight	sight = SIGHT_NOTHING;

	rows_start(scan);
	if (rows_next(scan))
	{
		sight = rows_is_being_inserted(scan) ? SIGHT_DOUBT : SIGHT_EVENT;
		*in_doubt = rows_in_doubt(scan);
	}
	if (sight == SIGHT_EVENT)
	{
		Jsonb	   *first = rows_jsonb(scan, Anum_event_envelope);
		int64		seq = rows_int8(scan, Anum_event_seq);

		if (by_key)
			dedup_check_same_command(event, first, rows_text(scan, Anum_event_type), seq);
		else
			dedup_check_same_id(event, first, seq);
		dedup_leave_receipt(event, scan);
	}
	rows_end(scan);
	return sight;
}

static DedupSight
dedup_look_by_id(const Event *event, TransactionId *in_doubt)
{
	RowScan		scan;

	if (rows_lacks_text(TABLE_EVENTS, INDEX_EVENTS_PKEY, RowExclusiveLock, event->envelope.id))
		return SIGHT_NOTHING;
	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_PKEY, ROWS_DIRTY, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, event->envelope.id);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, event->envelope.run_id);
	return dedup_look(&scan, event, false, in_doubt);
}

static DedupSight
dedup_look_by_key(const Event *event, TransactionId *in_doubt)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_IDEMPOTENCY_KEY, ROWS_DIRTY, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, event->envelope.idempotency_key);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, event->envelope.run_id);
	rows_key_text(&scan, 3, BTEqualStrategyNumber, event->envelope.from_agent);
	return dedup_look(&scan, event, true, in_doubt);
}

uint64
dedup_id_guard(Slice id, Slice run_id)
{
	return guard_key(GUARD_EVENT_ID, id, run_id, 0);
}

uint64
dedup_key_guard(Slice key, Slice run_id, Slice sender)
{
	return guard_key(GUARD_IDEMPOTENCY_KEY, key, run_id, (int64) slice_hash(sender));
}

static void
dedup_drop_guards(void)
{
	guard_drop(GUARD_IDEMPOTENCY_KEY);
	guard_drop(GUARD_EVENT_ID);
}

bool
dedup_seen(const Event *event)
{
	const Envelope *e = &event->envelope;
	bool		has_key = slice_present(e->idempotency_key);

	for (;;)
	{
		TransactionId in_doubt = InvalidTransactionId;
		DedupSight	sight;

		if (!event->has_new_id)
			guard_hold(GUARD_EVENT_ID, dedup_id_guard(e->id, e->run_id));
		if (has_key)
			guard_hold(GUARD_IDEMPOTENCY_KEY,
					   dedup_key_guard(e->idempotency_key, e->run_id, e->from_agent));
		/*
		 * look up the key first, because it says what the sender means, and
		 * the id may be derived from it
		 */
		sight = has_key ? dedup_look_by_key(event, &in_doubt) : SIGHT_NOTHING;
		if (sight == SIGHT_NOTHING && !event->has_new_id)
			sight = dedup_look_by_id(event, &in_doubt);
		if (sight == SIGHT_NOTHING)
			return false;

		/* do not hold any guard while waiting for a transaction */
		dedup_drop_guards();
		if (sight == SIGHT_EVENT)
			return true;
		wait_for_transaction(in_doubt);
	}
}

/*
 * Of a question or a suspension, more than the payload counts: to whom it is
 * addressed, and what the task waits for.
 */
static bool
dedup_says_the_same(const Event *event, Jsonb *first)
{
	return event->envelope.type == MSG_TASK_PROGRESS ?
		dedup_is_same_content(event->envelope.doc, first, report_free) :
		dedup_is_same_payload(event, first);
}

static bool
dedup_is_same_report(const RowScan *scan, const Event *event, int attempt)
{
	return !rows_bool(scan, Anum_event_late) &&
		rows_int4(scan, Anum_event_attempt) == attempt &&
		slice_equal(rows_text(scan, Anum_event_type), event->envelope.type_name) &&
		slice_equal(rows_text(scan, Anum_event_from_agent), event->envelope.from_agent) &&
		dedup_says_the_same(event, rows_jsonb(scan, Anum_event_envelope));
}

bool
dedup_report_seen(const Event *event, int attempt, int64 seq)
{
	bool		found = false;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, seq != 0 ? INDEX_EVENTS_SEQ : INDEX_EVENTS_TASK_ID,
			   ROWS_LATEST, AccessShareLock);
	if (seq != 0)
		rows_key_int8(&scan, 1, BTEqualStrategyNumber, seq);
	else
		rows_key_text(&scan, 1, BTEqualStrategyNumber, event->envelope.task_id);
	rows_start(&scan);
	while (!found && rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		found = dedup_is_same_report(&scan, event, attempt);
	}
	if (found)
	{
		dedup_leave_receipt(event, &scan);
		dedup_drop_guards();
	}
	rows_end(&scan);
	return found;
}
