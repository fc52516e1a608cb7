/*-------------------------------------------------------------------------
 *
 * custom.c
 *	  User-defined adapters, which consist of three functions in any language.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/custom.h"

#include "access/htup_details.h"
#include "base/query.h"
#include "base/savepoint.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "protocol/problem.h"
#include "trust/principal.h"
#include "trust/privilege.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

/* Has the caller a power outside clutch that the owner of the function does not have? */
static bool
custom_has_more_power(Oid caller, Oid owner)
{
	const Oid	powers[] = {
		ROLE_PG_EXECUTE_SERVER_PROGRAM, ROLE_PG_READ_SERVER_FILES, ROLE_PG_WRITE_SERVER_FILES,
		ROLE_PG_READ_ALL_DATA, ROLE_PG_WRITE_ALL_DATA,
#ifdef ROLE_PG_CREATE_SUBSCRIPTION
		ROLE_PG_CREATE_SUBSCRIPTION,
#endif
#ifdef ROLE_PG_MAINTAIN
		ROLE_PG_MAINTAIN,
#endif
	};

	for (int i = 0; i < lengthof(powers); i++)
		if (has_privs_of_role(caller, powers[i]) && !has_privs_of_role(owner, powers[i]))
			return true;
	/* a replication slot passes on whatever is written; CREATEDB is of no use within a transaction */
	return (has_rolreplication(caller) && !has_rolreplication(owner)) ||
		(has_bypassrls_privilege(caller) && !has_bypassrls_privilege(owner)) ||
		(has_createrole_privilege(caller) && !has_createrole_privilege(owner));
}

/*
 * May the caller do something that the owner of the function may not?  The
 * function would run with the rights of the caller.  Two roles that differ
 * only in the agents for which they speak count as equal.
 */
static bool
custom_may_more(Oid caller, Oid owner)
{
	if (caller == owner || superuser_arg(owner))
		return false;
	if (superuser_arg(caller) || custom_has_more_power(caller, owner))
		return true;
	if (privilege_is_owner(caller) || privilege_is_owner(owner))
		return !privilege_is_owner(owner);
	if (principal_is_operator(caller) || principal_is_operator(owner))
		return !principal_is_operator(owner);
	return (privilege_is_gateway(caller) && !privilege_is_gateway(owner)) ||
		(privilege_reads_all(caller, ROWS_LATEST) && !privilege_reads_all(owner, ROWS_LATEST));
}

/*
 * Returns the qualified and quoted name of the function, palloc'd, and its
 * owner.  Both come from one version of its row, because the function may be
 * dropped at any time.
 */
static char *
custom_find(const Adapter *self, const char *name, int narguments, Oid result, Oid *owner)
{
	Oid			types[] = {JSONBOID, JSONBOID};
	Oid			function = LookupFuncName(textToQualifiedNameList(cstring_to_text(name)), narguments, types, true);
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc row = HeapTupleIsValid(tuple) ? (Form_pg_proc) GETSTRUCT(tuple) : NULL;
	char	   *schema = row != NULL && row->prorettype == result ? get_namespace_name(row->pronamespace) : NULL;
	char	   *quoted;

	if (schema == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errproblem("adapter", "WRONG_VALUE"),
				 errmsg("function %s(%s) that returns %s, of adapter \"%s\", does not exist", name,
						narguments == 1 ? "jsonb" : "jsonb, jsonb", format_type_be(result), self->name),
				 errhint("Let an operator create the function, or delete the row of the adapter from clutch.adapter.")));
	quoted = quote_qualified_identifier(schema, NameStr(row->proname));
	*owner = row->proowner;
	ReleaseSysCache(tuple);
	return quoted;
}

/* a call of a function; the results are added to "rows" */
typedef struct CustomCall
{
	const char *sql;
	Jsonb	  **arguments;
	int			narguments;
	List	   *rows;			/* Jsonb * */
} CustomCall;

static void
custom_run(void *arg)
{
	CustomCall *call = arg;

	call->rows = query_list_jsonb(call->sql, call->arguments, call->narguments);
}

/*
 * Returns the rows of the function's result as jsonb.  The boolean of
 * can_handle is converted.  An envelope that is NULL is returned as a jsonb
 * null, so that a document cannot get lost silently.
 */
static List *
custom_call(const Adapter *self, const char *name, Oid result, Jsonb **arguments, int narguments)
{
	Oid			owner;
	char	   *quoted = custom_find(self, name, narguments, result, &owner);
	CustomCall	call = {.arguments = arguments, .narguments = narguments};

	if (custom_may_more(GetUserId(), owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("adapter", "FUNCTION_NOT_TRUSTED"),
				 errmsg("function %s of adapter \"%s\" belongs to role \"%s\", which has fewer rights than role \"%s\"",
						quoted, self->name, GetUserNameFromId(owner, false), GetUserNameFromId(GetUserId(), false)),
				 errhint("It would run with the rights of the current role: use a role with fewer rights, or change the owner of the function.")));
	call.sql = psprintf(narguments == 2 ? "SELECT coalesce(e, 'null') FROM %s($1, $2) AS e" :
						result == BOOLOID ? "SELECT pg_catalog.to_jsonb(%s($1))" : "SELECT %s($1)", quoted);
	/* the function runs with the rights of the current role, even while the database acts as another one */
	principal_run_as(InvalidOid, custom_run, &call);
	return call.rows;
}

/* the question whether the adapter handles a document */
typedef struct CustomQuestion
{
	const Adapter *adapter;
	Jsonb	   *document;
	const char *reason;			/* why it does not, or NULL if it does */
} CustomQuestion;

static void
custom_ask(void *arg)
{
	CustomQuestion *question = arg;
	const Adapter *self = question->adapter;
	List	   *answer = custom_call(self, self->can_handle_function, BOOLOID, &question->document, 1);

	if (answer == NIL || !json_is_true(json_read(linitial(answer)), ""))
		question->reason = psprintf("%s does not return true", self->can_handle_function);
}

/*
 * Calls can_handle.  If the function does not exist, may not be executed by
 * the caller or raises an error, this counts as a reason to decline, so that
 * the other adapters are still asked.
 */
static const char *
custom_declines(const Adapter *self, const Json *raw)
{
	CustomQuestion question = {self, json_write(raw)};
	ErrorData  *error;

	if (self->can_handle_function == NULL)
		return self->named ? NULL : "it handles only what is sent to it by its name";
	if (self->named)
	{
		custom_ask(&question);
		return question.reason;
	}
	error = savepoint_run(custom_ask, &question);
	if (error == NULL)
		return question.reason;
	if (savepoint_failed_by_chance(error))
		ReThrowError(error);
	return error->message;
}

/*
 * Checks that a member for our notes is an object.  A value of another kind
 * would be replaced, and the IDs in it lost, silently.
 */
static void
custom_require_object(const Adapter *self, const Json *envelope, const char *path)
{
	const Json *member = json_get(envelope, path);

	if (member != NULL && !json_is(member, JSON_OBJECT) && !json_is(member, JSON_NULL))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_FOREIGN_INVALID),
				 errproblem("adapter", "WRONG_TYPE"),
				 errmsg("function %s has returned an envelope whose \"%s\" is not an object", self->inbound_function, path),
				 errhint("Put the IDs of the dialect into meta.%s.native, under the names of the fields, as in {\"id\": 17}.", self->name)));
}

static List *
custom_inbound(const Adapter *self, const Json *raw, const Json *context)
{
	Jsonb	   *arguments[] = {json_write(raw), json_write(context)};
	List	   *envelopes = NIL;
	ListCell   *lc;

	foreach(lc, custom_call(self, self->inbound_function, JSONBOID, arguments, 2))
	{
		Json	   *envelope = json_read(lfirst(lc));

		if (envelope->kind != JSON_OBJECT)
			ereport(ERROR,
					(errcode(ERRCODE_CLUTCH_FOREIGN_INVALID),
					 errproblem("adapter", "WRONG_TYPE"),
					 errmsg("function %s has returned something that is not an object", self->inbound_function),
					 errhint("Each row is an envelope. A row that is NULL is usually an expression that has become NULL; for a document that is to be left out, return no row.")));
		custom_require_object(self, envelope, "/meta");
		custom_require_object(self, envelope, psprintf("/meta/%s", self->name));
		custom_require_object(self, envelope, psprintf("/meta/%s/native", self->name));
		envelopes = lappend(envelopes, envelope);
	}
	return envelopes;
}

static Json *
custom_outbound(const Adapter *self, const Json *envelope)
{
	Jsonb	   *argument = json_write(envelope);
	List	   *documents = custom_call(self, self->outbound_function, JSONBOID, &argument, 1);

	if (documents == NIL)
		adapter_unsupported(self, envelope);
	return json_read(linitial(documents));
}

void
custom_prepare(Adapter *adapter)
{
	adapter->declines = custom_declines;
	adapter->inbound = custom_inbound;
	adapter->outbound = custom_outbound;
}
