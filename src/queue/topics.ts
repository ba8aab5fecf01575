// The notification channel of all queues and topics. A payload is a queue's name, or a topic after `TOPIC_MARK`.
import { type RawBuilder, sql } from "kysely";

export const CHANNEL = "patchbay_queue";
export const TOPIC_MARK = "@";

/** An expression for a `returning` list that publishes a topic for each row when the statement's transaction commits. */
export function publishing(topic: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`pg_notify(${sql.lit(CHANNEL)}, ${sql.lit(TOPIC_MARK)} || ${topic})`;
}
