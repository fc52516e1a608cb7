/*-------------------------------------------------------------------------
 *
 * format.h
 *	  The formats that JSON Schema defines, such as "date-time".
 *
 * International host names and e-mail addresses, IRIs and URI templates are not
 * checked, and are FORMAT_UNKNOWN like any other name.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_FORMAT_H
#define CLUTCH_FORMAT_H

#include "base/text.h"

typedef enum FormatKind
{
	FORMAT_UNKNOWN,				/* anything is valid */
	FORMAT_DATE_TIME,
	FORMAT_DATE,
	FORMAT_TIME,
	FORMAT_DURATION,
	FORMAT_EMAIL,
	FORMAT_HOSTNAME,
	FORMAT_IPV4,
	FORMAT_IPV6,
	FORMAT_URI,
	FORMAT_URI_REFERENCE,
	FORMAT_UUID,
	FORMAT_JSON_POINTER,
	FORMAT_RELATIVE_JSON_POINTER,
	FORMAT_REGEX
} FormatKind;

extern FormatKind format_of(Slice name);
extern bool format_valid(FormatKind format, Slice text);

#endif							/* CLUTCH_FORMAT_H */
