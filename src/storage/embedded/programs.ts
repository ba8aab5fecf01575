// Runs a short program (`initdb`, `postgres --version`, a shell check) as the system user of the embedded server, because PostgreSQL refuses to run as root.
// Returns its output, or why it failed.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Account } from "./account.ts";

const execute = promisify(execFile);
const TIMEOUT_MS = 60_000;

export interface ProgramResult {
  readonly ok: boolean;
  readonly stdout: string;
  /** On failure: what the program printed to stderr, or why it could not be started. */
  readonly message: string;
}

export async function runProgram(
  program: string,
  args: readonly string[],
  account: Account | null,
): Promise<ProgramResult> {
  try {
    const { stdout } = await execute(program, [...args], {
      cwd: "/",
      timeout: TIMEOUT_MS,
      env: { LC_ALL: "C" },
      ...identityOf(account),
    });
    return { ok: true, stdout, message: "" };
  } catch (error) {
    const stderr = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    return { ok: false, stdout: "", message: stderr === "" ? messageOf(error) : stderr };
  }
}

export function identityOf(account: Account | null): { readonly uid?: number; readonly gid?: number } {
  return account === null ? {} : { uid: account.uid, gid: account.gid };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
