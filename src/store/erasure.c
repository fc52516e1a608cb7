/*-------------------------------------------------------------------------
 *
 * erasure.c
 *	  Erasure: the only way past the triggers that protect the log.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/htup_details.h"
#include "base/order.h"
#include "base/query.h"
#include "catalog/pg_type.h"
#include "store/erasure.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/guc.h"

/*
 * how long to wait for a transaction that refers to a row by a foreign key, in
 * ms
 */
#define MOST_WAIT	"50"

/* the erasure whose DELETE or UPDATE is running, or NULL */
typedef struct Erasure
{
	const int64 *seqs;			/* in ascending order */
	int			n;
	Jsonb	   *envelope;		/* the new envelope of the only event, or NULL
								 * if the events are deleted */
} Erasure;

static const Erasure *current = NULL;

/* ------------------------------------------------------------- permissions */

bool
erasure_permits_statement(bool is_delete)
{
	return current != NULL && is_delete == (current->envelope == NULL);
}

/* Is the new row the old one with the announced envelope? */
static bool
erasure_is_announced(TupleDesc desc, HeapTuple before, HeapTuple after)
{
	int			attno;

	for (attno = 1; attno <= desc->natts; attno++)
	{
		bool		was_null;
		bool		is_null;
		Datum		was = heap_getattr(before, attno, desc, &was_null);
		Datum		is = heap_getattr(after, attno, desc, &is_null);
		Form_pg_attribute column = TupleDescAttr(desc, attno - 1);

		if (attno == Anum_event_envelope)
			was = JsonbPGetDatum(current->envelope);
		if (was_null != is_null ||
			(!is_null && !datum_image_eq(was, is, column->attbyval, column->attlen)))
			return false;
	}
	return true;
}

bool
erasure_permits_row(TupleDesc desc, HeapTuple before, HeapTuple after)
{
	bool		isnull;
	int64		seq = DatumGetInt64(heap_getattr(before, Anum_event_seq, desc, &isnull));

	return erasure_permits_statement(after == NULL) &&
		bsearch(&seq, current->seqs, current->n, sizeof(int64), order_int64) != NULL &&
		(after == NULL || erasure_is_announced(desc, before, after));
}

/* -------------------------------------------------------------- statements */

static void
erasure_run(const Erasure *erasure, QueryPlan *plan, Datum *arguments)
{
	const Erasure *outer = current;
	int			nest_level = NewGUCNestLevel();
	uint64		erased;

	current = erasure;
	PG_TRY();
	{
		(void) set_config_option("lock_timeout", MOST_WAIT, PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
		erased = query_execute(plan, arguments);
		AtEOXact_GUC(true, nest_level);
	}
	PG_FINALLY();
	{
		current = outer;
	}
	PG_END_TRY();
	if (erased != (uint64) erasure->n)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not erase %d events: only " UINT64_FORMAT " are visible, or a trigger has kept the others",
						erasure->n, erased),
				 errhint("Repeat the call in a transaction of isolation level READ COMMITTED.")));
}

void
erasure_delete(const int64 *seqs, int n)
{
	static QueryPlan plan = {
		"DELETE FROM clutch.events WHERE seq OPERATOR(pg_catalog.=) ANY ($1)", 1, {INT8ARRAYOID}
	};
	Erasure		erasure = {seqs, n, NULL};
	Datum	   *elements = palloc(sizeof(Datum) * n);
	Datum		argument;
	int			i;

	for (i = 0; i < n; i++)
		elements[i] = Int64GetDatum(seqs[i]);
	argument = PointerGetDatum(construct_array(elements, n, INT8OID, sizeof(int64),
											   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
	erasure_run(&erasure, &plan, &argument);
}

void
erasure_replace(int64 seq, Jsonb *envelope)
{
	static QueryPlan plan = {
		"UPDATE clutch.events SET envelope = $2 WHERE seq OPERATOR(pg_catalog.=) $1",
		2, {INT8OID, JSONBOID}
	};
	Erasure		erasure = {&seq, 1, envelope};
	Datum		arguments[] = {Int64GetDatum(seq), JsonbPGetDatum(envelope)};

	erasure_run(&erasure, &plan, arguments);
}
