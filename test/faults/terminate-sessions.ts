// Terminates every other session of a database at once, like a failover or an operator.
import { Client } from "pg";

export async function terminateSessions(databaseUrl: string): Promise<void> {
  const admin = new Client({ connectionString: databaseUrl });
  await admin.connect();
  try {
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
  } finally {
    await admin.end();
  }
}
