/*-------------------------------------------------------------------------
 *
 * translation.c
 *	  Translation without loss, for every adapter.
 *
 * translation_draft.c fills in what an adapter has left open in an envelope.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/translation_part.h"

#include "adapters/credential.h"
#include "protocol/envelope.h"
#include "protocol/problem.h"
#include "utils/fmgrprotos.h"

/* -------------------------------------------------------------- the carrier */

/* Removes the value at the path, and the objects that contained nothing else; returns the value. */
static Json *
translation_take(Json *document, const char *path)
{
	Json	   *taken = json_take(document, path);
	char	   *way = pstrdup(path);
	char	   *slash;

	while (taken != NULL && (slash = strrchr(way, '/')) != NULL && slash != way)
	{
		Json	   *parent;

		*slash = '\0';
		parent = json_get_kind(document, way, JSON_OBJECT);
		if (parent == NULL || parent->n > 0)
			break;
		json_take(document, way);
	}
	return taken;
}

/* Removes a note, and the objects that contained nothing else. */
static void
translation_take_note(const Adapter *adapter, Json *envelope, const char *note)
{
	if (json_member(adapter_noted(adapter, envelope, ""), slice_of_cstring(note)) != NULL)
		(void) translation_take(envelope, psprintf("/meta/%s/%s", adapter->name, note));
}

/* the path of the carrier in a document; NULL: the dialect has no carrier */
static const char *
translation_carrier_path(const Adapter *adapter, const Json *raw)
{
	return adapter->carrier_at != NULL ? adapter->carrier_at(adapter, raw) : adapter->carrier;
}

/* Removes the carrier from a document and returns its changes; NULL: the document has no carrier. */
static Json *
translation_take_carrier(const Adapter *adapter, const char *path, Json *raw)
{
	Json	   *carrier = json_get(raw, path);
	Json	   *changes = carrier;

	if (adapter->carrier_is_text)
		changes = json_is(carrier, JSON_TEXT) && carrier->text.len > 0 && carrier->text.s[0] == '[' ?
			json_parse(carrier->text) : NULL;
	if (!json_is(changes, JSON_ARRAY))
		return NULL;
	translation_take(raw, path);
	return changes;
}

static Json *
translation_carrier_of(const Adapter *adapter, Json *changes)
{
	char	   *text;

	if (!adapter->carrier_is_text)
		return changes;
	text = DatumGetCString(DirectFunctionCall1(jsonb_out, JsonbPGetDatum(json_write(changes))));
	return json_of_cstring(text);
}

/* ----------------------------------------------------------------- outbound */

static bool
translation_is_stub(const Adapter *adapter, const Json *envelope)
{
	return json_is_true(adapter_noted(adapter, envelope, "/stub"), "");
}

/* the envelope that stands for the document */
static Json *
translation_bearer(const Adapter *adapter, List *envelopes)
{
	ListCell   *lc;

	foreach(lc, envelopes)
		if (!translation_is_stub(adapter, lfirst(lc)))
			return lfirst(lc);
	return envelopes != NIL ? llast(envelopes) : NULL;
}

/* a copy whose notes, sender and meta.clutch can be changed; everything else is shared with the original */
static Json *
translation_own(const Adapter *adapter, const Json *envelope)
{
	Json	   *own = json_copy_top(envelope);

	json_unshare(own, "/from");
	json_unshare(own, "/meta/clutch");
	json_unshare(own, psprintf("/meta/%s/native", adapter->name));
	return own;
}

/*
 * The envelope as it was before translation_keep; it shares values with the argument.  If
 * the context had replaced the sender of the document, the original sender is restored.
 */
static Json *
translation_unmarked(const Adapter *adapter, const Json *envelope, bool is_carried)
{
	Json	   *copy = translation_own(adapter, envelope);
	Json	   *notes = adapter_noted(adapter, copy, "");
	Slice		sender = json_get_text(notes, "/native/from");
	Slice		as = json_get_text(notes, "/as");

	if (slice_present(as) && slice_present(sender) && slice_equal(as, json_get_text(envelope, "/from/agent_id")))
		json_put_text(copy, "/from/agent_id", sender);
	translation_take_note(adapter, copy, "kept");
	translation_take_note(adapter, copy, "carried");
	translation_take_note(adapter, copy, "dropped");
	/* an envelope that has other notes must still be recognized as foreign */
	if (!is_carried && adapter_noted(adapter, copy, "") != NULL)
		adapter_note(adapter, copy, "/kept", json_new_array());
	return copy;
}

/* the document that the adapter makes, which shares values with the envelope */
static Json *
translation_write(const Adapter *adapter, const Json *envelope)
{
#ifdef USE_ASSERT_CHECKING
	const Json *before = json_copy(envelope);
#endif
	Json	   *document = adapter->outbound(adapter, envelope);

	Assert(json_equal(before, envelope));
	if (document == NULL)
		adapter_unsupported(adapter, envelope);
	return document;
}

/* the document of an envelope that was never foreign, with its carrier */
static Json *
translation_carry(const Adapter *adapter, const Json *envelope)
{
	Json	   *document = json_copy(translation_write(adapter, envelope));
	Json	   *back = translation_bearer(adapter, adapter->inbound(adapter, document, json_new_object()));
	Json	   *changes = json_difference(back != NULL ? back : json_new_object(), envelope);
	const char *carrier = translation_carrier_path(adapter, document);

	if (changes->n > 0 && carrier != NULL)
		json_put(document, carrier, translation_carrier_of(adapter, json_copy(changes)));
	return document;
}

/* the document that the envelope makes without "kept"; is_carried: with a carrier */
static Json *
translation_unkept(const Adapter *adapter, const Json *envelope, bool is_carried)
{
	Json	   *unmarked = translation_unmarked(adapter, envelope, is_carried);

	return is_carried ? translation_carry(adapter, unmarked) : translation_write(adapter, unmarked);
}

Json *
translation_outbound(const Adapter *adapter, const Json *envelope)
{
	const Json *kept = adapter_noted(adapter, envelope, "/kept");
	bool		is_carried = kept == NULL || json_is_true(adapter_noted(adapter, envelope, "/carried"), "");

	return json_apply(json_copy(translation_unkept(adapter, envelope, is_carried)), kept);
}

/* ------------------------------------------------------------------ inbound */

/* the difference between the document that the envelope makes without "kept" and the original document */
static Json *
translation_lost(const Translation *t, const Json *envelope, bool is_carried)
{
	return json_difference(translation_unkept(t->adapter, envelope, is_carried), t->document);
}

/*
 * Removes what is not an object but stands where the notes belong.  A carrier can put it
 * there; it comes back as a part of the difference to the document.
 */
static void
translation_make_room(const Adapter *adapter, Json *envelope)
{
	char	   *path = psprintf("/meta/%s", adapter->name);

	if (json_get_kind(envelope, "/meta", JSON_OBJECT) == NULL)
		(void) json_take(envelope, "/meta");
	else if (json_get_kind(envelope, path, JSON_OBJECT) == NULL)
		(void) json_take(envelope, path);
}

/*
 * Notes the difference in the envelope, as "kept".  An empty "kept" is noted before the
 * difference is computed, because translation_unmarked removes it together with the
 * objects that contain nothing else, as it will in outbound.
 */
static void
translation_keep(const Translation *t, Json *envelope, bool is_carried)
{
	/* before any difference is computed, for the same reason */
	if (t->dropped != NULL)
	{
		translation_make_room(t->adapter, envelope);
		adapter_note(t->adapter, envelope, "/dropped", t->dropped);
	}
	if (is_carried && translation_lost(t, envelope, true)->n == 0)
		return;
	translation_make_room(t->adapter, envelope);
	if (is_carried)
		adapter_note(t->adapter, envelope, "/carried", json_of_bool(true));
	adapter_note(t->adapter, envelope, "/kept", json_new_array());
	adapter_note(t->adapter, envelope, "/kept", translation_lost(t, envelope, is_carried));
}

/* Anybody can write a carrier, and adapters must be given only valid envelopes. */
static void
translation_require_valid(const Translation *t, const Json *envelope)
{
	ProblemList *list = problem_list();
	Envelope	read;

	envelope_read(json_write(envelope), &read, list);
	if (list->n > 0 && t->adapter->is_ours)
		adapter_fault(t->adapter, list->items[0].path, list->items[0].code, "%s", list->items[0].message);
	if (list->n > 0)
		adapter_fault(t->adapter, translation_carrier_path(t->adapter, t->document), list->items[0].code,
					  "it leads to an envelope that is not valid at \"%s\"", list->items[0].path);
}

/*
 * Envelopes of some types are sent only by the database.  A task.timeout, which another
 * database has sent, becomes a task.error.  Any other such type is replaced by "plain",
 * which is the type that the document has without its carrier.
 */
static void
translation_make_sendable(Json *envelope, Slice plain)
{
	MessageType type = adapter_type(envelope);

	if (type == MSG_TASK_TIMEOUT)
		json_put_cstring(envelope, "/type", message_type_name(MSG_TASK_ERROR));
	else if (message_type_is_internal(type))
		json_put_text(envelope, "/type", plain);
}

/* The envelope of a document that has a carrier, as a List; NIL if it is a stub that is not needed. */
static List *
translation_inbound_carried(Translation *t, List *envelopes, const Json *changes)
{
	Json	   *bearer = translation_bearer(t->adapter, envelopes);
	Slice		type = json_get_text(bearer, "/type");

	if (bearer == NULL)
		return NIL;
	bearer = json_apply(json_copy(bearer), changes);
	if (bearer->kind != JSON_OBJECT)
		adapter_fault(t->adapter, translation_carrier_path(t->adapter, t->document), "WRONG_TYPE", "it does not lead to an envelope");
	translation_make_sendable(bearer, type);
	translation_complete_place(t, bearer, 0);
	if (!translation_complete(t, bearer, 0))
		return NIL;
	translation_require_valid(t, bearer);
	translation_keep(t, bearer, true);
	return list_make1(bearer);
}

static List *
translation_inbound_foreign(Translation *t, List *envelopes)
{
	Json	   *bearer = translation_bearer(t->adapter, envelopes);
	List	   *complete = NIL;
	int			place = 0;
	ListCell   *lc;

	foreach(lc, envelopes)
		if (lfirst(lc) == bearer)
			translation_complete_place(t, bearer, foreach_current_index(lc));
	foreach(lc, envelopes)
	{
		if (lfirst(lc) != bearer)
		{
			translation_inherit(t, lfirst(lc), bearer);
			translation_complete_place(t, lfirst(lc), place);
		}
		if (translation_complete(t, lfirst(lc), place++))
			complete = lappend(complete, lfirst(lc));
	}
	foreach(lc, complete)
	{
		Json	   *envelope = lfirst(lc);

		if (envelope == bearer)
			translation_keep(t, envelope, false);
		else
			adapter_note(t->adapter, envelope, "/part_of", json_get(bearer, "/id"));
	}
	return complete;
}

List *
translation_inbound(const Adapter *adapter, Json *raw, const Json *context, const TranslationWorld *world)
{
	Json	   *dropped = credential_remove(raw);
	const char *carrier = translation_carrier_path(adapter, raw);
	bool		may_be_carried = carrier != NULL && json_get(raw, carrier) != NULL;
	Json	   *document = may_be_carried ? json_copy(raw) : raw;
	Json	   *changes = may_be_carried ? translation_take_carrier(adapter, carrier, raw) :
		adapter->is_ours ? json_new_array() : NULL;
	Translation t = {.adapter = adapter, .document = document, .context = context, .world = world, .dropped = dropped};
	List	   *envelopes = NIL;
	ListCell   *lc;

	translation_begin(&t);
	/* what is changed in the envelopes from here on must not change the document */
	foreach(lc, adapter->inbound(adapter, raw, context))
		envelopes = lappend(envelopes, translation_own(adapter, lfirst(lc)));
	return changes != NULL ? translation_inbound_carried(&t, envelopes, changes) :
		translation_inbound_foreign(&t, envelopes);
}
