// Refuses a start whose ports are in use before it creates anything, with all of them in one message [configuration.ports-first].
import type { UpOptions } from "../cli/operate/process-commands.ts";
import { EXIT } from "../cli/exit-codes.ts";
import { CliError } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { loadConfiguration } from "../config/load-configuration.ts";
import { readRunningGateway } from "../config/running-gateway.ts";
import { listenProblem } from "../http/server/check-port.ts";
import { ownerOf } from "../storage/embedded/installation-lock.ts";
import { awaitPort, realTime } from "./await-predecessor.ts";

export interface PortProblem {
  readonly host: string;
  readonly port: number;
  /** The system's error code, such as EADDRINUSE. */
  readonly code: string;
  /** The option that chooses another port. */
  readonly option: "--port" | "--admin-port";
}

/** An invalid configuration is reported by the start itself. */
export async function requirePorts(options: UpOptions): Promise<void> {
  const { config, host, port, adminPort, processes } = options;
  const overrides = { host, port, adminPort };
  const loaded = loadConfiguration({ file: config, env: process.env, cwd: process.cwd(), overrides });
  if (!loaded.ok) return;
  const { server, storage } = loaded.configuration;
  // A gateway of the same data directory uses them itself: opening the database reports its process, or waits until it has stopped.
  if (readRunningGateway(storage.dataDir) !== null || (await ownerOf(storage.dataDir)) !== null) return;
  const waiting = realTime((text) => process.stderr.write(`${text}\n`));
  const checked = await Promise.all(
    listenersOf(server, processes).map(async (at): Promise<PortProblem | null> => {
      if (at.port === 0) return null;
      await awaitPort(storage.dataDir, at, waiting);
      const code = await listenProblem(at.host, at.port);
      return code === null ? null : { ...at, code };
    }),
  );
  const problems = checked.filter((each) => each !== null);
  if (problems.length > 0) throw portsError(problems);
}

function listenersOf(
  { host, port, admin }: Configuration["server"],
  processes: number,
): readonly Omit<PortProblem, "code">[] {
  const admins = admin === null || admin.port === 0 ? [] : Array.from({ length: processes }, () => admin);
  return [
    { host, port, option: "--port" },
    ...admins.map((each, index) => ({ host: each.host, port: each.port + index, option: "--admin-port" as const })),
  ];
}

export function portsError(problems: readonly PortProblem[]): CliError {
  const message = problems.map(
    ({ host, port, code }) =>
      `${host}:${port} ${code === "EADDRINUSE" ? "is in use by another process" : `cannot be used for listening (${code})`}.`,
  );
  const options = [...new Set(problems.map(({ option }) => option))];
  const ports = options.map((option, index) => `${option} ${index === 0 ? "N" : "M"}`).join(" ");
  return new CliError(EXIT.config, message.join(" "), {
    hints: [
      `choose ${options.length === 1 ? "another port" : "other ports"}: patchbay up ${ports}`,
      "find other problems: patchbay doctor",
    ],
  });
}
