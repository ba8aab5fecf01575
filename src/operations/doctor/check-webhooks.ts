// `patchbay doctor`, checks of webhooks: connects to every receiver by the same rules and over the same network path as deliveries, and
// sends nothing. Findings show only the origin of a receiver's URL, because its path may contain tokens.
import { createKeyedSemaphore } from "../../lib/concurrency/keyed-semaphore.ts";
import type { SystemHandle } from "../../storage/database.ts";
import { readDataKeys } from "../../storage/secrets/data-keys.ts";
import type { Seal } from "../../storage/secrets/seal.ts";
import { webhookSecretPlace } from "../../storage/secrets/secret-places.ts";
import type { Handle } from "../../storage/system.ts";
import type { ReachOutcome } from "../../webhooks/receivers.ts";
import { listReceivers } from "../store/receivers.ts";
import type { DoctorNetwork } from "./doctor-network.ts";
import { fail, type Finding, ok, reasonOf, warn } from "./finding.ts";

/** Time limit for all receivers together. One takes seven seconds at most. */
const ALL_MS = 20_000;
const AT_ONCE = 16;

interface Receiver {
  readonly workspace: string;
  readonly url: string;
  readonly disabledReason: "owner" | "gone" | "failing" | null;
}

export async function checkWebhooks(
  db: SystemHandle,
  seal: Seal,
  network: Pick<DoctorNetwork, "reach">,
  allMs: number = ALL_MS,
): Promise<readonly Finding[]> {
  let receivers: readonly Receiver[];
  try {
    receivers = await readReceivers(db, seal);
  } catch (error) {
    return [
      fail(
        "webhooks",
        `their addresses cannot be decrypted: ${reasonOf(error)}`,
        "add the key that encrypted them to secrets.encryption_keys",
      ),
    ];
  }
  if (receivers.length === 0) return [ok("webhooks", "none configured")];
  return reachAll(receivers, network, allMs);
}

async function reachAll(
  receivers: readonly Receiver[],
  { reach }: Pick<DoctorNetwork, "reach">,
  allMs: number,
): Promise<readonly Finding[]> {
  const semaphore = createKeyedSemaphore({ total: AT_ONCE, perKind: AT_ONCE });
  const deadline = AbortSignal.timeout(allMs);
  const results = await Promise.all(
    receivers.map(async (receiver): Promise<Finding | Receiver> => {
      const { workspace, url, disabledReason } = receiver;
      if (disabledReason !== null) return describeDisabled(workspace, disabledReason);
      try {
        return describe(receiver, await semaphore.run("receiver", deadline, () => reach(url, deadline)));
      } catch (error) {
        if (deadline.aborted) return receiver;
        throw error;
      }
    }),
  );
  const skippedWorkspaces = results.flatMap((each) => ("url" in each ? [each.workspace] : []));
  const findings = results.flatMap((each) => ("url" in each ? [] : [each]));
  if (skippedWorkspaces.length === 0) return findings;
  return [
    ...findings,
    warn(
      "webhooks",
      `not checked within ${allMs / 1000} s: ${skippedWorkspaces.join(", ")}`,
      "fix the others first: unresponsive receivers used up the time",
    ),
  ];
}

function describe({ workspace, url }: Receiver, result: ReachOutcome): Finding {
  const about = `${workspace}: ${new URL(url).origin}`;
  const because = "detail" in result && result.detail !== null ? ` (${result.detail})` : "";
  switch (result.kind) {
    case "reached":
      return ok("webhooks", `${about} accepts connections; nothing was sent`);
    case "not_resolved":
      return fail(
        "webhooks",
        `${about}: the name is ${result.detail}`,
        `check this machine's name servers, or set another address: ${setCommand(workspace)}`,
      );
    case "address_not_allowed":
      return fail(
        "webhooks",
        `${about} is not allowed as a receiver${because}`,
        "use https and a public address, or allow internal receivers with webhooks.allowed_private_cidrs and webhooks.allow_http",
      );
    case "connection":
      return fail(
        "webhooks",
        `${about} does not accept connections${because}`,
        "start the receiver, and allow this machine in its firewall",
      );
    case "timeout":
      return fail("webhooks", `${about} does not respond in time`, "a firewall may drop the connection: allow it");
    case "tls":
      return fail(
        "webhooks",
        `${about} accepts connections, but TLS fails${because}`,
        "renew the receiver's certificate for its exact name; for a private authority, set NODE_EXTRA_CA_CERTS",
      );
  }
}

/** A disabled receiver gets no deliveries until it is enabled again. */
function describeDisabled(workspace: string, reason: "owner" | "gone" | "failing"): Finding {
  if (reason === "owner") return ok("webhooks", `${workspace}: disabled by its owner, not checked`);
  return warn(
    "webhooks",
    `${workspace}: disabled, ${reason === "gone" ? "its receiver answered 410 Gone" : "after days of failures only"}; not checked`,
    `fix the receiver, then enable it again: ${setCommand(workspace)}`,
  );
}

function setCommand(workspace: string): string {
  return `patchbay webhooks set URL --workspace ${workspace}`;
}

async function readReceivers(db: Handle, seal: Seal): Promise<readonly Receiver[]> {
  const rows = await listReceivers(db);
  const keys = await readDataKeys(db, seal, null);
  return rows.map(({ id, slug, url, sealed_url: sealed, enabled, disabled_reason: reason }) => ({
    workspace: slug,
    url: sealed === null ? (url ?? "") : keys.open(sealed, webhookSecretPlace(id, "sealed_url")),
    disabledReason: enabled ? null : (reason ?? "owner"),
  }));
}
