// Databases on a PostgreSQL server for tests, each a copy of a migrated template. Copying and dropping one takes a third of a second, so a process that runs
// several test files empties and reuses one. A database that differs from its initial state is dropped.
import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { type Beginning, empty, lookAt } from "../beginning.ts";

/** The template that is copied. */
export interface Template {
  /** Identifies its content: a template of this name is created once. */
  readonly name: () => string;
  readonly fill: (databaseUrl: string) => Promise<void>;
}

export interface BorrowedCopy {
  readonly databaseUrl: string;
  /** Disconnects all remaining sessions. */
  readonly giveBack: () => Promise<void>;
}

let isKept = false;
let beginning: Promise<Beginning> | null = null;
const idle: string[] = [];
/** Covers most test files. */
const MOST_IDLE = 2;

/** For a process that runs several files with one template; it must end idle databases afterwards. */
export function keepCopies(): void {
  isKept = true;
}

export async function endIdleCopies(): Promise<void> {
  isKept = false;
  for (const name of idle.splice(0)) await drop(name);
}

/** On the server of DATABASE_URL: migrated and empty. `isNew`: no other test has used it, so that the server plans as for a new database. */
export async function borrowCopy(template: Template, isNew = false): Promise<BorrowedCopy> {
  const name = (isNew ? null : await takeIdle()) ?? (await copy(template));
  return {
    databaseUrl: urlOf(name),
    giveBack: async () => {
      if (isKept && idle.length < MOST_IDLE) idle.push(name);
      else await drop(name);
    },
  };
}

async function takeIdle(): Promise<string | null> {
  const name = idle.pop();
  if (name === undefined || beginning === null) return null;
  try {
    const asItWas = await beginning;
    if (await on(name, (client) => clear(client, asItWas))) return name;
  } catch {
    // In a state from which no statement recovers.
  }
  await drop(name);
  return null;
}

async function clear(client: Client, asItWas: Beginning): Promise<boolean> {
  await client.query(
    "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  return empty(client, asItWas);
}

async function copy(template: Template): Promise<string> {
  const source = template.name();
  const name = `patchbay_test_${randomBytes(8).toString("hex")}`;
  await asAdmin(async (admin) => {
    // Test files start in parallel: one creates the template, the others wait. A template in use cannot be copied.
    await admin.query("select pg_advisory_lock(7270701)");
    const { rowCount } = await admin.query("select 1 from pg_database where datname = $1", [source]);
    if (rowCount === 0) {
      await admin.query(`create database ${source}_new`);
      await template.fill(urlOf(`${source}_new`));
      await admin.query(`alter database ${source}_new rename to ${source}`);
    }
    await admin.query(`create database ${name} template ${source}`);
  });
  if (isKept) await (beginning ??= on(name, (client) => lookAt(client)));
  return name;
}

function drop(name: string): Promise<void> {
  return asAdmin(async (admin) => void (await admin.query(`drop database if exists ${name} with (force)`)));
}

const asAdmin = <T>(work: (admin: Client) => Promise<T>): Promise<T> => connected(serverUrl(), work);
const on = <T>(name: string, work: (client: Client) => Promise<T>): Promise<T> => connected(urlOf(name), work);

async function connected<T>(connectionString: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function serverUrl(): string {
  const url = process.env["DATABASE_URL"];
  if (url === undefined || url === "")
    throw new Error("DATABASE_URL is not set: run tests with `node scripts/test.ts PATTERN`, which starts a server.");
  return url;
}

function urlOf(name: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return url.href;
}
