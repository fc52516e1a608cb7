/*-------------------------------------------------------------------------
 *
 * checkpoint.h
 *	  Checkpoints: the heads of the tree over the log, clutch.checkpoint.
 *
 * A checkpoint adds leaves to the tree: the events that its members name, in
 * the order of seq.  So the place of an event in the tree follows from its
 * checkpoint and its seq.  Rows are only ever inserted.  The newest one shows
 * how far the log has been sealed: all transactions of its epoch before xid,
 * and all earlier epochs.
 *
 * Outside the database, a head is a note in the format of C2SP
 * tlog-checkpoint: the origin, the size, and the root in base64, each followed
 * by a line break.  Signatures are made outside, and stored in
 * clutch.checkpoint_signature.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CHECKPOINT_H
#define CLUTCH_CHECKPOINT_H

#include "base/rows.h"
#include "ledger/merkle.h"
#include "lib/stringinfo.h"

/* the seqs from one up to, but not including, another */
typedef struct SeqRange
{
	int64		from;
	int64		to;
} SeqRange;

typedef struct Checkpoint
{
	int64		size;			/* size of the tree with this checkpoint; 0 if
								 * there is none */
	MerkleHash	root;
	int			nmembers;
	SeqRange   *members;		/* in ascending order, palloc'd */
	int			epoch;
	uint64		xid;
	TimestampTz sealed_at;
	Slice		origin;
} Checkpoint;

/* Returns the last one.  If there is none, its size is 0. */
extern Checkpoint checkpoint_newest(RowSnapshot which);

/* Finds the one of that size.  Returns false if there is none. */
extern bool checkpoint_find(int64 size, RowSnapshot which, Checkpoint *checkpoint);

/*
 * Inserts a row.  Its members are the n seqs, which must be in ascending
 * order; the field "members" is not used.
 */
extern void checkpoint_insert(const Checkpoint *checkpoint, const int64 *seqs, int n);

/*
 * Finds the place of an event in the tree.  Returns false if the calling
 * statement sees no checkpoint that contains it.
 */
extern bool checkpoint_locate(int64 seq, int64 *leaf_index);

/*
 * Calls visit for each checkpoint that the calling statement sees, from the
 * first to the last, in a context that is reset after each.
 */
extern void checkpoint_visit_all(void (*visit) (const Checkpoint *checkpoint, void *arg), void *arg);

/* Returns the text of the note, over which signatures are made, palloc'd. */
extern StringInfo checkpoint_note(const Checkpoint *checkpoint);

/* --- signatures (checkpoint_signature.c) --- */

typedef struct CheckpointSignature
{
	int64		size;			/* size of the checkpoint */
	Slice		signer;			/* name of the key */
	uint8		public_key[CRYPTO_PUBLIC_KEY_BYTES];
	uint8		signature[CRYPTO_SIGNATURE_BYTES];
} CheckpointSignature;

/* Is it a valid signature of the note of this checkpoint? */
extern bool checkpoint_signature_is_valid(const CheckpointSignature *signature,
										  const Checkpoint *checkpoint);

/*
 * Inserts a signature.  Returns false if that key has signed the checkpoint
 * already.
 */
extern bool checkpoint_signature_insert(const CheckpointSignature *signature);

/* Calls visit for each signature that the calling statement sees. */
extern void checkpoint_signature_visit_all(void (*visit) (const CheckpointSignature *signature, void *arg),
										   void *arg);

#endif							/* CLUTCH_CHECKPOINT_H */
