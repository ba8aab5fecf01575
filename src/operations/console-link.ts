// `patchbay console`: prints a link that signs in to the operator's console. The key is in the URL's fragment, which browsers do not send to
// servers [cli.console-link].
import { findApiKey, OPERATOR_KEY_FILE } from "../cli/api-key.ts";
import { EXIT } from "../cli/exit-codes.ts";
import { callGateway } from "../cli/gateway-client.ts";
import { adminUrl, endpointUrl } from "../cli/gateway-url.ts";
import type { ConsoleOptions } from "../cli/operate/operations-commands.ts";
import { CliError, printLine, type Terminal, stripControlCharacters, write } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { ownAdminUrl } from "./own-listener.ts";
import { readConfiguration } from "./read-configuration.ts";

export async function consoleLink(options: ConsoleOptions, terminal: Terminal, signal: AbortSignal): Promise<number> {
  // A gateway named explicitly may not belong to this configuration.
  const isNamed = options.url !== undefined || (terminal.env["PATCHBAY_ADMIN_URL"] ?? "") !== "";
  const configuration = isNamed ? null : readConfiguration(options, terminal);
  const gateway = new URL(
    configuration === null ? adminUrl(options.url, terminal) : requireAdmin(configuration, options, terminal),
  );
  const key = options.key ? operatorKey(configuration, gateway, options, terminal) : null;
  await verifyAccess(gateway, key, terminal, signal);
  const url = endpointUrl(gateway, "/console");
  const link = key === null ? null : `${url}#key=${encodeURIComponent(key)}`;
  if (options.json === true) {
    await write(terminal.stdout, `${JSON.stringify({ object: "console", url, link })}\n`);
    return EXIT.ok;
  }
  await write(terminal.stdout, `${link ?? url}\n`);
  await printLine(
    terminal,
    link === null
      ? "Sign in with the operator key."
      : "This link contains the operator key: anyone who has it has full access.",
  );
  return EXIT.ok;
}

function requireAdmin(configuration: Configuration, options: ConsoleOptions, terminal: Terminal): string {
  const url = ownAdminUrl(configuration, options, terminal);
  if (url !== null) return url;
  throw new CliError(EXIT.conflict, "The operator's console is disabled (server.admin: null).", {
    hints: [
      "set server.admin to a host and a port, and restart the gateway",
      "workspace administrators use /console of the public listener",
    ],
  });
}

function operatorKey(
  configuration: Configuration | null,
  gateway: URL,
  { apiKey }: ConsoleOptions,
  terminal: Terminal,
): string {
  const isGiven = (apiKey ?? terminal.env["PATCHBAY_API_KEY"] ?? "") !== "";
  const configured = configuration?.operatorKeys[0]?.secret;
  return findApiKey(
    isGiven ? apiKey : configured,
    gateway,
    terminal,
    OPERATOR_KEY_FILE,
    configuration?.storage.dataDir,
  );
}

/** Calls the gateway first, so that no link is printed that does not work or does not sign in. */
async function verifyAccess(gateway: URL, key: string | null, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const response = await callGateway({
    method: "GET",
    url: endpointUrl(gateway, key === null ? "/console" : "/admin/v1/workspaces?limit=1"),
    headers: key === null ? {} : { authorization: `Bearer ${key}` },
    makeBody: () => ({ body: null, headers: {} }),
    signal,
    onRetry: (message, delaySeconds) =>
      terminal.stderr.write(`${stripControlCharacters(message)} Trying again in ${delaySeconds} s.\n`),
  });
  await response.body?.cancel();
}
