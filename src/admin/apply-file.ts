// Applies the configuration file that this gateway was started with, while it runs [configuration.apply-own-file]: upserts its objects as a start does, and
// returns what changed.
import type { ApplyResult } from "../contract/admin/apply.ts";
import { GatewayError } from "../contract/errors.ts";
import { formatFault } from "../config/fault.ts";
import type { LoadResult } from "../config/load-configuration.ts";
import { applyAndCompare, type ApplyServices } from "../directory/apply-configuration.ts";
import { OtherSecrets } from "../storage/secrets/verify-secrets.ts";

/** The configuration file that this gateway was started with. */
export interface OwnFile {
  /** Absolute path. */
  readonly path: string;
  readonly load: () => LoadResult;
}

export interface ApplyFileServices extends ApplyServices {
  /** Null: the gateway was started without a file. */
  readonly ownFile: OwnFile | null;
  readonly refreshDirectory: () => Promise<void>;
  readonly forgetKeys: () => void;
}

export async function applyFile(
  services: ApplyFileServices,
  { file, dryRun }: { readonly file: string | null; readonly dryRun: boolean },
): Promise<ApplyResult> {
  const { ownFile } = services;
  if (ownFile === null)
    throw new GatewayError("NOT_FOUND", { message: "This gateway runs without a configuration file." });
  if (file !== null && file !== ownFile.path) {
    throw new GatewayError("CONFLICT", {
      message: `This gateway was started with ${ownFile.path}. Apply that file, or restart the gateway with the other one.`,
      details: { reason: "another_file" },
    });
  }
  const loaded = ownFile.load();
  if (!loaded.ok) {
    const issues = loaded.faults.slice(0, 50).map((fault) => ({ param: fault.path, message: formatFault(fault) }));
    throw new GatewayError("INVALID_REQUEST", {
      message: `The configuration file has ${loaded.faults.length} errors, see details.issues. Nothing was changed.`,
      details: { issues },
    });
  }
  const changes = await applyAndCompare(services, loaded.configuration, { dryRun }).catch((error: unknown) => {
    if (error instanceof OtherSecrets)
      throw new GatewayError("CONFLICT", { message: `${error.message}.`, details: { reason: "other_secrets" } });
    throw error;
  });
  if (!dryRun) {
    services.forgetKeys();
    // The change is committed and announced. A failed refresh is repeated by the next one, and must not make the change look failed.
    await services.refreshDirectory().catch(() => undefined);
  }
  const warnings = loaded.warnings.map(formatFault);
  return {
    object: "configuration_applied",
    file: ownFile.path,
    dry_run: dryRun,
    changes: changes.map(({ action, kind, name }) => ({ action, kind, name })),
    warnings,
  };
}
