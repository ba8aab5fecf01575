// `patchbay doctor`, checks of the network: ports, the public URL, provider accounts.
import type { Configuration, ConnectionConfiguration } from "../../config/configuration.ts";
import type { RunningGateway } from "../../config/running-gateway.ts";
import { needsCredential } from "../../contract/provider-kinds.ts";
import { isLoopbackHost } from "../../lib/loopback-host.ts";
import { listenProblem } from "../../http/server/check-port.ts";
import { regionalHost } from "../../providers/data-policy/regional-hosts.ts";
import { isEngineInstalled } from "../../providers/local/engine/engine-installed.ts";
import { ENGINE_COMMAND } from "../../providers/local/local-models.ts";
import { chatProviders, providers } from "../../providers/registry.ts";
import { fail, type Finding, ok, reasonOf, warn } from "./finding.ts";

const CALL_MS = 5_000;

export interface PortsOwner {
  /** The running gateway of this data directory, which uses the ports itself. Null: the data directory names none. */
  readonly running: Pick<RunningGateway, "pid" | "url" | "adminUrl"> | null;
  /** Whether a process has the embedded database open. */
  readonly isHeld: boolean;
}

export async function checkPorts({ server }: Configuration, owner: PortsOwner): Promise<readonly Finding[]> {
  const { running } = owner;
  const listeners = [
    { name: "server", url: running?.url ?? null, ...server },
    ...(server.admin === null ? [] : [{ name: "server.admin", url: running?.adminUrl ?? null, ...server.admin }]),
  ];
  return Promise.all(
    listeners.map(async ({ name, url, host, port }) => {
      if (url !== null)
        return ok("ports", `${new URL(url).host} is in use by the running gateway, process ${running?.pid} (${name})`);
      return checkPort(name, { host, port }, owner);
    }),
  );
}

async function checkPort(
  name: string,
  { host, port }: { readonly host: string; readonly port: number },
  { isHeld }: PortsOwner,
): Promise<Finding> {
  const code = port === 0 ? null : await listenProblem(host, port);
  const address = `${host}:${port}`;
  if (code === null) return ok("ports", `${address} is free (${name})`);
  if (code !== "EADDRINUSE")
    return fail(
      "ports",
      `${address} cannot be used for listening: ${code} (${name})`,
      `choose another ${name}.host or .port`,
    );
  return isHeld
    ? ok("ports", `${address} is in use by the running gateway (${name})`)
    : warn("ports", `${address} is in use (${name})`, "a gateway may be running already; if not, choose another port");
}

export function checkPublicUrl({ server }: Configuration): Finding {
  const { protocol, hostname } = new URL(server.publicUrl);
  const isLocal = isLoopbackHost(hostname);
  if (isLocal && !isLoopbackHost(server.host))
    return warn(
      "public_url",
      `${server.publicUrl} points callers to their own machine, but the gateway listens on ${server.host}`,
      "set server.public_url to the address that callers use; it is part of errors, results and webhooks",
    );
  return protocol === "https:" || isLocal
    ? ok("public_url", server.publicUrl)
    : warn(
        "public_url",
        `${server.publicUrl} is not encrypted: keys and transcripts are sent in clear text`,
        "terminate TLS in front of it",
      );
}

export interface ConfiguredAccount {
  readonly name: string;
  readonly connection: ConnectionConfiguration;
  /** The provider's base URL. Null: none, or the built-in sandbox. */
  readonly url: URL | null;
}

export function configuredAccounts({ connections, workspaces }: Configuration): readonly ConfiguredAccount[] {
  return [
    ...connections.map((connection) => ({ name: connection.id, connection })),
    ...workspaces.flatMap(({ id, connections: own }) =>
      own.map((connection) => ({ name: `${id}/${connection.id}`, connection })),
    ),
  ].map((account) => ({ ...account, url: addressOf(account.connection) }));
}

function addressOf({ kind, baseUrl, region }: ConnectionConfiguration): URL | null {
  const regional = region === null ? undefined : regionalHost(kind, region)?.baseUrl;
  const address =
    baseUrl ?? regional ?? providers.get(kind)?.defaultBaseUrl ?? chatProviders.get(kind)?.defaultBaseUrl ?? null;
  return address === null ? null : new URL(address);
}

export async function checkConnections(configuration: Configuration, call: boolean): Promise<readonly Finding[]> {
  const all = configuredAccounts(configuration);
  if (all.every(({ connection }) => connection.kind === "sandbox"))
    return [
      warn(
        "connections",
        "no provider is connected: the sandbox answers with simulated text",
        "set a provider key, such as DEEPGRAM_API_KEY, or connections in patchbay.yaml",
      ),
    ];
  return Promise.all(all.map((account) => checkConnection(account, call)));
}

async function checkConnection({ name, connection, url }: ConfiguredAccount, call: boolean): Promise<Finding> {
  const { kind, apiKey } = connection;
  const about = `${name} (${kind})`;
  if (kind === "sandbox") return ok("connections", `${about}: simulated`);
  if (kind === "local")
    return isEngineInstalled()
      ? ok("connections", `${about}: on this machine`)
      : fail("connections", `${about}: the engine is not installed`, `run \`${ENGINE_COMMAND}\``);
  if (url === null) return fail("connections", `${about} has no address`, "set the connection's base_url");
  if (apiKey === null && needsCredential(kind))
    return fail("connections", `${about} has no credential`, "set the connection's api_key");
  if (apiKey !== null && url.protocol === "http:" && !isLoopbackHost(url.hostname))
    return warn(
      "connections",
      `${about} sends its credential to ${url.origin} in clear text`,
      "use an https:// base_url",
    );
  if (!call) return ok("connections", `${about}: ${url.origin}, not called`);
  return reach(about, url);
}

/** Any HTTP answer counts, because no credential is sent and a refusal is expected. */
async function reach(about: string, url: URL): Promise<Finding> {
  const started = performance.now();
  try {
    const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(CALL_MS) });
    await response.body?.cancel();
    const ms = Math.round(performance.now() - started);
    return ok("connections", `${about}: ${url.origin} answers (HTTP ${response.status}, ${ms} ms, no credential sent)`);
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return fail(
      "connections",
      `${about}: ${url.origin} does not respond: ${reasonOf(cause)}`,
      "check the network, DNS and base_url",
    );
  }
}

/** Returns `ready`, or a description of the gateway's other answer. */
export async function askReadiness(url: string): Promise<string> {
  try {
    const response = await fetch(`${url}/readyz`, { redirect: "manual", signal: AbortSignal.timeout(CALL_MS) });
    await response.body?.cancel();
    return response.ok ? "ready" : `answers ${response.status}`;
  } catch (error) {
    return `does not respond (${reasonOf(error instanceof Error && error.cause !== undefined ? error.cause : error)})`;
  }
}
