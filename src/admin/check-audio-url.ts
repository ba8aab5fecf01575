// Checks whether an address would be fetched as `audio.url` [remote-audio.check-same-rules], by each rule of the fetch. A workspace's administrators see the
// error that a request would get; only the operator sees to which IP addresses a name resolves.
import type { AudioUrlCheck, AudioUrlRule } from "../contract/admin/audio-url-check.ts";
import { AUDIO_URL_RULES } from "../contract/admin/audio-url-check.ts";
import type { WorkspaceId } from "../contract/ids.ts";
import type { GatewayServices } from "../gateway/services.ts";
import type { KeyedSemaphore } from "../lib/concurrency/keyed-semaphore.ts";
import { readAudioUrlDomains } from "../directory/store/audio-url-domains.ts";
import type { Database } from "../storage/database.ts";

export interface AudioUrlCheckServices {
  readonly database: Pick<Database, "inWorkspace">;
  readonly remoteAudio: Pick<GatewayServices["remoteAudio"], "examine">;
  /** Limits concurrent checks, because each one queries a name server. Further ones wait. */
  readonly places: KeyedSemaphore;
}

export interface AudioUrlQuery {
  readonly workspaceId: WorkspaceId;
  readonly url: string;
  readonly isOperator: boolean;
  readonly signal: AbortSignal;
}

/** Concurrent checks per process: enough for people at their screens, too few to resolve lists of names. */
export const MOST_CHECKS = { total: 8, perOwner: 2 } as const;

const TEXTS: Readonly<Record<AudioUrlRule, string>> = {
  scheme: "It starts with https://.",
  form: "It is an unambiguous URL without a user name or password.",
  port: "Its port is allowed.",
  name: "Its host is a name, not an address.",
  listed: "Its host is on the allowlist of this workspace or on the global one.",
  not_itself: "It does not point to this gateway.",
  public: "Its host has public addresses only.",
};

export async function checkAudioUrl(
  { database, remoteAudio, places }: AudioUrlCheckServices,
  { workspaceId, url, isOperator, signal }: AudioUrlQuery,
): Promise<AudioUrlCheck> {
  const examine = () => remoteAudio.examine({ workspaceId, url, signal });
  const { host, listedAs, addresses, findings } = await places.run("checks", signal, examine, workspaceId);
  const listed = listedAs === null ? null : { entry: listedAs, owner: await ownerOf(database, workspaceId, listedAs) };
  const firstFailure = findings.find(({ broken }) => broken !== null)?.broken ?? null;
  const rules = AUDIO_URL_RULES.map((rule): AudioUrlCheck["rules"][number] => {
    const finding = findings.find((each) => each.rule === rule);
    const broken = finding?.broken ?? null;
    return {
      rule,
      text: TEXTS[rule],
      outcome: finding === undefined ? "not_judged" : broken === null ? "met" : "broken",
      message: broken?.message ?? null,
      ...(isOperator ? { detail: broken?.detail ?? null } : {}),
    };
  });
  return {
    object: "audio_url_check",
    allowed: firstFailure === null,
    reason: firstFailure?.reason ?? null,
    host,
    listed,
    rules,
    ...(isOperator ? { addresses: [...addresses] } : {}),
  };
}

async function ownerOf(
  database: AudioUrlCheckServices["database"],
  workspaceId: WorkspaceId,
  entry: string,
): Promise<"workspace" | "platform"> {
  const { own } = await database.inWorkspace(workspaceId, (tx) => readAudioUrlDomains(tx, workspaceId));
  return own.includes(entry) ? "workspace" : "platform";
}
