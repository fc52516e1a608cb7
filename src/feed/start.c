/*-------------------------------------------------------------------------
 *
 * start.c
 *	  Starts: where a reader of the log begins or continues.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "feed/start.h"
#include "protocol/place.h"
#include "protocol/problem.h"

static void
start_refuse(Slice text, const char *argument)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errproblem(argument, "WRONG_FORMAT"),
			 errmsg("argument \"%s\" is not a position: %s", argument, place_quote(text)),
			 errhint("Pass 'beginning', 'now', or a position that clutch.position() or clutch.read_from returned, unchanged.")));
}

static Position
start_position(Slice text, const char *argument)
{
	Position	position;

	if (!position_parse(text, &position))
		start_refuse(text, argument);
	position_settle(&position, argument);
	return position;
}

static bool
start_parse_seq(const char *digits, int64 *seq)
{
	char	   *end;

	if (digits[0] < '0' || digits[0] > '9')
		return false;
	errno = 0;
	*seq = strtoll(digits, &end, 10);
	return errno == 0 && *end == '\0';
}

Start
start_parse(Slice text, const char *argument)
{
	Start		start = {0};
	char	   *from = slice_cstring(text);
	char	   *until = strchr(from, '/');
	char	   *seq = until != NULL ? strchr(until + 1, '/') : NULL;

	if (slice_equal(text, SLICE_OF("beginning")))
		start.from = position_beginning();
	else if (slice_equal(text, SLICE_OF("now")))
		start.from = position_now();
	else if (until == NULL)
		start.from = start_position(text, argument);
	else
	{
		if (seq == NULL || !start_parse_seq(seq + 1, &start.place))
			start_refuse(text, argument);
		*until++ = *seq = '\0';
		start.is_between = true;
		start.until = start_position(slice_of_cstring(until), argument);
		start.from = start_position(slice_of_cstring(from), argument);
	}
	return start;
}

char *
start_text(const Start *start)
{
	if (!start->is_between)
		return position_text(&start->from);
	return psprintf("%s/%s/" INT64_FORMAT, position_text(&start->from),
					position_text(&start->until), start->place);
}
