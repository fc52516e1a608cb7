/*-------------------------------------------------------------------------
 *
 * blob.h
 *	  Bytes in documents of other protocols, which become artifacts.
 *
 * Other protocols write images, sounds and files as base64.  If the context of clutch.ingest
 * has artifacts_from, such a text becomes an artifact, and is replaced by its reference.
 * The envelope of the document attaches the artifact, so everybody who may read the
 * envelope may read the artifact, and lists the references in meta.<adapter>.blobs.  When
 * the envelope becomes a document of that adapter again, the bytes are put back.
 *
 * Base64 is replaced only if encoding its bytes gives the same text, so it must be of the
 * standard alphabet and padded.  If a document already contains the reference of an artifact
 * as a text, the bytes of this artifact are not replaced.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_BLOB_H
#define CLUTCH_BLOB_H

#include "base/json.h"

/* the most texts of one document that are replaced */
#define BLOB_MOST		32

/* shorter texts are not replaced, because the reference would be longer */
#define BLOB_LEAST_BYTES	256

/*
 * The artifacts_from of the context, in bytes, or 0 if it has none.  Raises
 * 22023 if it is not valid.
 */
extern int64 blob_from_bytes(const Json *context);

/*
 * Replaces the base64 texts of at least so many bytes in the document itself, and returns
 * the references as a List of Slice *.  Raises what clutch.put_artifact raises.
 */
extern List *blob_keep(Json *document, int64 from_bytes);

/* Lists and attaches in the envelope itself the references that it contains. */
extern void blob_mark(Json *envelope, const char *adapter, const List *references);

/* Removes from the envelope itself what blob_mark has added, and returns the references. */
extern List *blob_unmark(Json *envelope, const char *adapter);

/*
 * Puts the bytes back into the document itself, wherever it has the reference.  Raises 42704
 * ARTIFACT_NOT_FOUND unless the role may read the artifact, or the event of that seq attaches
 * it (0: there is no event), and 54000 TOO_LARGE if the document would have more than "most"
 * bytes of base64.  That can happen because a reference is short, and the sender of the
 * envelope can repeat it many times.
 */
extern void blob_restore(Json *document, const List *references, int64 seq, int64 most);

#endif							/* CLUTCH_BLOB_H */
