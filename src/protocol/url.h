/*-------------------------------------------------------------------------
 *
 * url.h
 *	  Finding the hosts of the URLs in a text.
 *
 * The text may later be used by a browser, curl or a library, and they differ
 * in how they read malformed URLs.  Therefore every host that one of them
 * could see is returned: for "http://a.example\@b.example", both a.example and
 * b.example.  A scheme with "://" begins a URL anywhere in the text.  Without
 * the slashes, http, https, ws, wss and ftp do so only at the beginning of the
 * text ("http:a.example").
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_URL_H
#define CLUTCH_URL_H

#include "base/text.h"

typedef struct UrlScan
{
	Slice		text;			/* without tabs and line breaks, which browsers
								 * ignore */
	int			at;				/* where to look for the next URL */
	bool		is_whole;		/* the last URL was at the start of the text,
								 * and may be all of it */
	Slice		second;			/* a second host of the last URL, or absent */
	int			far_end;		/* the first slash, ? or # that was looked for,
								 * or 0 if none was */
	int			far_at;			/* the last @ before it, or -1 */
} UrlScan;

/* Begins a scan.  The text must live as long as the scan. */
extern void url_begin(UrlScan *scan, Slice text);

/*
 * Returns false if there are no more hosts.  The host may be empty, or not
 * valid (host.h).
 */
extern bool url_next_host(UrlScan *scan, Slice *host);

#endif							/* CLUTCH_URL_H */
