// The verbs of the webhook on a real database, with receivers of the test's own making and a queue that only notes.
import type { Precondition } from "../../src/admin/precondition.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { type AppId, brand, newId, type WorkspaceId } from "../../src/contract/ids.ts";
import type { EventStatus } from "../../src/contract/webhook.ts";
import { configureWebhook } from "../../src/webhooks/configure.ts";
import { deliver, readMessage } from "../../src/webhooks/deliver.ts";
import { createDeliveryWrites } from "../../src/webhooks/delivery-writes.ts";
import { deliverOnTerminal } from "../../src/webhooks/on-terminal.ts";
import type { DeliveryMessage } from "../../src/webhooks/queues.ts";
import type { RetryRules } from "../../src/webhooks/record-attempt.ts";
import type { ReceiverAnswer, ReceiverRequest, WebhookServices } from "../../src/webhooks/services.ts";
import { makeTenant, type TestDatabase } from "../harness/postgres/database.ts";

export const URL_OF_RECEIVER = "https://receiver.example/hooks";

export interface SentMessage {
  readonly lane: string;
  readonly message: DeliveryMessage;
  readonly delaySeconds: number;
}

export interface AuditRow {
  readonly action: string;
  readonly actor_key_id: string | null;
  readonly object: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface Bench {
  readonly services: WebhookServices;
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  readonly requests: ReceiverRequest[];
  readonly sent: SentMessage[];
  audits(): Promise<AuditRow[]>;
  /** What the receiver answers from now on. */
  answer(next: ReceiverAnswer | ((request: ReceiverRequest) => Promise<ReceiverAnswer>)): void;
  configure(
    wanted?: Partial<Parameters<typeof configureWebhook>[1]["wanted"]>,
    precondition?: Precondition,
  ): ReturnType<typeof configureWebhook>;
  /** A job that ended; the message that was sent for it, if one was. */
  event(status?: EventStatus): Promise<DeliveryMessage | null>;
  /** Delivers what the queue would, and answers the message of the next attempt. */
  run(message: DeliveryMessage): Promise<SentMessage | null>;
}

export const ok: ReceiverAnswer = { kind: "answer", statusCode: 204, retryAfter: undefined, bodyStart: "" };
export const status = (statusCode: number, retryAfter?: string): ReceiverAnswer => ({
  kind: "answer",
  statusCode,
  retryAfter,
  bodyStart: `status ${statusCode}`,
});

export async function openBench(
  database: TestDatabase,
  change: Partial<WebhookServices & RetryRules> = {},
): Promise<Bench> {
  const tenant = await makeTenant(database);
  const workspaceId = brand("workspace", tenant.workspaceId);
  const appId = brand("app", tenant.appId);
  const requests: ReceiverRequest[] = [];
  const sent: SentMessage[] = [];
  let answer: (request: ReceiverRequest) => Promise<ReceiverAnswer> = async () => ok;
  const timeoutMs = 15_000;
  const base: Omit<WebhookServices, "writes"> = {
    database,
    seal: createSeal({ keys: [Buffer.alloc(32, 3)] }),
    queue: {
      send: async (lane, data, options) => {
        const { startAfter } = options ?? {};
        sent.push({
          lane,
          message: readMessage(data),
          delaySeconds: typeof startAfter === "number" ? startAfter : 0,
        });
      },
      sendAll: async (lane, messages) => {
        for (const { data, startAfter } of messages)
          sent.push({
            lane,
            message: readMessage(data),
            delaySeconds: typeof startAfter === "number" ? startAfter : 0,
          });
      },
    },
    receivers: {
      refusal: async () => null,
      post: async (request) => {
        requests.push(request);
        return answer(request);
      },
    },
    timeoutMs,
    nowMs: Date.now,
    ...change,
  };
  const rules = { maxAttempts: 8, random: () => 0.5, ...change };
  const services: WebhookServices = { writes: createDeliveryWrites({ ...rules, ...base, database }), ...base };
  return {
    services,
    workspaceId,
    appId,
    requests,
    sent,
    audits: () =>
      database.db
        .selectFrom("audit_log")
        .select(["action", "actor_key_id", "object", "before", "after"])
        .where("workspace_id", "=", workspaceId)
        .orderBy("id")
        .execute(),
    answer: (next) => {
      answer = typeof next === "function" ? next : async () => next;
    },
    configure: (wanted = {}, precondition = null) =>
      configureWebhook(services, {
        workspaceId,
        actor: newId("key"),
        precondition,
        wanted: { url: URL_OF_RECEIVER, enabled: true, rotate_secret: false, revoke_previous: false, ...wanted },
      }),
    event: async (jobStatus = "succeeded") => {
      const before = sent.length;
      await database.transaction((tx) =>
        deliverOnTerminal(services, tx, [
          {
            id: newId("event"),
            type: `transcription.job.${jobStatus}`,
            workspaceId,
            appId,
            jobId: newId("job"),
            status: jobStatus,
            occurredAt: new Date(),
          },
        ]),
      );
      return sent[before]?.message ?? null;
    },
    run: async (message) => {
      const before = sent.length;
      await deliver(services, message);
      return sent[before] ?? null;
    },
  };
}

export function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error("there is none");
  return value;
}
