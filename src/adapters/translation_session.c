/*-------------------------------------------------------------------------
 *
 * translation_session.c
 *	  The session that the context of a document names.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/translation_part.h"

const Json *
translation_hide_session(const Translation *t)
{
	Slice		session = json_get_text(t->context, "/session");
	Json	   *context;

	if (!t->adapter->has_sessions || !slice_present(session))
		return t->context;
	context = json_copy_top(t->context);
	json_put_text(context, "/session", translation_derive(t, "session", "session", SLICE_NONE, session));
	return context;
}
