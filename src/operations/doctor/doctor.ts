// `patchbay doctor`: runs every check of an installation and changes nothing. Exit code 9 if the configuration or its secrets are invalid,
// 1 for any other failure, 0 otherwise, with or without warnings.
import { EXIT } from "../../cli/exit-codes.ts";
import type { DoctorOptions } from "../../cli/operate/operations-commands.ts";
import { withCommandName, type Terminal, stripControlCharacters, write } from "../../cli/terminal.ts";
import type { Configuration } from "../../config/configuration.ts";
import { formatFault } from "../../config/fault.ts";
import { loadConfiguration } from "../../config/load-configuration.ts";
import { readRunningGateway } from "../../config/running-gateway.ts";
import { errorCode } from "../../lib/error-code.ts";
import { findUnreadableAnswers, OUT_OF_REACH } from "../store/unreadable-answers.ts";
import { ownerOf } from "../../storage/embedded/installation-lock.ts";
import { compareSecrets, type OwnSecrets } from "../../storage/secrets/verify-secrets.ts";
import { createSeal } from "../../storage/secrets/seal.ts";
import type { SystemHandle } from "../../storage/database.ts";
import { checkAlertDeliveries, checkAlertsConfigured, checkDestinations } from "./check-alerts.ts";
import { checkDataDir, checkDecoder, checkDisk, checkRuntime, checkSecrets } from "./check-files.ts";
import { checkConnections, checkPorts, checkPublicUrl } from "./check-network.ts";
import { checkModelLife } from "./check-model-life.ts";
import { checkNames } from "./check-names.ts";
import { checkRetirements } from "./check-retirements.ts";
import { checkRoutes } from "./check-routes.ts";
import { checkObjects, checkStorage } from "./check-storage.ts";
import { checkWebhooks } from "./check-webhooks.ts";
import type { OpenNetwork } from "./doctor-network.ts";
import { type Check, fail, type Finding, ok, reasonOf, warn } from "./finding.ts";
import { readSecrets } from "../read-configuration.ts";

export async function doctor(options: DoctorOptions, terminal: Terminal, openNetwork: OpenNetwork): Promise<number> {
  const findings = await examine(options, terminal, openNetwork);
  const failed = findings.filter(({ level }) => level === "fail");
  await write(
    terminal.stdout,
    options.json === true
      ? `${JSON.stringify({ ok: failed.length === 0, findings })}\n`
      : stripControlCharacters(
          withCommandName(terminal, `${findings.flatMap(lines).join("\n")}\n${summary(findings)}\n`),
        ),
  );
  if (failed.length === 0) return EXIT.ok;
  return failed.some(({ check }) => check === "configuration" || check === "secrets") ? EXIT.config : EXIT.unexpected;
}

async function examine(
  options: DoctorOptions,
  terminal: Terminal,
  openNetwork: OpenNetwork,
): Promise<readonly Finding[]> {
  const loaded = loadConfiguration({ file: options.config ?? null, env: terminal.env, cwd: terminal.cwd });
  if (!loaded.ok)
    return [
      ...loaded.faults.map((fault) =>
        fail("configuration", formatFault(fault), "fix it; other checks need a readable configuration"),
      ),
      checkRuntime(),
    ];
  const { configuration } = loaded;
  const { storage } = configuration;
  await using opened = new AsyncDisposableStack();
  const network = await openNetwork(configuration);
  opened.defer(() => network.close());
  // Started now and awaited last, because a name server may be slow.
  const names = checkNames(configuration, network);
  const secrets = await catchUnreadable("secrets", checkSecrets(configuration));
  return [
    ok("configuration", loaded.file ?? "no file: defaults and environment variables"),
    ...loaded.warnings.map((warning) =>
      warn("configuration", formatFault(warning), "optional; see docs/configuration.md"),
    ),
    checkRuntime(),
    ...(await catchUnreadable("data_dir", checkDataDir(storage))),
    ...secrets,
    await checkDisk(storage),
    ...(await catchUnreadable(
      "storage",
      checkStorage(configuration, terminal, async (db, database) => {
        if (secrets.some(({ level }) => level === "fail")) return [];
        const own = await secretsOf(configuration);
        const other = await compareSecrets(db, own);
        if (other !== null) return [fail("secrets", other.message, other.fix)];
        return [
          ...(await checkAnswers(db, own.seal)),
          ...(await checkRoutes(db)),
          ...(await checkRetirements(database, own.seal)),
          ...(await checkWebhooks(db, own.seal, network)),
          ...(await checkAlertDeliveries(db, configuration)),
        ];
      }),
    )),
    ...checkAlertsConfigured(configuration),
    ...(await checkDestinations(configuration, network)),
    await checkObjects(configuration),
    checkDecoder(terminal.env["PATH"]),
    ...(await checkNetwork(configuration, options.call === true)),
    ...checkModelLife(configuration),
    ...(await names),
  ];
}

/** Opens existing secrets. `checkSecrets` has passed, so none is created. */
async function secretsOf(configuration: Configuration): Promise<OwnSecrets> {
  const { pepper, encryptionKeys } = await readSecrets(configuration);
  return { pepper, seal: createSeal({ keys: encryptionKeys }) };
}

async function checkAnswers(db: SystemHandle, seal: OwnSecrets["seal"]): Promise<readonly Finding[]> {
  const lacking = await findUnreadableAnswers(db, seal);
  return lacking.length === 0 ? [] : [warn("secrets", OUT_OF_REACH.message(lacking), OUT_OF_REACH.fix)];
}

/** Turns a permission error into a finding, so that the other checks still run. */
async function catchUnreadable(check: Check, findings: Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  return findings.catch((error: unknown) => {
    if (errorCode(error) !== "EACCES") throw error;
    return [fail(check, reasonOf(error), "run it as the user that runs patchbay")];
  });
}

async function checkNetwork(configuration: Configuration, call: boolean): Promise<readonly Finding[]> {
  const { databaseUrl, dataDir } = configuration.storage;
  const isHeld = databaseUrl === null && (await ownerOf(dataDir).catch(() => null)) !== null;
  const owner = { running: readRunningGateway(dataDir), isHeld };
  return [
    ...(await checkPorts(configuration, owner)),
    checkPublicUrl(configuration),
    ...(await checkConnections(configuration, call)),
  ];
}

function lines({ level, check, message, fix }: Finding): readonly string[] {
  const line = `${level.padEnd(5)} ${check.padEnd(14)} ${message}`;
  return fix === null ? [line] : [line, `${" ".repeat(21)}fix: ${fix}`];
}

function summary(findings: readonly Finding[]): string {
  const count = (level: Finding["level"]) => findings.filter((finding) => finding.level === level).length;
  return `${count("ok")} passed, ${count("warn")} ${count("warn") === 1 ? "warning" : "warnings"}, ${count("fail")} failed`;
}
