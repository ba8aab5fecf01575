// Downloads one file: into a `.part` file that a later call continues [local-models.resume], compared with bytes and SHA-256 before it gets its name
// [local-models.checksum].
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { OutboundError } from "../outbound/dial.ts";
import { differenceOf } from "./file-digest.ts";
import { ModelFault } from "./model-fault.ts";
import { sizeOf, syncDirectory } from "./model-store.ts";
import { type Origin, openDownload, Unavailable } from "./open-download.ts";

export interface RemoteFile {
  readonly url: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface DownloadParts extends Origin {
  /** Waits before the next try after a connection that failed without progress. */
  readonly retryDelaysMs?: readonly number[];
  /** Opens the `.part` file. Replaced in tests, whose disks are full. */
  readonly openPart?: typeof open;
}

export interface DownloadOptions {
  readonly signal: AbortSignal;
  /** Bytes of this file so far. */
  readonly onBytes: (bytes: number) => void;
  /** Called before each wait for another try. */
  readonly onRetry: (message: string) => void;
}

const RETRY_DELAYS_MS = [1_000, 3_000, 10_000];
/** A connection that brought this much was not in vain. */
const PROGRESS_BYTES = 262_144;

export async function downloadFile(
  file: RemoteFile,
  target: string,
  parts: DownloadParts,
  options: DownloadOptions,
): Promise<void> {
  // Left by a process that was killed while it unpacked.
  if ((await differenceOf(target, file, options.signal)) === null) return options.onBytes(file.bytes);
  await rm(target, { force: true });
  const part = `${target}.part`;
  await fetchWithRetries(file, part, parts, options);
  const difference = await differenceOf(part, file, options.signal);
  if (difference !== null) {
    await rm(part, { force: true });
    throw new ModelFault("mismatch", `The download of ${file.url} ${difference}. It was removed.`, [
      "somebody changed the file at its source, or a proxy did on the way: nothing of it was installed",
    ]);
  }
  await rename(part, target);
  await syncDirectory(dirname(target));
}

async function fetchWithRetries(
  file: RemoteFile,
  part: string,
  parts: DownloadParts,
  options: DownloadOptions,
): Promise<void> {
  const delays = parts.retryDelaysMs ?? RETRY_DELAYS_MS;
  let failures = 0;
  while (true) {
    const before = (await sizeOf(part)) ?? 0;
    try {
      await fetchInto(part, file, parts, options);
      return;
    } catch (error) {
      options.signal.throwIfAborted();
      const reason = interruption(error);
      if (reason === null) throw error;
      const after = (await sizeOf(part)) ?? 0;
      if (after - before >= PROGRESS_BYTES) failures = 0;
      const delayMs = isCertificateFault(error) ? undefined : delays[failures];
      if (delayMs === undefined)
        throw new ModelFault("network", `The download of ${file.url} broke off: ${reason}.`, [
          ...(isCertificateFault(error)
            ? ["behind a proxy that opens TLS, set NODE_EXTRA_CA_CERTS to the file with its authority"]
            : after === 0
              ? [
                  "behind a proxy, set HTTPS_PROXY",
                  `without internet, download it on another machine, bring it here, and run: patchbay models import ${basename(new URL(file.url).pathname)}`,
                ]
              : []),
          ...(after === 0 ? [] : [`${after} of ${file.bytes} bytes are kept; the same command continues there`]),
        ]);
      failures += 1;
      options.onRetry(`${reason}, trying again in ${delayMs / 1_000} s`);
      await wait(delayMs, undefined, { signal: options.signal });
    }
  }
}

/** Why a connection failed, if another one may succeed. Null: it is another error. */
function interruption(error: unknown): string | null {
  if (error instanceof Unavailable) return error.message;
  if (!(error instanceof OutboundError)) return null;
  if (error.failure === "timeout") return "the server did not answer in time";
  return error.reason === null ? "the connection failed" : `the connection failed (${error.reason})`;
}

/** Trying again changes nothing. */
function isCertificateFault(error: unknown): boolean {
  return error instanceof OutboundError && /CERT|ISSUER|SIGNATURE|ERR_TLS/u.test(error.reason ?? "");
}

async function fetchInto(
  part: string,
  { url, bytes }: RemoteFile,
  parts: DownloadParts,
  { signal, onBytes }: DownloadOptions,
): Promise<void> {
  const handle = await (parts.openPart ?? open)(part, "a", 0o600);
  try {
    let size = (await handle.stat()).size;
    if (size > bytes) {
      await handle.truncate(0);
      size = 0;
    }
    if (size === bytes) return;
    const { start, body } = await openDownload({ url, bytes, from: size }, parts, signal);
    if (start !== size) await handle.truncate(start);
    let position = start;
    onBytes(position);
    for await (const chunks of body)
      for (const chunk of chunks) {
        position += chunk.byteLength;
        if (position > bytes) {
          await handle.truncate(0);
          throw new ModelFault("mismatch", `The server sends more than the ${bytes} bytes of ${url}.`);
        }
        await handle.appendFile(chunk);
        onBytes(position);
      }
    if (position < bytes) throw new Unavailable(`the server ended it after ${position} of ${bytes} bytes`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
