/*-------------------------------------------------------------------------
 *
 * artifact_fn.h
 *	  Artifact functions for those that take documents.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ARTIFACT_FN_H
#define CLUTCH_ARTIFACT_FN_H

#include "compat.h"
#include "store/artifact.h"

/* Is it of the form type/subtype? */
extern bool artifact_fn_is_media_type(Slice type);

/*
 * Stores the content for the role, as clutch.put_artifact does.  Returns its
 * digest, palloc'd.  Raises TOO_LARGE and QUOTA_EXCEEDED for that argument.
 */
extern Slice artifact_fn_put(const char *content, Size n, Slice media_type, const char *argument);

/* Raises ARTIFACT_NOT_FOUND for that argument. */
pg_noreturn extern void artifact_fn_not_found(Slice reference, const char *argument);

/*
 * Returns the whole content, palloc'd, of artifact->bytes bytes.  Raises
 * TOO_LARGE if a value cannot hold it, ARTIFACT_NOT_FOUND if it has just been
 * removed, and ARTIFACT_INCOMPLETE if chunks are missing, for the argument
 * "envelope".
 */
extern char *artifact_fn_content(const Artifact *artifact);

#endif							/* CLUTCH_ARTIFACT_FN_H */
