// Deletes what a provider keeps of a run once the run's end is stored, whether it succeeded, failed, was cancelled or abandoned. The task is stored before the
// first poll, so that no crash loses it [jobs.deletion-durable].
import { z } from "zod";
import { providerKind } from "../../directory/stored-schemas.ts";
import { ProviderError, type RemoteRun } from "../../providers/io.ts";
import { PLAIN_REPLY } from "../../providers/wire/reply-bounds.ts";
import { removeKept } from "../../providers/wire/run-remote.ts";
import type { Database } from "../../storage/database.ts";
import {
  type ClaimedDeletion,
  claimDeletions,
  endDeletion,
  insertDeletion,
  purgeDeletions,
  readDeletionState,
  readFailedDeletions,
  releaseDeletions,
} from "../store/provider-deletions.ts";
import { hasAccount, resolveAccount } from "./resolve-account.ts";
import type { GatewayServices } from "../services.ts";
import { bypassRls } from "../../storage/system.ts";
import type { ProviderDeletions } from "./deletion-duties.ts";

export type { DeletionDuty, DeletionState } from "../store/provider-deletions.ts";

type Services = Pick<GatewayServices, "directory" | "providers" | "chatProviders" | "sandboxUrl" | "openIo" | "logger">;

const BATCH = 20;
const PURGE_BATCH = 500;
/** Failed deletions logged at start-up. The others are only in the table. */
const REPORTED = 50;
const TIMEOUT_MS = 30_000;

export function createProviderDeletions(database: Database, services: Services): ProviderDeletions {
  const running = new Set<Promise<unknown>>();
  const closing = new AbortController();

  async function sweep(): Promise<number> {
    if (closing.signal.aborted) return 0;
    const due = await claimDeletions(bypassRls(database, "claim").db, BATCH);
    if (due.length === 0) await purgeDeletions(bypassRls(database, "sweep").db, PURGE_BATCH);
    await Promise.all(due.map((each) => deleteOne(database, services, each, closing.signal)));
    return due.length;
  }
  function inBackground(work: Promise<unknown>): void {
    const settled = work
      .catch((error: unknown) => services.logger.error({ err: error }, "could not delete a recording at the provider"))
      .finally(() => running.delete(settled));
    running.add(settled);
  }
  return {
    owe: (duty, tx) => insertDeletion(tx ?? bypassRls(database, "claim").db, duty),
    release: async (workspaceId, subject) => {
      // In the background: the answer is stored, and the provider may be slow.
      if (await releaseDeletions(bypassRls(database, "claim").db, [{ workspaceId, subject }])) inBackground(sweep());
    },
    releaseIn: async (tx, subjects) => {
      await releaseDeletions(tx, subjects);
    },
    state: (workspaceId, subject) =>
      database.inWorkspace(workspaceId, (tx) => readDeletionState(tx, workspaceId, subject)),
    report: async () => {
      const failed = await readFailedDeletions(bypassRls(database, "claim").db, REPORTED);
      for (const { id, subject, account, provider, runId, lastFailure, finishedAt } of failed) {
        const facts = { deletion_id: id, subject, account, provider, provider_id: runId, failure: lastFailure };
        services.logger.warn({ ...facts, since: finishedAt.toISOString() }, "the provider still has a recording");
      }
      return failed.length;
    },
    sweep,
    close: async () => {
      closing.abort();
      await Promise.all(running);
    },
  };
}

async function deleteOne(
  database: Database,
  services: Services,
  claimed: ClaimedDeletion,
  signal: AbortSignal,
): Promise<void> {
  const failure = await tryDelete(services, claimed, signal);
  const state = await bypassRls(database, "claim").transaction((tx) => endDeletion(tx, claimed, failure));
  if (failure === null || state === null) return;
  const facts = {
    deletion_id: claimed.id,
    subject: claimed.subject,
    account: claimed.account,
    provider: claimed.provider,
    attempt: claimed.attempt,
    failure,
  };
  if (state === "failed") services.logger.error(facts, "deletion abandoned: the recording remains at the provider");
  else services.logger.warn(facts, "a deletion at the provider failed and will be tried again");
}

const remoteRun = z.object({
  id: z.string(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
}) satisfies z.ZodType<RemoteRun>;

/** Null: deleted. Otherwise the failure in one word. An internal error counts as a failed attempt too, because only attempts are limited. */
async function tryDelete(services: Services, claimed: ClaimedDeletion, signal: AbortSignal): Promise<string | null> {
  try {
    const provider = services.providers.get(providerKind.parse(claimed.provider));
    const account = accountOf(services, claimed);
    if (provider === undefined || account === null) return "no_account";
    const io = services.openIo({
      baseUrl: account.baseUrl,
      isCallersAddress: account.isCallersAddress,
      credential: account.credential,
      signal,
      timeoutMs: TIMEOUT_MS,
      expected: { owner: claimed.workspaceId, bound: PLAIN_REPLY },
      onDispatch: () => undefined,
    });
    await removeKept(provider, remoteRun.parse(claimed.run), io);
    return null;
  } catch (error) {
    if (error instanceof ProviderError) return error.kind;
    services.logger.error(
      { err: error, deletion_id: claimed.id },
      "a deletion at the provider failed with an internal error",
    );
    return "fault";
  }
}

/** Null: the account is no longer in the configuration. It may be added again. */
function accountOf(services: Services, { account, provider, testMode }: ClaimedDeletion) {
  if (!hasAccount(services, { account, provider })) return null;
  return resolveAccount(services, { account, provider, settings: {} }, testMode);
}
