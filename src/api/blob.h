/*-------------------------------------------------------------------------
 *
 * blob.h
 *	  Turning binary content of documents into artifacts and back.
 *
 * Other protocols write images, sounds and files as base64.  If the context of
 * clutch.ingest has artifacts_from, such a text becomes an artifact, and is
 * replaced by a reference to it.  The envelope of the document attaches the
 * artifact, so that everybody who may read the envelope may read the artifact,
 * and lists the references in meta.<adapter>.blobs.  When the envelope becomes
 * a document of that adapter again, the bytes are put back.
 *
 * Base64 is replaced only if encoding its bytes gives the same text, so it
 * must use the standard alphabet and padding.  If a document already contains
 * the reference to an artifact as a text, the bytes of that artifact are not
 * replaced.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_BLOB_H
#define CLUTCH_BLOB_H

#include "base/json.h"

/* the maximum number of texts that are replaced in one document */
#define BLOB_MOST		32

/* shorter texts are not replaced, because the reference would be longer */
#define BLOB_LEAST_BYTES	256

/*
 * Returns the member artifacts_from of the context, in bytes, or 0 if there is
 * none.  Raises 22023 if it is not valid.
 */
extern int64 blob_from_bytes(const Json *context);

/*
 * Replaces the base64 texts of at least from_bytes bytes in place, and returns
 * the references as a List of Slice *.  Raises the errors of
 * clutch.put_artifact.
 */
extern List *blob_keep(Json *document, int64 from_bytes);

/*
 * Adds the references that the envelope contains to its list of blobs and its
 * attachments, in place.
 */
extern void blob_mark(Json *envelope, const char *adapter, const List *references);

/* Removes what blob_mark has added, in place, and returns the references. */
extern List *blob_unmark(Json *envelope, const char *adapter);

/*
 * Puts the bytes back into the document, in place, wherever it has the
 * reference.  Raises 42704 ARTIFACT_NOT_FOUND unless the role may read the
 * artifact or the event of that seq (0 if there is none) attaches it.  Raises
 * 54000 TOO_LARGE if the document would have more than "most" bytes of base64,
 * which can happen because a reference is short and the sender of the envelope
 * can repeat it many times.
 */
extern void blob_restore(Json *document, const List *references, int64 seq, int64 most);

#endif							/* CLUTCH_BLOB_H */
