/*-------------------------------------------------------------------------
 *
 * custom.c
 *	  Adapters that users have written, as three functions in any language.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/custom.h"

#include "access/htup_details.h"
#include "base/query.h"
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

/* the rights of a role: the owner of a function must have as many as its caller */
typedef enum CustomRank
{
	CUSTOM_ROLE,
	CUSTOM_OPERATOR,
	CUSTOM_OWNER,
	CUSTOM_SUPERUSER
} CustomRank;

static CustomRank
custom_rank(Oid role)
{
	return superuser_arg(role) ? CUSTOM_SUPERUSER :
		privilege_is_owner(role) ? CUSTOM_OWNER :
		principal_is_operator(role) ? CUSTOM_OPERATOR : CUSTOM_ROLE;
}

static Oid
custom_find(const Adapter *self, const char *name, int narguments, Oid result)
{
	Oid			types[] = {JSONBOID, JSONBOID};
	Oid			function = LookupFuncName(textToQualifiedNameList(cstring_to_text(name)), narguments, types, true);

	if (!OidIsValid(function) || get_func_rettype(function) != result)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errproblem("adapter", "WRONG_VALUE"),
				 errmsg("function %s(%s) that returns %s, of adapter \"%s\", does not exist", name,
						narguments == 1 ? "jsonb" : "jsonb, jsonb", format_type_be(result), self->name),
				 errhint("Create the function, or delete the row of the adapter from clutch.adapter.")));
	return function;
}

/* the role that owns the function, if it has fewer rights than the current role; or InvalidOid */
static Oid
custom_weak_owner(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	return custom_rank(owner) < custom_rank(GetUserId()) ? owner : InvalidOid;
}

static char *
custom_owner_name(Oid owner)
{
	return GetUserNameFromId(owner, false);
}

/* Whoever is acted for meanwhile, the function has the rights of the current role. */
static List *
custom_run(const char *sql, Jsonb **arguments, int narguments)
{
	Oid			acting_for = principal_acting_for();
	List	   *rows = NIL;

	principal_act_for(InvalidOid);
	PG_TRY();
	{
		rows = query_list_jsonb(sql, arguments, narguments);
	}
	PG_FINALLY();
	{
		principal_act_for(acting_for);
	}
	PG_END_TRY();
	return rows;
}

/* the rows of the function; of can_handle, its result as a jsonb */
static List *
custom_call(const Adapter *self, const char *name, Oid result, Jsonb **arguments, int narguments)
{
	Oid			function = custom_find(self, name, narguments, result);
	Oid			weak = custom_weak_owner(function);
	char	   *quoted = quote_qualified_identifier(get_namespace_name(get_func_namespace(function)),
													get_func_name(function));

	if (OidIsValid(weak))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("adapter", "FUNCTION_NOT_TRUSTED"),
				 errmsg("function %s of adapter \"%s\" belongs to role \"%s\", which has fewer rights than role \"%s\"",
						quoted, self->name, custom_owner_name(weak), GetUserNameFromId(GetUserId(), false)),
				 errhint("It would run with the rights of the current role: use a role with fewer rights, or change the owner of the function.")));
	return custom_run(psprintf("SELECT %s%s(%s)%s", result == BOOLOID ? "pg_catalog.to_jsonb(" : "", quoted,
							   narguments == 1 ? "$1" : "$1, $2", result == BOOLOID ? ")" : ""),
					  arguments, narguments);
}

static const char *
custom_declines(const Adapter *self, const Json *raw)
{
	Jsonb	   *document = json_write(raw);
	Oid			weak;
	List	   *answer;

	if (self->can_handle_function == NULL)
		return self->named ? NULL : "it handles only what is sent to it by its name";
	weak = custom_weak_owner(custom_find(self, self->can_handle_function, 1, BOOLOID));
	if (OidIsValid(weak))
		return psprintf("its function belongs to role \"%s\", which has fewer rights than the current role", custom_owner_name(weak));
	answer = custom_call(self, self->can_handle_function, BOOLOID, &document, 1);
	if (answer != NIL && json_is_true(json_read(linitial(answer)), ""))
		return NULL;
	return psprintf("%s does not return true", self->can_handle_function);
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
					 errmsg("%s has returned something that is not an object", self->inbound_function)));
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
