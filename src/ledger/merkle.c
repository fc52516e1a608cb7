/*-------------------------------------------------------------------------
 *
 * merkle.c
 *	  The Merkle tree of RFC 6962: hashes, roots and proofs.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "ledger/merkle.h"
#include "port/pg_bitutils.h"

/* the prefixes of the bytes of leaves and of inner nodes */
#define MERKLE_LEAF_PREFIX	((Slice) {"\x00", 1})
#define MERKLE_NODE_PREFIX	((Slice) {"\x01", 1})

/* ------------------------------------------------------------------ hashes */

MerkleHash
merkle_leaf(const void *bytes, Size n)
{
	MerkleHash	result;
	Slice		parts[] = {MERKLE_LEAF_PREFIX, {bytes, (int) n}};

	crypto_sha256_of_parts(parts, lengthof(parts), result.bytes);
	return result;
}

static Slice
merkle_bytes(const MerkleHash *hash)
{
	return (Slice) {(const char *) hash->bytes, CRYPTO_HASH_BYTES};
}

MerkleHash
merkle_parent(const MerkleHash *left, const MerkleHash *right)
{
	MerkleHash	result;
	Slice		parts[] = {MERKLE_NODE_PREFIX, merkle_bytes(left), merkle_bytes(right)};

	crypto_sha256_of_parts(parts, lengthof(parts), result.bytes);
	return result;
}

bool
merkle_equal(const MerkleHash *a, const MerkleHash *b)
{
	return memcmp(a->bytes, b->bytes, CRYPTO_HASH_BYTES) == 0;
}

static MerkleHash
merkle_empty_root(void)
{
	MerkleHash	result;

	crypto_sha256("", 0, result.bytes);
	return result;
}

/* ----------------------------------------------------------------- subtrees */

/*
 * Returns the largest power of two that is less than n, which must be at least
 * 2.
 */
static int64
merkle_split(int64 n)
{
	return INT64CONST(1) << pg_leftmost_one_pos64((uint64) (n - 1));
}

/*
 * MTH(D[from:to]).  from must be a multiple of the smallest power of two that
 * is not less than to - from, as is always the case when a tree is split
 * starting at its root.
 */
static MerkleHash
merkle_range(int64 from, int64 to, MerkleSubtree subtree)
{
	int64		n = to - from;
	int64		k;
	MerkleHash	left;
	MerkleHash	right;

	if ((n & (n - 1)) == 0)
	{
		int			height = pg_leftmost_one_pos64((uint64) n);

		return subtree(height, from >> height);
	}
	k = merkle_split(n);
	left = merkle_range(from, from + k, subtree);
	right = merkle_range(from + k, to, subtree);
	return merkle_parent(&left, &right);
}

MerkleHash
merkle_root(int64 size, MerkleSubtree subtree)
{
	return size == 0 ? merkle_empty_root() : merkle_range(0, size, subtree);
}

/* ------------------------------------------------------------------- proofs */

static void
merkle_path_add(MerklePath *path, int64 from, int64 to, MerkleSubtree subtree)
{
	Assert(path->n < MERKLE_LONGEST_PATH);
	path->hashes[path->n++] = merkle_range(from, to, subtree);
}

/* Adds the path of a leaf inside D[from:to]. */
static void
merkle_inclusion_in(int64 index, int64 from, int64 to, MerkleSubtree subtree, MerklePath *path)
{
	int64		middle;

	if (to - from == 1)
		return;
	middle = from + merkle_split(to - from);
	if (index < middle)
	{
		merkle_inclusion_in(index, from, middle, subtree, path);
		merkle_path_add(path, middle, to, subtree);
	}
	else
	{
		merkle_inclusion_in(index, middle, to, subtree, path);
		merkle_path_add(path, from, middle, subtree);
	}
}

void
merkle_inclusion(int64 index, int64 size, MerkleSubtree subtree, MerklePath *path)
{
	path->n = 0;
	merkle_inclusion_in(index, 0, size, subtree, path);
}

/*
 * SUBPROOF(first, D[from:to], known).  The verifier knows the hash if first is
 * to.
 */
static void
merkle_consistency_in(int64 first, int64 from, int64 to, bool known, MerkleSubtree subtree,
					  MerklePath *path)
{
	int64		middle;

	if (first == to)
	{
		if (!known)
			merkle_path_add(path, from, to, subtree);
		return;
	}
	middle = from + merkle_split(to - from);
	if (first <= middle)
	{
		merkle_consistency_in(first, from, middle, known, subtree, path);
		merkle_path_add(path, middle, to, subtree);
	}
	else
	{
		merkle_consistency_in(first, middle, to, false, subtree, path);
		merkle_path_add(path, from, middle, subtree);
	}
}

void
merkle_consistency(int64 first, int64 second, MerkleSubtree subtree, MerklePath *path)
{
	path->n = 0;
	merkle_consistency_in(first, 0, second, true, subtree, path);
}

/* -------------------------------------------------------------------- stack */

void
merkle_stack_add(MerkleStack *stack, const MerkleHash *leaf,
				 void (*completed) (int height, int64 index, const MerkleHash *hash, void *arg),
				 void *arg)
{
	MerkleHash	hash = *leaf;
	int64		index = stack->size;
	int			height = 0;

	for (;;)
	{
		if (completed != NULL)
			completed(height, index, &hash, arg);
		if ((index & 1) == 0)
			break;
		hash = merkle_parent(&stack->subtrees[height], &hash);
		index >>= 1;
		height++;
	}
	stack->subtrees[height] = hash;
	stack->size++;
}

MerkleHash
merkle_stack_root(const MerkleStack *stack)
{
	MerkleHash	hash = {{0}};
	bool		any = false;
	int			height;

	for (height = 0; height < 63; height++)
	{
		if ((stack->size & (INT64CONST(1) << height)) == 0)
			continue;
		hash = any ? merkle_parent(&stack->subtrees[height], &hash) : stack->subtrees[height];
		any = true;
	}
	return any ? hash : merkle_empty_root();
}
