/*-------------------------------------------------------------------------
 *
 * verification_log.c
 *	  Comparing the rows of the log with the leaves of the tree.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "ledger/excuse.h"
#include "ledger/leaf.h"
#include "ledger/tree.h"
#include "ledger/verification_part.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "store/event.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* maximum number of differing events that are compared with one another */
#define MOST_SUSPECTS	100

#define HINT_ROW \
	"Only somebody who bypassed the triggers can have done that. Compare the row with a backup or an export."

/* an event that differs from what was sealed */
typedef struct Suspect
{
	int64		seq;
	MerkleHash	leaf;			/* as sealed */
	TimestampTz received_at;
	Jsonb	   *envelope;		/* as it is now, or NULL if it is gone */
} Suspect;

typedef struct LogComparison
{
	Verification *v;
	Excuses    *excuses;
	MemoryContext context;		/* holds the suspects */
	int			segment;		/* index of the segment that is being compared */
	int64		expected;		/* the next seq expected in it */
	int64		tile_begin;		/* first of the leaves that were read last; -1
								 * if none */
	MerkleHash	tile[TREE_TILE];
	Suspect		suspects[MOST_SUSPECTS];
	int			nsuspects;
	int64		missing;		/* number of consecutive missing events, */
	int64		first_missing;	/* the first of them, */
	int64		last_missing;	/* and the last one */
} LogComparison;

/* ------------------------------------------------------------------- leaves */

/*
 * Returns a leaf.  The tree has been compared before, so its leaves are there,
 * up to the end of the scope.
 */
static MerkleHash
verification_leaf(LogComparison *c, int64 index)
{
	int64		begin = index - index % TREE_TILE;

	if (begin != c->tile_begin)
	{
		int			n = TREE_TILE;

		while (n > 0 && !tree_read(ROWS_ACTIVE, 0, begin, n, c->tile))
			n--;
		c->tile_begin = begin;
		Assert(n > index - begin);
	}
	return c->tile[index - begin];
}

static MerkleHash
verification_leaf_of(LogComparison *c, int64 seq)
{
	const VerificationSegment *segment = &c->v->scope.segments[c->segment];

	return verification_leaf(c, segment->leaf + (seq - segment->from));
}

/* ------------------------------------------------------------------ suspects */

/* Adds a suspect.  Returns false if there are too many. */
static bool
verification_suspect(LogComparison *c, int64 seq, const RowScan *scan)
{
	MemoryContext old;
	Suspect    *suspect;

	if (c->nsuspects == MOST_SUSPECTS)
		return false;
	old = MemoryContextSwitchTo(c->context);
	suspect = &c->suspects[c->nsuspects++];
	suspect->seq = seq;
	suspect->leaf = verification_leaf_of(c, seq);
	suspect->envelope = scan != NULL ? rows_jsonb(scan, Anum_event_envelope) : NULL;
	suspect->received_at = scan != NULL ? rows_timestamp(scan, Anum_event_received_at) : 0;
	MemoryContextSwitchTo(old);
	return true;
}

/*
 * Returns the event as which the event that is now in the place of the suspect
 * was sealed.
 */
static const Suspect *
verification_origin_of(const LogComparison *c, const Suspect *suspect)
{
	int			i;

	for (i = 0; i < c->nsuspects; i++)
	{
		const Suspect *other = &c->suspects[i];
		MerkleHash	leaf = leaf_hash(other->seq, suspect->received_at, suspect->envelope);

		if (other != suspect && merkle_equal(&leaf, &other->leaf))
			return other;
	}
	return NULL;
}

static void
verification_name_changed(Verification *v, int64 seq)
{
	verification_find(v, "CHANGED_EVENT", HINT_ROW,
					  "Event " INT64_FORMAT " is not what was sealed.", seq);
}

static void
verification_name_suspects(LogComparison *c)
{
	int			i;

	for (i = 0; i < c->nsuspects; i++)
	{
		const Suspect *suspect = &c->suspects[i];
		const Suspect *origin;

		CHECK_FOR_INTERRUPTS();
		if (suspect->envelope == NULL)
			continue;
		origin = verification_origin_of(c, suspect);
		if (origin == NULL)
			verification_name_changed(c->v, suspect->seq);
		else
			verification_find(c->v, "REORDERED_EVENT", HINT_ROW,
							  "The event that was sealed as " INT64_FORMAT " now stands at " INT64_FORMAT ".",
							  origin->seq, suspect->seq);
	}
}

/* ------------------------------------------------------------------- missing */

static void
verification_name_missing(LogComparison *c, bool is_tail)
{
	if (c->missing == 0)
		return;
	if (is_tail)
		verification_find(c->v, "TRUNCATED_LOG", HINT_ROW,
						  "The last " INT64_FORMAT " sealed events, from " INT64_FORMAT " to " INT64_FORMAT ", are not in the log, and were not pruned.",
						  c->missing, c->first_missing, c->last_missing);
	else if (c->missing == 1)
		verification_find(c->v, "MISSING_EVENT", HINT_ROW,
						  "Event " INT64_FORMAT " is not in the log, and was not pruned.", c->first_missing);
	else
		verification_find(c->v, "MISSING_EVENT", HINT_ROW,
						  INT64_FORMAT " events from " INT64_FORMAT " to " INT64_FORMAT " are not in the log, and were not pruned.",
						  c->missing, c->first_missing, c->last_missing);
	c->missing = 0;
}

/* Moves on to a seq of the segment.  What is skipped is missing. */
static void
verification_pass(LogComparison *c, int64 to)
{
	for (; c->expected < to; c->expected++)
	{
		CHECK_FOR_INTERRUPTS();
		if (excuse_has_pruned(c->excuses, c->expected))
			continue;
		(void) verification_suspect(c, c->expected, NULL);
		if (c->missing++ == 0)
			c->first_missing = c->expected;
		c->last_missing = c->expected;
	}
}

/*
 * Makes the segment that contains the seq, or else the first one after it, the
 * current one.
 */
static void
verification_enter(LogComparison *c, int64 seq)
{
	const VerificationScope *scope = &c->v->scope;

	while (c->segment < scope->n && scope->segments[c->segment].to <= seq)
	{
		verification_pass(c, scope->segments[c->segment].to);
		if (++c->segment < scope->n)
			c->expected = Max(c->expected, scope->segments[c->segment].from);
	}
}

/* ------------------------------------------------------------------ one row */

/*
 * Do the columns in which the database has stored parts of the envelope agree
 * with it?
 */
static bool
verification_columns_agree(const RowScan *scan, Jsonb *document)
{
	Envelope	e;
	SliceList	to;
	bool		isnull;
	int			i;

	envelope_read_admitted(document, &e, problem_list_admitted());
	to = column_texts_of(rows_datum(scan, Anum_event_to_agents, &isnull));
	for (i = 0; i < to.n && to.n == e.to_agents.n; i++)
		if (!slice_equal(to.items[i], e.to_agents.items[i]))
			return false;
	return to.n == e.to_agents.n &&
		rows_timestamp(scan, Anum_event_ts) == e.ts &&
		slice_equal(rows_text(scan, Anum_event_id), e.id) &&
		slice_equal(rows_text(scan, Anum_event_run_id), e.run_id) &&
		slice_equal(rows_text(scan, Anum_event_thread_id), e.thread_id) &&
		slice_equal(rows_text(scan, Anum_event_task_id), e.task_id) &&
		slice_equal(rows_text(scan, Anum_event_parent_task_id), e.parent_task_id) &&
		slice_equal(rows_text(scan, Anum_event_type), e.type_name) &&
		slice_equal(rows_text(scan, Anum_event_from_agent), e.from_agent) &&
		slice_equal(rows_text(scan, Anum_event_domain), e.domain) &&
		slice_equal(rows_text(scan, Anum_event_payload_type), e.payload_type) &&
		slice_equal(rows_text(scan, Anum_event_idempotency_key), e.idempotency_key);
}

static void
verification_compare_sealed(LogComparison *c, const RowScan *scan, int64 seq)
{
	Jsonb	   *envelope = rows_jsonb(scan, Anum_event_envelope);
	MerkleHash	is = leaf_hash(seq, rows_timestamp(scan, Anum_event_received_at), envelope);
	MerkleHash	was = verification_leaf_of(c, seq);

	if (!merkle_equal(&is, &was) && !excuse_has_redacted(c->excuses, seq, &was, &is))
	{
		if (!verification_suspect(c, seq, scan))
			verification_name_changed(c->v, seq);
	}
	else if (!verification_columns_agree(scan, envelope))
		verification_find(c->v, "COLUMNS_DIFFER", HINT_ROW,
						  "The columns of event " INT64_FORMAT " are not those of its envelope.", seq);
}

/* Does the row belong to a transaction that has been sealed? */
static bool
verification_is_past(const VerificationScope *scope, const RowScan *scan)
{
	int			epoch = abs(rows_int4(scan, Anum_event_epoch));
	uint64		xid = rows_xid8(scan, Anum_event_xid);

	return epoch < scope->epoch || (epoch == scope->epoch && xid < scope->xid);
}

static void
verification_compare_row(LogComparison *c, const RowScan *scan)
{
	const VerificationScope *scope = &c->v->scope;
	int64		seq = rows_int8(scan, Anum_event_seq);

	verification_enter(c, seq);
	if (c->segment < scope->n && scope->segments[c->segment].from <= seq)
	{
		verification_pass(c, seq);
		verification_name_missing(c, false);
		verification_compare_sealed(c, scan, seq);
		c->expected = seq + 1;
	}
	else if (verification_is_past(scope, scan))
		verification_find(c->v, "UNKNOWN_EVENT", HINT_ROW,
						  "Event " INT64_FORMAT " claims a transaction that was sealed without it.", seq);
}

/* ----------------------------------------------------------------- all rows */

void
verification_compare_log(Verification *v)
{
	LogComparison *c = palloc0(sizeof(LogComparison));
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch verify event",
											   ALLOCSET_DEFAULT_SIZES);
	RowScan		scan;

	c->v = v;
	c->excuses = excuse_read();
	c->context = CurrentMemoryContext;
	c->tile_begin = -1;
	c->expected = v->scope.n > 0 ? v->scope.segments[0].from : 0;
	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_SEQ, ROWS_ACTIVE, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		MemoryContext old = MemoryContextSwitchTo(each);

		CHECK_FOR_INTERRUPTS();
		verification_compare_row(c, &scan);
		MemoryContextSwitchTo(old);
		MemoryContextReset(each);
	}
	rows_end(&scan);
	verification_enter(c, PG_INT64_MAX);
	verification_name_missing(c, true);
	verification_name_suspects(c);
	MemoryContextDelete(each);
}
