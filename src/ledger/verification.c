/*-------------------------------------------------------------------------
 *
 * verification.c
 *	  Comparing the log with the tree over it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/array.h"
#include "ledger/tree.h"
#include "ledger/verification_part.h"
#include "miscadmin.h"

/* maximum number of findings that are reported */
#define MOST_FINDINGS	1000

#define HINT_BACKUP \
	"Compare the database with a backup, and its head with one that was kept outside."
#define HINT_CHECKPOINTS \
	"Somebody has written to the tables of the tree. Restore clutch.checkpoint and clutch.tree_hash from a backup."

void
verification_find(Verification *v, const char *code, const char *hint, const char *format,...)
{
	char	   *detail;
	va_list		args;

	v->findings++;
	if (v->findings > MOST_FINDINGS)
		return;
	va_start(args, format);
	detail = text_of_format(format, args);
	va_end(args);
	v->report(code, detail, hint, v->arg);
	pfree(detail);
}

/* -------------------------------------------------- the tree and its roots */

typedef struct TreeComparison
{
	Verification *v;
	MerkleStack stack;			/* made from the leaves that have been read */
	MerkleHash	tile[TREE_TILE];	/* the leaves around the next one */
	bool		is_broken;		/* what follows cannot be compared */
} TreeComparison;

/*
 * Compares a subtree.  Only some heights are stored; the leaves themselves are
 * compared elsewhere.
 */
static void
verification_compare_subtree(int height, int64 index, const MerkleHash *hash, void *arg)
{
	TreeComparison *c = arg;
	MerkleHash	kept;

	if (height == 0 || height % TREE_STEP != 0)
		return;
	if (!tree_read(ROWS_ACTIVE, height, index, 1, &kept) || !merkle_equal(&kept, hash))
		verification_find(c->v, "TREE_DIFFERS", HINT_CHECKPOINTS,
						  "The hash of height %d at " INT64_FORMAT " in clutch.tree_hash is not that of its leaves.",
						  height, index);
}

/* Reads the rest of a tile at once. */
static bool
verification_next_leaf(TreeComparison *c, int64 size)
{
	int64		index = c->stack.size;
	int			place = (int) (index % TREE_TILE);
	int			n = (int) Min(TREE_TILE - place, size - index);
	int			i;

	if (!tree_read(ROWS_ACTIVE, 0, index, n, &c->tile[place]))
		return false;
	for (i = 0; i < n; i++)
		merkle_stack_add(&c->stack, &c->tile[place + i], verification_compare_subtree, c);
	return true;
}

static bool
verification_add_leaves(TreeComparison *c, int64 size)
{
	while (c->stack.size < size)
	{
		CHECK_FOR_INTERRUPTS();
		if (!verification_next_leaf(c, size))
			return false;
	}
	return true;
}

static void
verification_add_segments(VerificationScope *scope, const Checkpoint *checkpoint, int64 leaf)
{
	int			i;

	for (i = 0; i < checkpoint->nmembers; i++)
	{
		const SeqRange *range = &checkpoint->members[i];
		VerificationSegment *last = scope->n > 0 ? &scope->segments[scope->n - 1] : NULL;

		if (last != NULL && last->to == range->from && last->leaf + (last->to - last->from) == leaf)
			last->to = range->to;
		else
		{
			array_make_room(scope->segments, scope->n, scope->room);
			scope->segments[scope->n++] = (VerificationSegment) {range->from, range->to, leaf};
		}
		leaf += range->to - range->from;
	}
}

/* Are the members valid ranges, and as many as the tree has grown by? */
static bool
verification_members_fit(const Checkpoint *checkpoint, int64 before)
{
	int64		room = checkpoint->size - before;
	int			i;

	for (i = 0; i < checkpoint->nmembers; i++)
	{
		int64		n = checkpoint->members[i].to - checkpoint->members[i].from;

		if (n < 1 || n > room)
			return false;
		room -= n;
	}
	return room == 0;
}

static void
verification_compare_checkpoint(const Checkpoint *checkpoint, void *arg)
{
	TreeComparison *c = arg;
	int64		before = c->stack.size;
	MerkleHash	root;

	if (c->is_broken)
		return;
	c->is_broken = true;
	if (!verification_members_fit(checkpoint, before))
	{
		verification_find(c->v, "CHECKPOINT_DIFFERS", HINT_CHECKPOINTS,
						  "The checkpoint of size " INT64_FORMAT " does not follow that of size " INT64_FORMAT ".",
						  checkpoint->size, before);
		return;
	}
	if (!verification_add_leaves(c, checkpoint->size))
	{
		verification_find(c->v, "TREE_DIFFERS", HINT_CHECKPOINTS,
						  "clutch.tree_hash does not have all leaves from " INT64_FORMAT " to " INT64_FORMAT ".",
						  c->stack.size, checkpoint->size - 1);
		return;
	}
	c->is_broken = false;
	root = merkle_stack_root(&c->stack);
	if (!merkle_equal(&root, &checkpoint->root))
		verification_find(c->v, "CHECKPOINT_DIFFERS", HINT_CHECKPOINTS,
						  "The root of the checkpoint of size " INT64_FORMAT " is not that of its leaves.",
						  checkpoint->size);
	verification_add_segments(&c->v->scope, checkpoint, before);
	c->v->scope.epoch = checkpoint->epoch;
	c->v->scope.xid = checkpoint->xid;
}

static int
verification_compare_segments(const void *a, const void *b)
{
	int64		x = ((const VerificationSegment *) a)->from;
	int64		y = ((const VerificationSegment *) b)->from;

	return x < y ? -1 : x > y;
}

/*
 * Sorts the segments.  An event that is in two checkpoints is compared only
 * with the first one.
 */
static void
verification_order_segments(Verification *v)
{
	VerificationScope *scope = &v->scope;
	int			i;

	qsort(scope->segments, scope->n, sizeof(VerificationSegment), verification_compare_segments);
	for (i = 1; i < scope->n; i++)
		if (scope->segments[i].from < scope->segments[i - 1].to)
			verification_find(v, "CHECKPOINT_DIFFERS", HINT_CHECKPOINTS,
							  "Event " INT64_FORMAT " is in two checkpoints.", scope->segments[i].from);
}

static void
verification_compare_tree(Verification *v)
{
	TreeComparison c = {.v = v};

	v->scope.segments = palloc(sizeof(VerificationSegment) * (v->scope.room = 64));
	checkpoint_visit_all(verification_compare_checkpoint, &c);
	verification_order_segments(v);
}

/* --------------------------------------------------------------- signatures */

static void
verification_compare_signature(const CheckpointSignature *signature, void *arg)
{
	Verification *v = arg;
	Checkpoint	checkpoint;

	CHECK_FOR_INTERRUPTS();
	if (!checkpoint_find(signature->size, ROWS_ACTIVE, &checkpoint))
		verification_find(v, "TRUNCATED_LOG", HINT_BACKUP,
						  "\"%.*s\" has signed a checkpoint of size " INT64_FORMAT ", which is not there any more.",
						  signature->signer.len, signature->signer.s, signature->size);
	else if (!checkpoint_signature_is_valid(signature, &checkpoint))
		verification_find(v, "SIGNATURE_DIFFERS", HINT_BACKUP,
						  "The checkpoint of size " INT64_FORMAT " is not what \"%.*s\" has signed.",
						  signature->size, signature->signer.len, signature->signer.s);
}

void
verification_run(VerificationReport report, void *arg)
{
	Verification v = {.report = report, .arg = arg};

	verification_compare_tree(&v);
	verification_compare_log(&v);
	checkpoint_signature_visit_all(verification_compare_signature, &v);
	if (v.findings > MOST_FINDINGS)
		report("MORE_FINDINGS", psprintf("There are %d more findings.", v.findings - MOST_FINDINGS),
			   HINT_BACKUP, arg);
}
