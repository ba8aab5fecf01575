// A gateway with traffic behind it, and its consoles in a real browser.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import type { TestContext } from "node:test";
import { AxeBuilder } from "@axe-core/playwright";
import type { BrowserContextOptions, Page } from "playwright-core";
import type { Sandbox } from "../../sandbox/server.ts";
import { samplePath } from "../../src/cli/package-root.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { borrowBrowser } from "../harness/browser.ts";
import type { Answer } from "../harness/client.ts";
import { KEY, startGateway, type TestGateway, type TestGatewayOptions } from "../harness/gateway.ts";
import { call } from "../http/admin/admin.ts";

export const OPERATOR = "test-operator-key-of-the-console-01";
export const ADMIN = "test-admin-key-of-the-console-0001";

export interface ConsoleWorld {
  readonly gateway: TestGateway;
  /** A page of the operator's console, signed in, at the screen that `hash` names; null where there is no browser here. */
  operator(t: TestContext, hash: string, options?: BrowserContextOptions): Promise<Page | null>;
  /** The same of the administrators of workspace acme. */
  admin(t: TestContext, hash: string, options?: BrowserContextOptions): Promise<Page | null>;
  /** Any page, at this address. */
  page(t: TestContext, url: string, options?: BrowserContextOptions): Promise<Page | null>;
  /** The bundled sample to the app's route, with these fields; its record is readable. Answers the status. */
  transcribe(fields?: Readonly<Record<string, string>>, path?: string): Promise<number>;
  /** What the operator asks below `/admin/v1`. */
  ask(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** The same; anything but an answer of 2xx fails the test. */
  api<T>(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<T>;
  close(): Promise<void>;
}

export interface ConsoleWorldOptions extends Omit<TestGatewayOptions, "file"> {
  /** What a file of tests needs besides. */
  readonly change?: (usual: ConfigurationFile, sandbox: Sandbox) => ConfigurationFile;
}

/** Workspace acme: app notes, whose audio goes to a connection with a closed port, and then to the sandbox; a budget. */
export async function startConsoleWorld({
  change = (usual) => usual,
  ...options
}: ConsoleWorldOptions = {}): Promise<ConsoleWorld> {
  const file = (sandbox: Sandbox) => change(consoleFile(), sandbox);
  const [browser, gateway] = await Promise.all([borrowBrowser(), startGateway({ ...options, file })]);
  const page = browser.open;
  const shown = async (opened: Page | null, hash: string): Promise<Page | null> => {
    await opened?.locator("#shell").waitFor();
    if (opened !== null) await goTo(opened, hash);
    return opened;
  };
  const ask: ConsoleWorld["ask"] = (method, path, body, headers = {}) =>
    call(gateway, method, `/admin/v1${path}`, { key: OPERATOR, headers, ...(body === undefined ? {} : { body }) });
  return {
    gateway,
    page,
    operator: async (t, hash, options) =>
      shown(await page(t, `${gateway.adminOrigin}/console#key=${OPERATOR}`, options), hash),
    admin: async (t, hash, options) => {
      const opened = await page(t, `${gateway.origin}/console`, options);
      await opened?.fill("#key", ADMIN);
      await opened?.press("#key", "Enter");
      return shown(opened, hash);
    },
    transcribe: async (fields = {}, path = "/v1/transcription") => {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) body.append(name, value);
      body.append("file", new Blob([await readFile(samplePath())]), "dialogue.mp3");
      const headers = { authorization: `Bearer ${KEY}` };
      const response = await fetch(gateway.origin + path, { method: "POST", headers, body });
      await response.arrayBuffer();
      await gateway.app.requestLog.flush();
      return response.status;
    },
    ask,
    api: async <T>(...asked: Parameters<typeof ask>) => {
      const { status, text, json } = await ask(...asked);
      assert.ok(status < 300, text);
      return json as T;
    },
    close: async () => {
      await browser.close();
      await gateway.close();
    },
  };
}

export const consoleFile = (): ConfigurationFile => ({
  operator_keys: [{ id: "operator", secret: OPERATOR }],
  connections: [
    {
      id: "gone",
      kind: "openai-compatible",
      base_url: "http://127.0.0.1:9/v1",
      models: { whisper: { capabilities: ["audio_input"] } },
    },
    { id: "sandbox", kind: "sandbox" },
  ],
  routes: [
    {
      id: "speech",
      targets: [
        { connection: "gone", model: "whisper" },
        { connection: "sandbox", model: "simulated-speech" },
      ],
    },
    { id: "talk", targets: [{ connection: "sandbox", model: "simulated-chat" }] },
  ],
  workspaces: [
    {
      id: "acme",
      admin_keys: [{ id: "admin", secret: ADMIN }],
      apps: [
        {
          id: "notes",
          route: "talk",
          audio_input_override: "speech",
          budgets: [{ period: "month", limit_usd: "50.00", soft_limit: 0.8 }],
          keys: [{ id: "key", secret: KEY, scopes: ["transcribe", "jobs", "chat"] }],
        },
      ],
    },
  ],
});

/** Ends when the screen is drawn. */
export async function goTo(page: Page, hash: string): Promise<void> {
  // The event comes later; until then the screen before it would pass for this one.
  await page.evaluate(`{
    document.querySelector("#screen").setAttribute("aria-busy", "true");
    const hash = ${JSON.stringify(hash)};
    if (location.hash === hash) dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = hash;
  }`);
  await drawn(page);
}

export async function drawn(page: Page): Promise<void> {
  await page.locator("#screen:not([aria-busy])").waitFor();
}

export const screenText = (page: Page): Promise<string> => page.locator("#screen").innerText();

/** A part of the screen, by its heading. */
export const section = (page: Page, name: string) => page.locator(`#screen section[aria-label="${name}"]`);

export const press = (page: Page, name: string): Promise<void> =>
  page.getByRole("button", { name, exact: true }).click();

export const follow = (page: Page, name: string): Promise<void> =>
  page.getByRole("link", { name, exact: true }).click();

/** Yes to the question that is asked. */
export const confirm = (page: Page, name: string): Promise<void> =>
  page.locator("dialog").getByRole("button", { name, exact: true }).click();

/** WCAG 2.2 AA as far as a program can judge it. In the page itself: it has no frames, for which another one would be opened each time. */
export async function assertAccessible(page: Page): Promise<void> {
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
  const { violations } = await axe.withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]).analyze();
  const found = violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => target.join(" "))]);
  assert.deepEqual(found, []);
}

/** No screen is wider than a telephone. */
export async function assertNarrow(page: Page): Promise<void> {
  await page.setViewportSize({ width: 360, height: 740 });
  const isNarrow = await page.evaluate("document.documentElement.scrollWidth <= innerWidth");
  assert.equal(isNarrow, true, "it scrolls sideways");
}
