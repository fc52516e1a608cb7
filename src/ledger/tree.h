/*-------------------------------------------------------------------------
 *
 * tree.h
 *	  Hashes of the tree over the log, clutch.tree_hash.
 *
 * The hashes of all leaves are stored, and those of the complete subtrees of
 * height 5, 10, 15 and so on.  Including the overhead of rows and index, this
 * takes about 39 bytes per event, even for events that have been pruned.  A
 * row has up to 32 consecutive hashes of one height and never crosses a
 * multiple of 32, so the hash of any complete subtree can be computed from one
 * scan of a few rows.  Rows are only ever inserted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TREE_H
#define CLUTCH_TREE_H

#include "base/rows.h"
#include "ledger/merkle.h"

/* distance between the heights whose hashes are stored */
#define TREE_STEP		5
#define TREE_TILE		(1 << TREE_STEP)

/* the tree while leaves are being added to it */
typedef struct TreeWriter TreeWriter;

/*
 * Begins to add leaves to a tree that has this size.  Nobody else may do so
 * meanwhile.
 */
extern TreeWriter *tree_begin(int64 size);
extern void tree_add(TreeWriter *writer, const MerkleHash *leaf);
extern void tree_end(TreeWriter *writer);

/*
 * Reads n hashes of a height, which must be a multiple of TREE_STEP, from
 * index on, all in the same tile.  Returns false if one of them is missing.
 */
extern bool tree_read(RowSnapshot which, int height, int64 index, int n, MerkleHash *hashes);

/*
 * A MerkleSubtree.  Raises XX001 if a hash is missing, because then somebody
 * has written to the table.
 */
extern MerkleHash tree_subtree(int height, int64 index);

#endif							/* CLUTCH_TREE_H */
