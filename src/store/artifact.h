/*-------------------------------------------------------------------------
 *
 * artifact.h
 *	  Content that is too large for an envelope, named by its SHA-256 (spec
 *	  8.2).
 *
 * A reference is "artifact:sha256:" followed by 64 hexadecimal digits, the
 * digest.  The same content is stored once, whoever uploads it.  It is cut
 * into chunks of at most a megabyte, which are written and read one by one, so
 * no call needs memory for more than it is given or asked for.
 *
 * The roles that have uploaded it are its owners (clutch.artifact_owner).  An
 * event that attaches it has a row in clutch.artifact_use, unless its sender
 * was not allowed to read it; then the reference is only a text.  The caller
 * decides who may read what.
 *
 * An artifact that nothing uses is removed when its last upload was longer ago
 * than clutch.artifact_grace.  A sender takes a shared lock on its row before
 * using it; removal takes an exclusive lock, and never waits for one.
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

/*
 * Returns the digest that a reference names, or an absent slice if it does not
 * have that form.
 */
extern Slice artifact_digest_of(Slice reference);
/* The reverse; palloc'd. */
extern Slice artifact_reference(Slice digest);

/*
 * Finds an artifact; *artifact is palloc'd.  Returns false if there is none.
 */
extern bool artifact_find(Slice digest, RowSnapshot which, Artifact *artifact);

/*
 * Keeps the artifact from being removed until the transaction ends.  Returns
 * false if it does not exist.
 */
extern bool artifact_hold(Slice digest);

/*
 * Makes the content available under its digest, and adds the owner.  If the
 * same content already exists, the chunks of content_no are removed, and the
 * grace period begins anew.  Waits for another transaction that is uploading
 * the same, unless the content was uploaded shortly before.
 */
extern void artifact_keep(const Artifact *artifact, Oid owner);

extern bool artifact_is_owned(Slice digest, Oid owner, RowSnapshot which);

/*
 * Returns how many bytes of the role's uploads still exist.  Content that
 * others have uploaded as well counts in full for each of them.  With
 * ROWS_DIRTY, uncommitted uploads count, too.
 */
extern int64 artifact_bytes_of(Oid owner, RowSnapshot which);

/* --- artifact_content.c --- */

/* Returns the number of a new content, which has no bytes yet. */
extern int64 artifact_content_begin(void);

/*
 * Appends n bytes to a content that has "size" bytes, cutting them into
 * chunks.
 */
extern void artifact_content_append(int64 content_no, int64 size, const char *bytes, Size n);
extern void artifact_content_remove(int64 content_no);

/*
 * Calls visit for the chunks, beginning with the one that contains from_byte,
 * until visit returns false.
 */
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

/* Begins an upload, which is not locked, and returns its content_no. */
extern int64 artifact_upload_begin(Slice media_type, Oid owner);

/*
 * Locks the upload, waiting for another call that uses it.  Returns false if
 * there is none of that number.
 */
extern bool artifact_upload_lock(int64 content_no, ArtifactUpload *upload);

/*
 * Both are for a locked upload.  artifact_upload_finish returns the artifact.
 */
extern void artifact_upload_append(ArtifactUpload *upload, const char *bytes, Size n);
extern Artifact artifact_upload_finish(const ArtifactUpload *upload);

/* Returns the number of bytes in the role's uploads; see artifact_bytes_of. */
extern int64 artifact_upload_bytes_of(Oid owner, RowSnapshot which);

/*
 * Removes at most n uploads that were begun before that time, and returns how
 * many.  Never waits.
 */
extern int	artifact_upload_sweep(TimestampTz before, int n);

/* --- artifact_use.c --- */

extern void artifact_use_add(Slice digest, int64 seq, Slice run_id);
extern bool artifact_is_used(Slice digest);

/*
 * Calls visit with seq and run of each event that attaches the artifact, until
 * visit returns true.  Returns whether it did.
 */
typedef bool (*ArtifactUseVisit) (int64 seq, Slice run_id, void *arg);
extern bool artifact_use_any(Slice digest, RowSnapshot which, ArtifactUseVisit visit, void *arg);

/*
 * Forgets the uses by these events, which have left the log or attach nothing
 * any more.
 */
extern void artifact_use_forget(const int64 *seqs, int n);

/* --- artifact_sweep.c --- */

/*
 * Removes artifacts that nothing uses and uploads that nobody finishes, if
 * they are older than clutch.artifact_grace.  Looks at n artifacts at most,
 * from where this backend's last call stopped.  Never waits.  Returns how many
 * it removed.
 */
extern int	artifact_sweep(int n);

#endif							/* CLUTCH_ARTIFACT_H */
