// `patchbay webhooks show|set|remove|list|test|redeliver`: manages a workspace's webhook and its delivery log [cli.webhooks].
import {
  type DeliveryState,
  type DeliveryView,
  deliveryView,
  webhookDeleted,
  type WebhookView,
  webhookView,
} from "../../contract/webhook.ts";
import { confirm } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { openSession, readDocument, type Session, parseReply, workspacePath } from "../gateway-session.ts";
import type { AdminOptions } from "./keys.ts";
import { type ListOptions, printList, readList, readPages } from "../print-list.ts";
import { formatFields, printJson } from "../print.ts";
import { CliError, printLine, type Terminal, stripControlCharacters, write } from "../terminal.ts";

export interface WebhookSetOptions extends AdminOptions {
  readonly disable?: boolean;
  readonly rotateSecret?: boolean;
  readonly revokePrevious?: boolean;
}
export interface WebhookRemoveOptions extends AdminOptions {
  readonly yes?: boolean;
}
export interface DeliveryListOptions extends AdminOptions, ListOptions {
  readonly status?: DeliveryState;
}
export interface RedeliverOptions extends AdminOptions {
  readonly failed?: boolean;
  readonly from?: string;
}

interface Opened {
  readonly session: Session;
  /** Path of the workspace's webhook. */
  readonly path: string;
}

export async function showWebhook(options: AdminOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const { session, path } = await open(options, terminal, signal);
  const document = await session.document(path);
  if (options.json === true) return printJson(terminal, document);
  await write(terminal.stdout, describe(parseReply(webhookView, document, "webhook")));
}

/** Prints only a newly created secret on stdout, so that it can be captured; it is never shown again. */
export async function setWebhook(
  url: string,
  options: WebhookSetOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { session, path } = await open(options, terminal, signal);
  const json = {
    url,
    enabled: options.disable !== true,
    rotate_secret: options.rotateSecret === true,
    revoke_previous: options.revokePrevious === true,
  };
  // A retry would not return the secret that the first try created.
  const document = await session.document(path, { method: "PUT", json, isRepeatable: false });
  if (options.json === true) return printJson(terminal, document);
  const webhook = parseReply(webhookView, document, "webhook");
  await write(terminal.stderr, describe(webhook));
  if (webhook.secret !== undefined) {
    await write(terminal.stderr, "The signing secret, shown only once:\n");
    await write(terminal.stdout, `${webhook.secret}\n`);
  }
  await printLine(terminal, "next: patchbay webhooks test");
}

export async function removeWebhook(
  options: WebhookRemoveOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { session, path } = await open(options, terminal, signal);
  const headers = options.yes === true ? {} : { "if-match": await confirmRemoval(session, path, terminal, signal) };
  const document = await session.document(path, { method: "DELETE", headers });
  if (options.json === true) return printJson(terminal, document);
  parseReply(webhookDeleted, document, "answer");
  await write(terminal.stdout, "removed\n");
}

/** Returns the ETag of the webhook shown in the question, so that one created meanwhile is not removed. */
async function confirmRemoval(
  session: Session,
  path: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string> {
  const reply = await session.call(path);
  const webhook = parseReply(webhookView, await readDocument(reply), "webhook");
  await confirm(`Remove the webhook to ${webhook.url}? Pending deliveries are dropped.`, terminal, signal);
  return reply.headers.get("etag") ?? "*";
}

export async function listDeliveries(
  options: DeliveryListOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { session, path } = await open(options, terminal, signal);
  const list = await readList(session, { ...deliveriesAt(path), query: { status: options.status } }, options.limit);
  const columns = {
    head: ["DELIVERY", "STATE", "TRIES", "LAST", "NEXT", "EVENT", "JOB", "CREATED"],
    row: (delivery: DeliveryView) => [
      delivery.id,
      stateOf(delivery),
      String(delivery.attempts.length),
      lastOf(delivery) ?? "-",
      delivery.next_attempt_at ?? "-",
      `${delivery.event.status}${delivery.test ? " (test)" : ""}`,
      delivery.event.job_id,
      delivery.created_at,
    ],
    nothing: "No matching deliveries. Send one: patchbay webhooks test",
  };
  await printList(terminal, list, columns, options);
}

/** One attempt now; the receiver's answer decides the exit code. */
export async function testWebhook(options: AdminOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const { session, path } = await open(options, terminal, signal);
  const document = await session.document(`${path}/test`, { method: "POST", isRepeatable: false });
  const delivery = parseReply(deliveryView, document, "delivery");
  if (delivery.status !== "delivered") {
    const response = delivery.attempts.at(-1)?.response ?? null;
    throw new CliError(EXIT.upstream, `The receiver did not accept it: ${lastOf(delivery) ?? "nothing was sent"}.`, {
      hints: [
        ...(response === null || response === "" ? [] : [`response: ${response}`]),
        "see earlier deliveries: patchbay webhooks list",
      ],
      document,
    });
  }
  if (options.json === true) return printJson(terminal, document);
  await write(terminal.stdout, stripControlCharacters(`delivered: ${lastOf(delivery) ?? ""}\n`));
}

export async function redeliver(
  ids: readonly string[],
  options: RedeliverOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const isAll = options.failed === true;
  if (isAll === ids.length > 0)
    throw new CliError(EXIT.usage, "Name the deliveries by id, or use --failed for all failed ones.", {
      hints: ["list them: patchbay webhooks list --status failed"],
    });
  if (options.from !== undefined && !isAll) throw new CliError(EXIT.usage, "--from requires --failed.");
  const from = options.from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(options.from);
  if (Number.isNaN(from)) throw new CliError(EXIT.usage, "--from must be a time such as 2027-01-31T00:00:00Z.");
  const { session, path } = await open(options, terminal, signal);
  const redelivered: DeliveryView[] = [];
  // All are listed before the first is redelivered: one that fails again would otherwise be listed twice.
  for (const id of isAll ? await givenUp(session, path, from) : ids) {
    const one = `${path}/deliveries/${encodeURIComponent(id)}/redeliver`;
    const document = await session.document(one, { method: "POST", isRepeatable: false });
    redelivered.push(parseReply(deliveryView, document, "delivery"));
    if (options.json !== true) await write(terminal.stdout, stripControlCharacters(`${id}\n`));
  }
  if (options.json === true) return printJson(terminal, { object: "list", data: redelivered });
  await printLine(
    terminal,
    redelivered.length === 0 ? "No failed deliveries." : "queued for redelivery; follow them: patchbay webhooks list",
  );
}

/** Oldest first, in their original order. */
async function givenUp(session: Session, path: string, from: number): Promise<readonly string[]> {
  const found: string[] = [];
  const request = { ...deliveriesAt(path), query: { status: "failed" } };
  for await (const { data } of readPages(session, request, Number.POSITIVE_INFINITY)) {
    const recent = data.filter((delivery) => Date.parse(delivery.created_at) >= from);
    // Test deliveries are skipped.
    found.push(...recent.filter(({ test }) => !test).map(({ id }) => id));
    if (recent.length < data.length) break;
  }
  return found.toReversed();
}

function deliveriesAt(path: string) {
  return { path: `${path}/deliveries`, item: deliveryView, what: "list of deliveries" };
}

function stateOf({ status, ended_by: endedBy }: DeliveryView): string {
  return endedBy === null ? status : `${status} (${endedBy})`;
}

/** Null: no attempt yet. */
function lastOf({ attempts }: DeliveryView): string | null {
  const last = attempts.at(-1);
  if (last === undefined) return null;
  const { outcome, status_code: status, latency_ms: latencyMs } = last;
  return `${status === null ? outcome.replaceAll("_", " ") : `HTTP ${status}`}, ${latencyMs} ms`;
}

function describe(webhook: WebhookView): string {
  const { enabled, disabled_reason: reason, disabled_at: at } = webhook;
  return formatFields([
    ["url", webhook.url],
    ["state", enabled ? "enabled" : `disabled (${reason ?? "owner"}${at === null ? "" : ` since ${at}`})`],
    ["secret", `ends in ${webhook.secret_last4}`],
    ["old secret", webhook.previous_secret_until === null ? null : `signs too until ${webhook.previous_secret_until}`],
    ["failing", webhook.failing_since === null ? null : `since ${webhook.failing_since}`],
  ]);
}

async function open(options: AdminOptions, terminal: Terminal, signal: AbortSignal): Promise<Opened> {
  const session = openSession(options, terminal, signal, "operator");
  return { session, path: `${await workspacePath(session, options.workspace)}/stt-webhook` };
}
