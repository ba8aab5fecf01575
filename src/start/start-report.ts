// Prints what a start reports once it listens: new keys, the self-check, the addresses of its pages, and a command to try.
import type { FirstStart } from "./first-start.ts";
import { selfCheck } from "./self-check.ts";

export interface StartReport {
  readonly first: FirstStart;
  readonly url: string;
  /** Null: there is no admin listener. */
  readonly adminUrl: string | null;
  /** Flags that a command in the same directory needs to reach this gateway. May be empty. */
  readonly flags: string;
  /** The same for commands that read a configuration file. */
  readonly configFlag: string;
}

export async function reportStart(say: (text: string) => void, started: StartReport): Promise<void> {
  const { first, url, adminUrl, flags, configFlag } = started;
  const { appKeys, keyFile } = first;
  if (appKeys !== null) {
    const { by, result } = await selfCheck(url, first.samplePath, appKeys);
    say(`\nSelf-check: ${by}:\n  ${result}`);
    say(`\nYour API key, shown only once (the command line reads it from ${keyFile}):\n  ${appKeys.appKey}`);
  }
  if (first.hasNewOperatorKey) say(`The operator's key is in ${first.operatorKeyFile}.`);
  say("\nPages:");
  say(`  playground  ${url}/playground`);
  if (adminUrl !== null)
    say(`  console     ${adminUrl}/console (a link that signs the operator in: patchbay console${configFlag})`);
  say(`  docs        ${url}/docs, and what each error means: ${url}/docs/errors`);
  if (keyFile === null) return;
  const key = appKeys?.appKey ?? `$(cat ${keyFile})`;
  say("\nTry it:");
  say(`  curl -s ${url}/v1/transcription -H "Authorization: Bearer ${key}" -F file=@${first.samplePath}`);
  say(`  patchbay transcribe --sample${flags}`);
  say(
    "\nA real provider: set DEEPGRAM_API_KEY, OPENAI_API_KEY or PATCHBAY_LOCAL_STT_URL before patchbay up, or write a patchbay.yaml; see patchbay.example.yaml.",
  );
}
