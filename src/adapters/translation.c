/*-------------------------------------------------------------------------
 *
 * translation.c
 *	  Lossless translation, for all adapters.
 *
 * translation_draft.c fills in what an adapter has left open in an envelope, translation_change.c
 * finds what somebody has changed in it, and translation_carrier.c reads and writes carriers.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/translation_part.h"

#include "base/savepoint.h"
#include "protocol/envelope.h"
#include "protocol/problem.h"

/* ----------------------------------------------------------------- outbound */

/* Returns the envelope that stands for the document. */
static Json *
translation_bearer(const Adapter *adapter, List *envelopes)
{
	Json	   *bearer = adapter_bearer(adapter, envelopes);

	return bearer != NULL || envelopes == NIL ? bearer : llast(envelopes);
}

/*
 * Replaces a member that is an object or an array by a shallow copy, which is returned.  Returns
 * NULL if the member is neither.
 */
static Json *
translation_own_member(Json *object, Slice key)
{
	Json	   *member = json_member(object, key);

	if (member == NULL || (member->kind != JSON_OBJECT && member->kind != JSON_ARRAY))
		return NULL;
	member = json_copy_top(member);
	json_put_member(object, key, member);
	return member;
}

/* Returns a copy whose notes, sender and meta.clutch can be modified.  Everything else is shared with the original. */
static Json *
translation_own(const Adapter *adapter, const Json *envelope)
{
	Json	   *own = json_copy_top(envelope);
	Json	   *meta = translation_own_member(own, SLICE_OF("meta"));

	(void) translation_own_member(own, SLICE_OF("from"));
	(void) translation_own_member(meta, SLICE_OF("clutch"));
	(void) translation_own_member(translation_own_member(meta, slice_of_cstring(adapter->name)), SLICE_OF("native"));
	return own;
}

/*
 * Moves what inbound has noted for its own use to "notes", and removes the objects that contained
 * nothing else.  is_carried says that the envelope was never foreign, so that a digest in it is
 * not ours.
 */
static void
translation_take_notes(const Adapter *adapter, Json *envelope, Json *notes, bool is_carried)
{
	static const Slice ours[] = {{"kept", 4}, {"carried", 7}, {"dropped", 7}, {"digest", 6}};
	int			n = notes->n;

	for (int i = notes->n - 1; i >= 0; i--)
		for (int j = is_carried ? 2 : 3; j >= 0; j--)
			if (slice_equal(notes->keys[i], ours[j]))
			{
				json_take_at(notes, i);
				break;
			}
	if (n > 0 && notes->n == 0)
		(void) translation_take(envelope, psprintf("/meta/%s", adapter->name));
}

/*
 * Returns the envelope as it was before anything was kept.  It shares values with the argument.
 * If the context had replaced the sender of the document, the original sender is restored.
 */
static Json *
translation_unmarked(const Adapter *adapter, const Json *envelope, bool is_carried)
{
	Json	   *copy = translation_own(adapter, envelope);
	Json	   *notes = adapter_noted(adapter, copy, "");
	Slice		as = json_get_text(notes, "/as");
	Slice		sender = slice_present(as) ? json_get_text(notes, "/native/from") : SLICE_NONE;

	if (slice_present(sender) && slice_equal(as, json_get_text(envelope, "/from/agent_id")))
		json_put_text(copy, "/from/agent_id", sender);
	if (!json_is(notes, JSON_OBJECT))
		return copy;
	translation_take_notes(adapter, copy, notes, is_carried);
	/* an envelope with other notes must still be recognized as foreign */
	if (!is_carried && notes->n > 0)
		adapter_note(adapter, copy, "/kept", json_new_array());
	return copy;
}

/* Returns the document that the adapter makes.  It shares values with the envelope. */
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

static void
translation_read(void *arg)
{
	TranslationReading *reading = arg;
	List	   *envelopes = reading->adapter->inbound(reading->adapter, reading->document, reading->context);

	reading->bearer = translation_bearer(reading->adapter, envelopes);
	reading->has_stub = translation_has_stub(reading->adapter, envelopes);
}

/* Returns false if the document is not valid. */
static bool
translation_try_read(TranslationReading *reading)
{
	ErrorData  *error = savepoint_run(translation_read, reading);

	if (error != NULL && savepoint_failed_by_chance(error))
		ReThrowError(error);
	return error == NULL;
}

/* Returns a context in which a changed document is read.  task_id is absent if the context names no task. */
static Json *
translation_reading_context(Slice task_id)
{
	Json	   *context = json_new_object();

	/* otherwise pieces of messages would be dropped */
	json_put(context, "/stream", json_of_bool(true));
	json_put_text(context, "/task_id", task_id);
	return context;
}

/*
 * Returns the document for an envelope that was never foreign, with its carrier.  If nobody could
 * read the document because of notes that the sender has written, they are only in the carrier.
 */
static Json *
translation_carry(const Adapter *adapter, const Json *envelope)
{
	Json	   *document = json_copy(translation_write(adapter, envelope));
	TranslationReading reading = {adapter, translation_uncarried(adapter, document), json_new_object()};
	Json	   *changes;

	if (adapter_noted(adapter, envelope, "") == NULL)
		translation_read(&reading);
	else if (!translation_try_read(&reading))
	{
		Json	   *without = translation_own(adapter, envelope);

		(void) translation_take(without, psprintf("/meta/%s", adapter->name));
		document = json_copy(translation_write(adapter, without));
		reading.document = translation_uncarried(adapter, document);
		translation_read(&reading);
	}
	changes = json_difference(reading.bearer != NULL ? reading.bearer : json_new_object(), envelope);
	if (changes->n > 0)
		translation_put_carrier(adapter, document, changes);
	return document;
}

/*
 * Adds changes that are needed only within a task.  A task in the context may affect the type,
 * because an error becomes the end of that task, so a document may make one envelope with the
 * context and another one without it.  The changes lead from the envelope without the context,
 * which "reading" is, and some of them do not apply to the other one.  We add the changes that it
 * still lacks.  If the original document was read within a task, the new one will be, too.
 */
static Json *
translation_add_changes_in_task(TranslationReading reading, const Json *envelope, const Json *unmarked, Json *changes)
{
	Slice		type = json_get_text(envelope, "/type");
	Slice		task_id = json_get_text(envelope, "/task_id");
	bool		was_in_task = translation_was_in_task(reading.adapter, envelope);

	if (!slice_present(task_id) || (!was_in_task && (changes == NULL || slice_equal(type, json_get_text(reading.bearer, "/type")))))
		return changes;
	reading.context = translation_reading_context(task_id);
	if (!translation_try_read(&reading) || reading.bearer == NULL ||
		(!was_in_task && !slice_equal(type, json_get_text(reading.bearer, "/type"))))
		return changes;
	reading.bearer = json_copy(reading.bearer);
	/* our context only resembles that in which the document will be read */
	reading.is_subtask = slice_equal(json_get_text(reading.bearer, "/parent_task_id"), task_id);
	if (reading.is_subtask)
		(void) json_take(reading.bearer, "/parent_task_id");
	if (changes == NULL)
		return translation_changes(&reading, envelope, unmarked);
	json_apply(reading.bearer, json_copy(changes));
	json_add_all(changes, translation_changes(&reading, envelope, unmarked));
	return changes;
}

/*
 * Puts a carrier into the document of a foreign envelope, if the document lacks anything that has
 * been changed in the envelope.  Returns false if a carrier in it could not be read, because a
 * change has removed a member that the dialect requires.
 */
static bool
translation_carry_changes(const Adapter *adapter, const Json *envelope, const Json *unmarked, Json *document)
{
	Json	   *uncarried = json_copy(document);
	TranslationReading reading = {adapter, uncarried, translation_reading_context(SLICE_NONE)};
	Json	   *changes;

	/* what removing the carrier leaves behind may be less than what was there before */
	(void) translation_take_carrier(adapter, document);
	translation_put_carrier(adapter, uncarried, json_new_array());
	(void) translation_take_carrier(adapter, uncarried);
	if (!translation_try_read(&reading) || reading.bearer == NULL)
		return false;
	changes = translation_changes(&reading, envelope, unmarked);
	changes = translation_add_changes_in_task(reading, envelope, unmarked, changes);
	if (changes != NULL)
		translation_put_carrier(adapter, document, changes);
	return true;
}

/* Returns the document for an envelope that was never foreign, or that was complete when it came in. */
static Json *
translation_write_carried(const Adapter *adapter, const Json *envelope)
{
	return translation_carry(adapter, translation_unmarked(adapter, envelope, true));
}

/*
 * Returns the document for a foreign envelope, with the changes in "kept" applied.  Some of them
 * are inside the carrier, and can be made only after it was written.  If the type of the envelope
 * has been changed, what was kept of the other document may not fit this one; we drop it if that
 * makes the document readable.
 */
static Json *
translation_write_foreign(const Adapter *adapter, const Json *envelope, const Json *kept)
{
	const Json *unmarked = translation_unmarked(adapter, envelope, false);
	Json	   *plain = translation_write(adapter, unmarked);
	Json	   *document;
	Json	   *without;

	if (!translation_is_changed(adapter, envelope))
		return json_apply(json_copy(plain), kept);
	/* a carrier may have its place in an object that "kept" restores */
	document = json_apply(json_copy(plain), json_copy(kept));
	if (translation_carry_changes(adapter, envelope, unmarked, document))
		return json_apply(document, kept);
	without = json_copy(plain);
	return translation_carry_changes(adapter, envelope, unmarked, without) ? without : document;
}

Json *
translation_outbound(const Adapter *adapter, const Json *envelope)
{
	const Json *kept = adapter_noted(adapter, envelope, "/kept");

	if (kept == NULL || json_is_true(adapter_noted(adapter, envelope, "/carried"), ""))
		return json_apply(translation_write_carried(adapter, envelope), kept);
	return translation_write_foreign(adapter, envelope, kept);
}

/* ------------------------------------------------------------------ inbound */

/*
 * Removes a value that is not an object but stands where the notes belong.  A carrier can put one
 * there.  It will come back as part of the difference to the document.
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
 * this must precede computing any difference, because translation_unmarked removes this note and
 * the objects that contain nothing else
 */
static void
translation_note_dropped(const Translation *t, Json *envelope)
{
	if (t->dropped == NULL)
		return;
	translation_make_room(t->adapter, envelope);
	adapter_note(t->adapter, envelope, "/dropped", t->dropped);
}

/*
 * Notes the difference between the document that the envelope makes without it and the original
 * document, as "kept".  An empty "kept" is noted before the difference is computed, for the same
 * reason as above.
 */
static void
translation_keep_carried(const Translation *t, Json *envelope)
{
	translation_note_dropped(t, envelope);
	if (json_difference(translation_write_carried(t->adapter, envelope), t->document)->n == 0)
		return;
	translation_make_room(t->adapter, envelope);
	adapter_note(t->adapter, envelope, "/carried", json_of_bool(true));
	adapter_note(t->adapter, envelope, "/kept", json_new_array());
	adapter_note(t->adapter, envelope, "/kept", json_difference(translation_write_carried(t->adapter, envelope), t->document));
}

/*
 * The same for a foreign envelope.  Its document has a carrier only if somebody has changed the
 * envelope.  "plain" is the envelope without these changes.
 */
static void
translation_keep_foreign(const Translation *t, Json *envelope, const Json *plain, bool has_time, int said)
{
	Json	   *kept;
	Json	   *rest;

	translation_note_dropped(t, envelope);
	translation_make_room(t->adapter, envelope);
	adapter_note(t->adapter, envelope, "/kept", json_new_array());
	kept = json_difference(translation_write(t->adapter, translation_unmarked(t->adapter, envelope, false)), t->uncarried);
	translation_note_digest(t->adapter, envelope, plain, has_time, said);
	if (t->uncarried != t->document)
	{
		rest = json_difference(translation_write_foreign(t->adapter, envelope, kept), t->document);
		json_add_all(kept, rest);
	}
	adapter_note(t->adapter, envelope, "/kept", kept);
}

/*
 * Checks the envelope that a carrier has led to.  Anybody can write a carrier, and adapters must
 * be given only valid envelopes.
 */
static void
translation_require_valid(const Translation *t, const Json *envelope)
{
	ProblemList *list = problem_list();
	AdapterCarrierForm form;
	Envelope	read;

	envelope_read(json_write(envelope), &read, list);
	if (list->n > 0 && t->adapter->is_ours)
		adapter_fault(t->adapter, list->items[0].path, list->items[0].code, "%s", problem_clause(list->items[0].message));
	if (list->n > 0)
		adapter_fault(t->adapter, translation_carrier_path(t->adapter, t->document, &form), list->items[0].code,
					  "it leads to an envelope that is not valid at \"%s\"", list->items[0].path);
}

/*
 * Returns the envelope for a document with a carrier.  Both are copied, because
 * what the changes put into the envelope may be changed there.
 */
static Json *
translation_apply(const Translation *t, const Json *bearer, const Json *changes)
{
	Json	   *changed = json_apply(json_copy(bearer), json_copy(changes));
	AdapterCarrierForm form;

	if (changed->kind != JSON_OBJECT)
		adapter_fault(t->adapter, translation_carrier_path(t->adapter, t->document, &form), "WRONG_TYPE", "it does not lead to an envelope");
	translation_make_sendable(t->adapter, changed, json_get_text(bearer, "/type"));
	return changed;
}

/*
 * Returns the envelope for a document that was made from one that was never foreign, as if it had
 * come in without a session and a number.  What an adapter notes of them was unknown when the
 * carrier was written, so the carrier does not remove it.  Without an ID in the carrier, the ID is
 * that of the dialect, which belongs to the session, or is told apart by the number.
 */
static Json *
translation_without_session(const Translation *t, const Json *raw, Json *bearer, const Json *changes)
{
	Json	   *context = json_copy_top(t->context);
	bool		has_session = t->adapter->has_sessions && json_take(context, "/session") != NULL;
	bool		has_number = json_take(context, "/seq") != NULL;
	Json	   *own;

	if (!has_session && !has_number)
		return bearer;
	own = translation_apply(t, translation_bearer(t->adapter, t->adapter->inbound(t->adapter, raw, context)), changes);
	return adapter_member(own, "/id") != NULL ? own : bearer;
}

/*
 * Returns the envelope for a document that was made from one that was never foreign, as a List,
 * or NIL if it is a stub that is not needed.
 */
static List *
translation_inbound_carried(Translation *t, Json *bearer)
{
	translation_complete_place(t, bearer, 0);
	if (!translation_complete(t, bearer, 0))
		return NIL;
	translation_require_valid(t, bearer);
	translation_keep_carried(t, bearer);
	return list_make1(bearer);
}

/*
 * Completes the envelope that stands for the document. "plain" is what it would be without the
 * carrier, but with the same identifiers; it is the same envelope if there is no carrier.  Returns
 * false for a stub that is not needed.
 */
static bool
translation_complete_bearer(Translation *t, Json *bearer, Json *plain, int place)
{
	if (!translation_complete(t, bearer, place))
		return false;
	if (plain == bearer)
		return true;
	translation_require_valid(t, bearer);
	adapter_note(t->adapter, plain, "/native", json_copy(adapter_noted(t->adapter, bearer, "/native")));
	translation_complete_place(t, plain, place);
	(void) translation_complete(t, plain, place);
	return true;
}

/* Returns the envelopes for a document, with "bearer" in place of "plain", which is among them. */
static List *
translation_inbound_foreign(Translation *t, List *envelopes, Json *bearer, Json *plain)
{
	List	   *complete = NIL;
	bool		has_time = plain != NULL && json_get(plain, "/ts") != NULL;
	int			said = bearer != NULL ? translation_said(t, bearer, envelopes) : 0;
	ListCell   *lc;

	translation_complete_places(t, envelopes, bearer, plain);
	foreach(lc, envelopes)
	{
		Json	   *envelope = lfirst(lc);
		int			place = foreach_current_index(lc);

		if (envelope == bearer ? translation_complete_bearer(t, bearer, plain, place) : translation_complete(t, envelope, place))
			complete = lappend(complete, envelope);
	}
	foreach(lc, complete)
	{
		Json	   *envelope = lfirst(lc);

		if (envelope == bearer)
			translation_keep_foreign(t, envelope, plain, has_time, said);
		else
			adapter_note(t->adapter, envelope, "/part_of", json_get(bearer, "/id"));
	}
	return complete;
}

List *
translation_inbound(const Adapter *adapter, Json *raw, const Json *context, const TranslationWorld *world)
{
	Json	   *dropped = translation_clean(adapter, raw);
	AdapterCarrierForm form;
	const char *carrier = translation_carrier_path(adapter, raw, &form);
	bool		may_be_carried = carrier != NULL && json_get(raw, carrier) != NULL;
	Json	   *document = may_be_carried ? json_copy(raw) : raw;
	Json	   *changes = may_be_carried ? translation_take_carrier(adapter, raw) : adapter->is_ours ? json_new_array() : NULL;
	Translation t = {.adapter = adapter, .document = document, .uncarried = raw, .context = context, .world = world, .dropped = dropped};
	List	   *envelopes = NIL;
	Json	   *plain;
	Json	   *bearer;
	ListCell   *lc;

	translation_begin(&t);
	translation_check_whole_context(&t);
	t.context = translation_hide_session(&t);
	/* later changes to the envelopes must not change the document */
	foreach(lc, adapter->inbound(adapter, raw, t.context))
		envelopes = lappend(envelopes, translation_own(adapter, lfirst(lc)));
	plain = translation_bearer(adapter, envelopes);
	bearer = plain != NULL && changes != NULL ? translation_apply(&t, plain, changes) : plain;
	if (bearer == NULL || changes == NULL || (!adapter->is_ours && adapter_noted(adapter, bearer, "/kept") != NULL))
		return translation_inbound_foreign(&t, envelopes, bearer, plain);
	return translation_inbound_carried(&t, translation_without_session(&t, raw, bearer, changes));
}
