/*-------------------------------------------------------------------------
 *
 * version.h
 *	  Semantic versions, as node-semver reads them.
 *
 * Reading allocates no memory, raises no error and looks at each byte once.
 * Prereleases are Slices into the text that was read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_VERSION_H
#define CLUTCH_VERSION_H

#include "base/text.h"

/* the longest text of a version, or of a version range */
#define VERSION_MAX_BYTES	256

typedef struct Version
{
	uint64		part[3];		/* major, minor, patch */
	Slice		prerelease;		/* without the "-"; absent for a release */
} Version;

/* a version whose last parts may be missing or x */
typedef struct PartialVersion
{
	int			known;			/* how many parts, from the left, are numbers */
	int			written;		/* how many parts are there, numbers or x */
	Version		version;		/* unknown parts are 0 */
} PartialVersion;

/* Reads a complete text, as in a card: 1, 1.0, v1.2.3-beta+5. */
extern bool version_parse(Slice text, Version *version);

/*
 * Returns less than, equal to or greater than 0.  A prerelease precedes its
 * release.
 */
extern int	version_compare(const Version *a, const Version *b);
/* Are major, minor and patch the same? */
extern bool version_same_parts(const Version *a, const Version *b);

/* --- for reading a text that contains versions --- */

typedef struct VersionReader
{
	const char *at;
	const char *end;
} VersionReader;

/* Returns false if the text is longer than VERSION_MAX_BYTES. */
extern bool version_read_begin(VersionReader *r, Slice text);
extern bool version_eat(VersionReader *r, char c);
extern int	version_eat_spaces(VersionReader *r);	/* returns their number */
/* Reads 1.2, 1.x, v1.2.3-beta+5, up to a space, a "|" or the end. */
extern bool version_eat_partial(VersionReader *r, PartialVersion *partial);

#endif							/* CLUTCH_VERSION_H */
