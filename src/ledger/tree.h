/*-------------------------------------------------------------------------
 *
 * tree.h
 *	  The hashes of the tree over the log, clutch.tree_hash.
 *
 * The hashes of all leaves are kept, and those of the complete subtrees of height
 * 5, 10, 15 and so on: with the rows and the index around them, about 39 bytes an
 * event, also for events that have been pruned.  A row has up to 32 consecutive hashes of one height and never
 * crosses a multiple of 32, so the hash of any complete subtree is found by one
 * scan of a few rows.  Rows are only ever inserted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TREE_H
#define CLUTCH_TREE_H

#include "base/rows.h"
#include "ledger/merkle.h"

/* the distance of the heights whose hashes are kept */
#define TREE_STEP		5
#define TREE_TILE		(1 << TREE_STEP)

/* the tree while leaves are added to it */
typedef struct TreeWriter TreeWriter;

/* Begins to add leaves to a tree that has so many.  Nobody else may do so meanwhile. */
extern TreeWriter *tree_begin(int64 size);
extern void tree_add(TreeWriter *writer, const MerkleHash *leaf);
extern void tree_end(TreeWriter *writer);

/*
 * Reads so many hashes of a height, which is a multiple of TREE_STEP, from index
 * on, all of one tile.  Returns false if one of them is not there.
 */
extern bool tree_read(RowSnapshot which, int height, int64 index, int n, MerkleHash *hashes);

/*
 * A MerkleSubtree.  Raises XX001 if a hash is not there: somebody has written to the
 * table.
 */
extern MerkleHash tree_subtree(int height, int64 index);

#endif							/* CLUTCH_TREE_H */
