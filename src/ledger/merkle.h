/*-------------------------------------------------------------------------
 *
 * merkle.h
 *	  The Merkle tree of RFC 6962: hashes, roots and proofs.  No tables.
 *
 * A tree of n leaves consists of complete subtrees, whose hashes the caller
 * stores.  The caller passes a function that finds one of them; a root or a
 * proof takes about log2(n) calls.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MERKLE_H
#define CLUTCH_MERKLE_H

#include "base/crypto.h"

typedef struct MerkleHash
{
	uint8		bytes[CRYPTO_HASH_BYTES];
} MerkleHash;

/* two for each level of a tree of 2^63 leaves */
#define MERKLE_LONGEST_PATH		128

typedef struct MerklePath
{
	int			n;
	MerkleHash	hashes[MERKLE_LONGEST_PATH];	/* from the leaves upwards */
} MerklePath;

/*
 * Returns the hash of the complete subtree over the leaves from index *
 * 2^height up to, but not including, (index + 1) * 2^height.
 */
typedef MerkleHash (*MerkleSubtree) (int height, int64 index);

extern MerkleHash merkle_leaf(const void *bytes, Size n);
extern MerkleHash merkle_parent(const MerkleHash *left, const MerkleHash *right);
extern bool merkle_equal(const MerkleHash *a, const MerkleHash *b);

/* Returns the root of a tree with so many leaves. */
extern MerkleHash merkle_root(int64 size, MerkleSubtree subtree);

/* PATH(index, D[size]) of RFC 6962, 2.1.1.  index must be less than size. */
extern void merkle_inclusion(int64 index, int64 size, MerkleSubtree subtree, MerklePath *path);

/* PROOF(first, D[second]) of 2.1.2, where 0 < first <= second. */
extern void merkle_consistency(int64 first, int64 second, MerkleSubtree subtree, MerklePath *path);

/*
 * A tree to which leaves are added one by one, and which has a root but no
 * proofs.  It is empty if all bytes are zero.
 */
typedef struct MerkleStack
{
	int64		size;
	MerkleHash	subtrees[64];	/* one for each bit of size, by its height */
} MerkleStack;

/*
 * Adds a leaf.  Each subtree that this completes is passed to "completed",
 * which may be NULL, with its height and index.
 */
extern void merkle_stack_add(MerkleStack *stack, const MerkleHash *leaf,
							 void (*completed) (int height, int64 index, const MerkleHash *hash, void *arg),
							 void *arg);
extern MerkleHash merkle_stack_root(const MerkleStack *stack);

#endif							/* CLUTCH_MERKLE_H */
