/*-------------------------------------------------------------------------
 *
 * excuse.c
 *	  Excuses: what the audit events of the log say about events that differ
 *	  from what was sealed.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/array.h"
#include "base/number.h"
#include "ledger/excuse.h"
#include "ledger/leaf.h"
#include "miscadmin.h"
#include "store/audit.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

typedef struct Redaction
{
	int64		seq;
	Slice		was;			/* leaves, in hexadecimal */
	Slice		is;
} Redaction;

struct Excuses
{
	SeqRange   *pruned;			/* in ascending order, and apart from each
								 * other, once all have been read */
	int			npruned;
	int			pruned_room;
	Redaction  *redacted;		/* by seq, once all have been read */
	int			nredacted;
	int			redacted_room;
};

/* ------------------------------------------------------------------ writing */

void
excuse_put_pruned(DocumentBuilder *b, const int64 *seqs, int n)
{
	int			i;

	document_open_array(b, "seqs");
	for (i = 0; i < n;)
	{
		int			first = i++;

		while (i < n && seqs[i] == seqs[i - 1] + 1)
			i++;
		document_open_array(b, NULL);
		document_add_int(b, seqs[first]);
		document_add_int(b, seqs[i - 1]);
		document_close_array(b);
	}
	document_close_array(b);
}

void
excuse_put_redacted(DocumentBuilder *b, const MerkleHash *was, const MerkleHash *is)
{
	document_put_text(b, "leaf", leaf_hex(was));
	document_put_text(b, "redacted_leaf", leaf_hex(is));
}

/* ------------------------------------------------------------------ reading */

static void
excuse_add_pruned(Excuses *excuses, int64 first, int64 last)
{
	array_make_room(excuses->pruned, excuses->npruned, excuses->pruned_room);
	excuses->pruned[excuses->npruned++] = (SeqRange) {first, last + 1};
}

static bool
excuse_element_int(JsonbContainer *array, int i, int64 *number)
{
	JsonbValue *value = getIthJsonbValueFromContainer(array, i);

	return value != NULL && value->type == jbvNumeric && number_to_int64(value->val.numeric, number);
}

static void
excuse_read_pruned(Excuses *excuses, JsonbContainer *payload)
{
	JsonbContainer *ranges = document_get_container(payload, "seqs");
	JsonbIterator *it;
	JsonbValue	value;
	JsonbIteratorToken token;

	if (ranges == NULL || !JsonContainerIsArray(ranges))
		return;
	it = JsonbIteratorInit(ranges);
	(void) JsonbIteratorNext(&it, &value, true);
	while ((token = JsonbIteratorNext(&it, &value, true)) == WJB_ELEM)
	{
		int64		first;
		int64		last;

		if (value.type == jbvBinary && JsonContainerIsArray(value.val.binary.data) &&
			excuse_element_int(value.val.binary.data, 0, &first) &&
			excuse_element_int(value.val.binary.data, 1, &last))
			excuse_add_pruned(excuses, first, last);
	}
}

static void
excuse_read_redacted(Excuses *excuses, JsonbContainer *payload)
{
	Redaction	redaction = {0};

	if (!document_get_int(payload, "seq", &redaction.seq))
		return;
	redaction.was = slice_copy(document_get_text(payload, "leaf"));
	redaction.is = slice_copy(document_get_text(payload, "redacted_leaf"));
	array_make_room(excuses->redacted, excuses->nredacted, excuses->redacted_room);
	excuses->redacted[excuses->nredacted++] = redaction;
}

static void
excuse_read_event(Excuses *excuses, const RowScan *scan)
{
	Slice		run_id = rows_text(scan, Anum_event_run_id);
	Slice		from_agent = rows_text(scan, Anum_event_from_agent);
	Slice		what = rows_text(scan, Anum_event_payload_type);
	Jsonb	   *envelope;
	JsonbContainer *payload;

	if (!audit_is(run_id, from_agent, SLICE_NONE, NULL) || !slice_present(what))
		return;
	envelope = rows_jsonb(scan, Anum_event_envelope);
	payload = document_get_container(&envelope->root, "payload");
	if (payload != NULL && audit_is(run_id, from_agent, what, AUDIT_PRUNED))
		excuse_read_pruned(excuses, payload);
	if (payload != NULL && audit_is(run_id, from_agent, what, AUDIT_REDACTED))
		excuse_read_redacted(excuses, payload);
	pfree(envelope);
}

static int
excuse_compare_ranges(const void *a, const void *b)
{
	int64		x = ((const SeqRange *) a)->from;
	int64		y = ((const SeqRange *) b)->from;

	return x < y ? -1 : x > y;
}

/*
 * An event that was restored after it was pruned may have been pruned again, so
 * ranges may overlap.
 */
static void
excuse_join_ranges(Excuses *excuses)
{
	int			n = 0;
	int			i;

	for (i = 0; i < excuses->npruned; i++)
	{
		const SeqRange *range = &excuses->pruned[i];
		SeqRange   *last = n > 0 ? &excuses->pruned[n - 1] : NULL;

		if (last != NULL && range->from <= last->to)
			last->to = Max(last->to, range->to);
		else
			excuses->pruned[n++] = *range;
	}
	excuses->npruned = n;
}

static int
excuse_compare_redactions(const void *a, const void *b)
{
	int64		x = ((const Redaction *) a)->seq;
	int64		y = ((const Redaction *) b)->seq;

	return x < y ? -1 : x > y;
}

Excuses *
excuse_read(void)
{
	Excuses    *excuses = palloc0(sizeof(Excuses));
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_RUN_ID, ROWS_ACTIVE, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, SLICE_OF(AUDIT_RUN));
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		excuse_read_event(excuses, &scan);
	}
	rows_end(&scan);
	qsort(excuses->pruned, excuses->npruned, sizeof(SeqRange), excuse_compare_ranges);
	excuse_join_ranges(excuses);
	qsort(excuses->redacted, excuses->nredacted, sizeof(Redaction), excuse_compare_redactions);
	return excuses;
}

/* ----------------------------------------------------------------- searching */

bool
excuse_has_pruned(const Excuses *excuses, int64 seq)
{
	int			low = 0;
	int			high = excuses->npruned;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (excuses->pruned[middle].to <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low < excuses->npruned && excuses->pruned[low].from <= seq;
}

/* Returns the place of the first redaction of this event or of a later one. */
static int
excuse_first_redacted(const Excuses *excuses, int64 seq)
{
	int			low = 0;
	int			high = excuses->nredacted;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (excuses->redacted[middle].seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool
excuse_has_redacted(const Excuses *excuses, int64 seq, const MerkleHash *was, const MerkleHash *is)
{
	Slice		was_hex = leaf_hex(was);
	Slice		is_hex = leaf_hex(is);
	int			i;

	for (i = excuse_first_redacted(excuses, seq);
		 i < excuses->nredacted && excuses->redacted[i].seq == seq; i++)
		if (slice_equal(excuses->redacted[i].was, was_hex) && slice_equal(excuses->redacted[i].is, is_hex))
			return true;
	return false;
}
