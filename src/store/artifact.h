/*-------------------------------------------------------------------------
 *
 * artifact.h
 *	  Content that is too large for an envelope, named by its SHA-256 (spec 8.2).
 *
 * A reference is "artifact:sha256:" and 64 hexadecimal digits; the digest is these
 * digits.  The same content is kept once, whoever uploads it.  It is cut into chunks
 * of at most a megabyte, which are written and read one by one, so no call holds more
 * than it is given or asked for.
 *
 * Whoever has uploaded it owns it (clutch.artifact_owner).  An event that attaches it
 * has a row in clutch.artifact_use, unless its sender might not read it: then the
 * reference is a mere word.  Who may read what is decided by the caller.
 *
 * An artifact that nothing uses goes when it is older than clutch.artifact_grace.  A
 * sender locks its row before it uses it, together with other senders, and whoever
 * removes it locks it alone and never waits.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ARTIFACT_H
#define CLUTCH_ARTIFACT_H

#include "base/rows.h"

#define ARTIFACT_CHUNK_BYTES	(1024 * 1024)

typedef struct Artifact
{
	Slice		digest;			/* in hexadecimal */
	Slice		media_type;
	int64		bytes;
	int64		content_no;		/* of its chunks */
} Artifact;

/* The digest that a reference names; absent if it is not of that form. */
extern Slice artifact_digest_of(Slice reference);
/* palloc'd */
extern Slice artifact_reference(Slice digest);

/* false if there is none; palloc'd */
extern bool artifact_find(Slice digest, RowSnapshot which, Artifact *artifact);

/*
 * Keeps the artifact from being removed until the transaction ends.  Returns
 * false if it is not there.
 */
extern bool artifact_hold(Slice digest);

/*
 * There is content of that digest from now on: that of the artifact, or the same that
 * was there before, and then the chunks of content_no are removed.  Waits for another
 * transaction that is uploading the same.  The owner is added.
 */
extern void artifact_keep(const Artifact *artifact, Oid owner);

extern bool artifact_is_owned(Slice digest, Oid owner, RowSnapshot which);

/*
 * How many bytes the role has uploaded that are still there.  What others have uploaded
 * as well counts in full for each of them.  With ROWS_DIRTY, what is not committed
 * counts, too.
 */
extern int64 artifact_bytes_of(Oid owner, RowSnapshot which);

/* --- artifact_content.c --- */

extern int64 artifact_content_begin(void);

/* Appends n bytes to a content that has so many; cuts them into chunks. */
extern void artifact_content_append(int64 content_no, int64 size, const char *bytes, Size n);
extern void artifact_content_remove(int64 content_no);

/* Calls visit for the chunks from the one with a certain byte on, until it returns false. */
typedef bool (*ArtifactVisit) (int64 first_byte, const char *bytes, int n, void *arg);
extern void artifact_content_visit(int64 content_no, int64 from_byte, RowSnapshot which,
								   ArtifactVisit visit, void *arg);

/* --- artifact_upload.c: content that is not complete yet --- */

typedef struct ArtifactUpload
{
	int64		content_no;
	Oid			owner;
	Slice		media_type;
	int64		bytes;			/* so far */
} ArtifactUpload;

extern int64 artifact_upload_begin(Slice media_type, Oid owner);

/* Locks the upload; false if there is none of that number.  Waits for another call. */
extern bool artifact_upload_lock(int64 content_no, ArtifactUpload *upload);

/* Both are for an upload that is locked.  finish returns the artifact. */
extern void artifact_upload_append(ArtifactUpload *upload, const char *bytes, Size n);
extern Artifact artifact_upload_finish(const ArtifactUpload *upload);

/* The bytes of the role's uploads, as in artifact_bytes_of. */
extern int64 artifact_upload_bytes_of(Oid owner, RowSnapshot which);

/* Removes uploads that were begun before that time; never waits.  Returns how many. */
extern int	artifact_upload_sweep(TimestampTz before, int n);

/* --- artifact_use.c --- */

extern void artifact_use_add(Slice digest, int64 seq, Slice run_id);
extern bool artifact_is_used(Slice digest, RowSnapshot which);

/*
 * Calls visit for the events that attach the artifact, by seq and run, until it returns
 * true, and returns whether it did.
 */
typedef bool (*ArtifactUseVisit) (int64 seq, Slice run_id, void *arg);
extern bool artifact_use_any(Slice digest, RowSnapshot which, ArtifactUseVisit visit, void *arg);

/* The events are not in the log any more, or attach nothing any more. */
extern void artifact_use_forget(const int64 *seqs, int n);

/* --- artifact_sweep.c --- */

/*
 * Removes artifacts that nothing uses and uploads that nobody finishes, if they are
 * older than clutch.artifact_grace.  Looks at most at n artifacts, from where the last
 * call of this backend ended.  Never waits.  Returns how many it has removed.
 */
extern int	artifact_sweep(int n);

#endif							/* CLUTCH_ARTIFACT_H */
