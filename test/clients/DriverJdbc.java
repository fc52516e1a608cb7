import java.sql.Array;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;

/**
 * JDBC: every parameter has a type; setString sends varchar, and setLong bigint.
 * DriverJdbc URL; with prepareThreshold=0, as behind pgbouncer, it does not listen.
 */
public class DriverJdbc
{
	static final String AGENT = "agent:clerk";
	static final String CARD = "{\"v\": \"clutch/0.1\", \"agent_id\": \"agent:clerk\","
		+ " \"capabilities\": [{\"id\": \"skill:orders\", \"version\": \"1.0.0\"}], \"limits\": {\"max_concurrency\": 4}}";
	static int number, failed;
	static Connection db;

	static void check(String what, Object got, Object wanted)
	{
		boolean good = wanted.equals(got);
		if (!good)
			failed++;
		System.out.println((good ? "" : "not ") + "ok " + ++number + " - " + what);
		if (!good)
			System.out.println("# wanted " + wanted + "\n# got    " + got);
	}

	/** A document: of no type, so that the function says which. */
	record Document(String text) {}

	static PreparedStatement prepared(String sql, Object... values) throws SQLException
	{
		PreparedStatement statement = db.prepareStatement(sql);
		for (int i = 0; i < values.length; i++)
			if (values[i] instanceof Document document)
				statement.setObject(i + 1, document.text(), Types.OTHER);
			else if (values[i] instanceof String[] texts)
				statement.setArray(i + 1, db.createArrayOf("text", texts));
			else
				statement.setObject(i + 1, values[i]);	// String, Integer, Long, Boolean
		return statement;
	}

	/** The columns of the first row, separated by spaces; "" if there is no row. */
	static String call(String sql, Object... values) throws SQLException
	{
		try (PreparedStatement statement = prepared(sql, values); ResultSet rows = statement.executeQuery())
		{
			StringBuilder text = new StringBuilder();
			if (rows.next())
				for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++)
					text.append(i == 1 ? "" : " ").append(rows.getString(i));
			return text.toString();
		}
	}

	/** SQLSTATE and detail of the error that the statement raises. */
	static String[] fault(String sql, Object... values)
	{
		try
		{
			call(sql, values);
			return new String[] {"no error", ""};
		}
		catch (SQLException error)
		{
			String detail = error instanceof PSQLException e && e.getServerErrorMessage() != null
				? e.getServerErrorMessage().getDetail() : null;
			return new String[] {error.getSQLState(), String.valueOf(detail)};
		}
	}

	static void ask(String task) throws SQLException
	{
		call("SELECT seq FROM clutch.send(clutch.envelope('task.request', 'agent:shop', payload => ?, requires => ?, task_id => ?))",
			 new Document("{\"n\": 1}"), new String[] {"skill:orders"}, task);
	}

	static void story(boolean listens) throws SQLException
	{
		check("register", call("SELECT late FROM clutch.register(?)", new Document(CARD)), "f");
		if (listens)
			call("SELECT clutch.listen('agent', ?)", AGENT);
		ask("jdbc-1");
		if (listens)
			check("listen", ((PGConnection) db).getNotifications(10000).length > 0, true);
		check("claim", call("SELECT task_id, attempt, envelope #>> '{payload,n}' FROM clutch.claim(?, ?, ? * interval '1 s')",
							AGENT, 1, 30), "jdbc-1 1 1");
		check("progress", call("SELECT late FROM clutch.progress(?, ?, ?, ?)", AGENT, "jdbc-1", new Document("{\"percent\": 50}"), 1), "f");
		check("extend_lease", call("SELECT state FROM clutch.extend_lease(?, ?, ?, ? * interval '1 s')", AGENT, "jdbc-1", 1, 60), "held");
		String finish = "SELECT late FROM clutch.finish(?, ?, ?, ?)";
		check("setLong is bigint", fault(finish, AGENT, "jdbc-1", new Document("{}"), 1L)[0], "42883");
		check("setString is varchar", fault(finish, AGENT, "jdbc-1", "{}", 1)[0], "42883");
		check("both with a cast", call("SELECT late FROM clutch.finish(?, ?, ?::jsonb, ?::int)", AGENT, "jdbc-1", "{\"n\": 2}", 1L), "f");
		check("result", call("SELECT status, payload FROM clutch.result(?)", "jdbc-1"), "completed {\"n\": 2}");
		ask("jdbc-2");
		call("SELECT task_id FROM clutch.claim(?)", AGENT);
		check("release", call("SELECT late FROM clutch.release(?, ?, ?, ?)", AGENT, "jdbc-2", 1, "the worker stops"), "f");
		check("the next attempt", call("SELECT attempt FROM clutch.claim(?)", AGENT), "2");
		check("fail", call("SELECT late FROM clutch.fail(?, ?, ?, ?, ?, ?, ?)",
						   AGENT, "jdbc-2", "BROKEN", "it's broken", false, new Document("{\"why\": 1}"), 2), "f");
		call("SELECT clutch.subscribe(?, ?, 'beginning')", "clients:jdbc", new Document("{\"agent\": \"agent:shop\"}"));
		String pos = call("SELECT max(pos) FROM clutch.read(?, ?)", "clients:jdbc", 1000);
		call("SELECT clutch.commit(?, ?)", "clients:jdbc", pos);
		check("read and commit", call("SELECT pos FROM clutch.read(?)", "clients:jdbc"), "");
		String[] fault = fault("SELECT clutch.send(?)", new Document("{\"v\": \"clutch/0.1\"}"));
		check("an invalid envelope", fault[0] + fault[1].contains("\"code\": \"REQUIRED\""), "KL001true");
	}

	public static void main(String[] arguments) throws Exception
	{
		db = DriverManager.getConnection(arguments[0]);
		story(!arguments[0].contains("prepareThreshold=0"));
		db.close();
		db = DriverManager.getConnection(arguments[0] + "&stringtype=unspecified");
		ask("jdbc-3");
		call("SELECT task_id FROM clutch.claim(?)", AGENT);
		check("stringtype=unspecified: setString is a document",
			  call("SELECT late FROM clutch.finish(?, ?, ?, ?)", AGENT, "jdbc-3", "{}", 1), "f");
		System.out.println("1.." + number);
		System.exit(failed == 0 ? 0 : 1);
	}
}
