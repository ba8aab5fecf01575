// `patchbay alerts test|secret`: sends a test alert to each configured destination, and prints derived signing secrets. Neither needs a gateway.
import { alertBody } from "../alerts/alert-body.ts";
import { alertDestinations, type Destination } from "../alerts/destinations.ts";
import { EXIT } from "../cli/exit-codes.ts";
import type { AlertsOptions, AlertsSecretOptions } from "../cli/operate/alerts-commands.ts";
import { printJson, table } from "../cli/print.ts";
import { CliError, type Terminal, stripControlCharacters, write } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { newId } from "../contract/ids.ts";
import { missingSecrets } from "../storage/secrets/open-secrets.ts";
import { attemptDelivery, type AttemptServices } from "../webhooks/attempt.ts";
import type { Attempted } from "../webhooks/attempted.ts";
import type { OpenNetwork } from "./doctor/doctor-network.ts";
import { readConfiguration, readSecrets } from "./read-configuration.ts";

interface Tested extends Pick<Attempted, "outcome" | "statusCode" | "latencyMs" | "response"> {
  readonly destination: Destination;
}

/** Exit code 7 if a destination does not accept its alert. */
export async function alertsTest(
  options: AlertsOptions,
  terminal: Terminal,
  openNetwork: OpenNetwork,
): Promise<number> {
  const { configuration, destinations } = await readDestinations(options, terminal);
  await using opened = new AsyncDisposableStack();
  const network = await openNetwork(configuration);
  opened.defer(() => network.close());
  const timeoutMs = configuration.limits.webhookTimeoutSeconds * 1000;
  const tested = await Promise.all(
    destinations.map((destination) => test(destination, { receivers: network, timeoutMs })),
  );
  if (options.json === true) await printJson(terminal, { object: "list", data: tested.map(viewOf) });
  else await write(terminal.stdout, table(["DESTINATION", "ADDRESS", "RESULT", "ANSWER"], tested.map(rowOf)));
  return tested.every(({ outcome }) => outcome === "delivered") ? EXIT.ok : EXIT.upstream;
}

/** Of the destination with this URL, or of the only one. */
export async function alertsSecret(
  url: string | undefined,
  options: AlertsSecretOptions,
  terminal: Terminal,
): Promise<number> {
  const { destinations } = await readDestinations(options, terminal);
  const matching = destinations.filter(
    (each) => (url === undefined || each.url === url) && (options.workspace ?? null) === each.workspace,
  );
  const [destination, ...others] = matching;
  if (destination === undefined)
    throw new CliError(EXIT.notFound, "No such destination of alerts is configured.", {
      hints: ["name the url as it is in the configuration; for a workspace's add --workspace SLUG"],
    });
  if (others.length > 0)
    throw new CliError(EXIT.usage, "There are several destinations. Name one by its URL.", {
      hints: matching.map(({ place, url: each }) => `${place}: ${new URL(each).origin}`),
    });
  if (!destination.hasDerivedSecret)
    throw new CliError(EXIT.conflict, `${destination.place} has the secret of the configuration.`);
  if (options.json === true)
    await printJson(terminal, { object: "alert_secret", destination: destination.place, secret: destination.secret });
  else await write(terminal.stdout, `${destination.secret}\n`);
  return EXIT.ok;
}

async function readDestinations(options: AlertsOptions, terminal: Terminal) {
  const configuration = readConfiguration(options, terminal);
  const pepper = hasDerivedSecrets(configuration) ? await readPepper(configuration) : Buffer.alloc(0);
  const destinations = alertDestinations(configuration, pepper);
  if (destinations.length === 0)
    throw new CliError(EXIT.notFound, "No destination of alerts is configured.", {
      hints: ["add one to `alerts` in the configuration: docs/reference/alerts.md"],
    });
  return { configuration, destinations };
}

function hasDerivedSecrets({ alerts, workspaces }: Parameters<typeof alertDestinations>[0]): boolean {
  return [...alerts, ...workspaces.flatMap((workspace) => workspace.alerts)].some(({ secret }) => secret === null);
}

/** Creates none: the first start does. */
async function readPepper(configuration: Configuration): Promise<Buffer> {
  const { storage, secrets } = configuration;
  if ((await missingSecrets({ ...storage, ...secrets })).length === 0) return (await readSecrets(configuration)).pepper;
  throw new CliError(
    EXIT.notFound,
    "The signing secrets are derived from those of the installation, which has none yet.",
    {
      hints: ["start it once: patchbay up", "or set `secret` of each destination"],
    },
  );
}

async function test(
  destination: Destination,
  services: Pick<AttemptServices, "receivers" | "timeoutMs">,
): Promise<Tested> {
  const id = newId("alert");
  const event = alertBody(id, {
    event: "test",
    cause: "test",
    workspace: destination.workspace,
    summary: "This is a test alert. Alerts reach this destination.",
    details: {},
    occurredAt: new Date(),
  });
  const secrets = { current: destination.secret, previous: null };
  const message = { url: destination.url, event, eventId: id, secrets, isTest: true };
  return { destination, ...(await attemptDelivery({ ...services, nowMs: Date.now }, message)) };
}

function viewOf({ destination, outcome, statusCode, latencyMs, response }: Tested) {
  const { place, workspace, url, events } = destination;
  return {
    object: "alert_test",
    destination: place,
    workspace,
    origin: new URL(url).origin,
    events: [...events],
    outcome,
    status_code: statusCode,
    latency_ms: latencyMs,
    response,
  };
}

function rowOf({ destination, outcome, statusCode, latencyMs, response }: Tested): readonly string[] {
  const result = outcome === "delivered" ? "delivered" : statusCode === null ? outcome.replaceAll("_", " ") : "refused";
  const answer = statusCode === null ? "-" : `HTTP ${statusCode}, ${latencyMs} ms${response ? `: ${response}` : ""}`;
  return [destination.place, new URL(destination.url).origin, result, stripControlCharacters(answer).slice(0, 120)];
}
