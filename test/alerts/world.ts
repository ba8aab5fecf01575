// Alerts on a real database, with HTTP receivers behind a pretended internet and the guard in front of them.
import { rm } from "node:fs/promises";
import type { TestContext } from "node:test";
import type { Alert } from "../../src/alerts/alert.ts";
import { alertDestinations, type Destination } from "../../src/alerts/destinations.ts";
import type { AlertServices } from "../../src/alerts/services.ts";
import { openOutbound } from "../../src/compose/outbound.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { brand } from "../../src/contract/ids.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { webhookPolicy } from "../../src/outbound/url-policy.ts";
import { createReceivers } from "../../src/webhooks/receivers.ts";
import { type AlertMessage, type AlertVerdict, verifyAlert } from "../../src/webhooks/verify.ts";
import { configurationOf } from "../harness/gateway.ts";
import { makeTemporary } from "../harness/postgres/embedded-data.ts";
import type { TestDatabase } from "../harness/postgres/database.ts";
import { httpServer, readAll } from "../outbound/loopback.ts";
import { type PretendInternet, pretendInternet } from "../outbound/pretend-internet.ts";

export const PEPPER = Buffer.alloc(32, 7);
export const OPERATOR_URL = "https://operator.example/services/T0/token-of-the-operator";

export interface Received {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
  readonly url: string;
}

export interface Receiver {
  readonly received: Received[];
  /** What it answers from now on. */
  status(code: number): void;
}

export interface World {
  readonly internet: PretendInternet;
  readonly lines: readonly string[];
  readonly attempts: readonly string[];
  readonly services: AlertServices;
  /** The same configuration in another process. */
  servicesOn(database: AlertServices["database"]): AlertServices;
}

/** Serves a name of the pretended internet. */
export async function startReceiver(t: TestContext, internet: PretendInternet, host: string): Promise<Receiver> {
  const received: Received[] = [];
  let code = 200;
  const server = await httpServer(t, async (request, response) => {
    const body = await readAll(request);
    response.writeHead(code).end("noted");
    received.push({ headers: request.headers, body, url: request.url ?? "" });
  });
  const address = `93.184.216.${hosts(internet)}`;
  internet.name(host, [address]);
  internet.server(address, server);
  return {
    received,
    status: (next) => {
      code = next;
    },
  };
}

const counts = new WeakMap<PretendInternet, number>();
function hosts(internet: PretendInternet): number {
  const count = (counts.get(internet) ?? 10) + 1;
  counts.set(internet, count);
  return count;
}

export async function openWorld(
  t: TestContext,
  database: TestDatabase,
  file: Pick<ConfigurationFile, "alerts" | "workspaces" | "webhooks">,
  change: Partial<AlertServices> = {},
): Promise<World> {
  const internet = pretendInternet();
  const folder = await makeTemporary("patchbay-alerts-");
  t.after(() => rm(folder, { recursive: true, force: true }));
  const configuration = await configurationOf(file, folder);
  const outbound = openOutbound({ configuration, network: internet });
  t.after(() => outbound.destroy());
  const lines: string[] = [];
  const attempts: string[] = [];
  const logger = createLogger({ write: (line: string) => void lines.push(line) }, { level: "trace", isStrict: true });
  const servicesOn = (handle: AlertServices["database"]): AlertServices => ({
    database: handle,
    destinations: alertDestinations(configuration, PEPPER),
    receivers: createReceivers(outbound, webhookPolicy(configuration.webhooks)),
    timeoutMs: 15_000,
    nowMs: Date.now,
    random: () => 0.5,
    logger,
    onAttempt: (outcome) => attempts.push(outcome),
    ...change,
  });
  return { internet, lines, attempts, services: servicesOn(database), servicesOn };
}

export function destinationOf({ services }: World, place: string): Destination {
  const found = services.destinations.find((each) => each.place === place);
  if (found === undefined) throw new Error(`there is no destination ${place}`);
  return found;
}

export function verdictOf(received: Received | undefined, secret: string): AlertVerdict {
  if (received === undefined) throw new Error("nothing was received");
  return verifyAlert({ ...received, secret });
}

/** Of all that a receiver got, each verified. */
export function alertsOf({ received }: Receiver, secret: string): readonly AlertMessage[] {
  return received.map((each) => {
    const verdict = verdictOf(each, secret);
    if (!verdict.ok) throw new Error(verdict.reason);
    return verdict.alert;
  });
}

export function anAlert(change: Partial<Alert> = {}): Alert {
  return {
    event: "disk_low",
    cause: "disk_low/host/data_dir",
    workspace: null,
    summary: "The disk is nearly full.",
    details: { free_bytes: 1 },
    occurredAt: new Date(),
    ...change,
  };
}

export function workspaceOf({ workspaceId }: { readonly workspaceId: string }): NonNullable<Alert["workspace"]> {
  return { id: brand("workspace", workspaceId), slug: workspaceId };
}
