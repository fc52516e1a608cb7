/*-------------------------------------------------------------------------
 *
 * url.h
 *	  The hosts of the URLs in a text.
 *
 * What uses the text later may be a browser, curl or a library, and they do not
 * read a malformed URL alike.  So every host that one of them could see is
 * returned: of "http://a.example\@b.example", both a.example and b.example.
 * A scheme with "://" begins a URL anywhere in the text; without the slashes,
 * http, https, ws, wss and ftp do so at its beginning ("http:a.example").
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_URL_H
#define CLUTCH_URL_H

#include "base/text.h"

typedef struct UrlScan
{
	Slice		text;			/* without tabs and line breaks, which browsers ignore */
	int			at;				/* where to look for the next URL */
	bool		is_whole;		/* the last one began with the text, and may be all of it */
	Slice		second;			/* a second host of the last one, or absent */
} UrlScan;

/* the text must live as long as the scan */
extern void url_begin(UrlScan *scan, Slice text);

/*
 * Returns false if there are no more.  The host may be one that is not valid
 * (host.h), or empty.
 */
extern bool url_next_host(UrlScan *scan, Slice *host);

#endif							/* CLUTCH_URL_H */
