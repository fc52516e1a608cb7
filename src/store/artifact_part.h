/*-------------------------------------------------------------------------
 *
 * artifact_part.h
 *	  Private declarations of artifact.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ARTIFACT_PART_H
#define CLUTCH_ARTIFACT_PART_H

/* columns of clutch.artifact */
enum
{
	Anum_artifact_digest = 1,
	Anum_artifact_media_type,
	Anum_artifact_bytes,
	Anum_artifact_content_no,
	Anum_artifact_uploaded_at,
	Natts_artifact = Anum_artifact_uploaded_at
};

/*
 * An upload of content that is there already makes it new again, but only if
 * the last one was longer ago than this, so that popular content is not written
 * for each upload.  Removal comes later by the same time, so it never comes
 * within clutch.artifact_grace after an upload.  In microseconds.
 */
#define ARTIFACT_RENEWAL	(clutch_artifact_grace * USECS_PER_SEC / 4)

#endif							/* CLUTCH_ARTIFACT_PART_H */
