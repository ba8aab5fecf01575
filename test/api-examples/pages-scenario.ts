// Examples of the pages and of the endpoints for operation, on both listeners.
import type { Listener, Recorder } from "./recorder.ts";

type Fields = Readonly<Record<string, string>>;
const STYLE: Fields = { folder: "page", file: "style.css" };
const module = (file: string): Fields => ({ folder: "lib", subfolder: "text", file: `${file}.ts` });

export async function pagesScenario({ ask }: Recorder): Promise<void> {
  for (const listener of ["public", "admin"] as const) await servicePages(ask, listener);
  await ask("admin", "getMetrics");
  await ask("public", "getHome", { accept: "text/html" });
  await ask("public", "getHome", { accept: "application/json" });
  for (const page of ["getDocs", "getDocsWithSlash", "getDocsSearch", "getLlms", "getPlayground"])
    await ask("public", page);
  await ask("public", "getDocsPage", { path: { page: "glossary" } });
  await ask("public", "getDocsSectionPage", { path: { section: "reference", page: "jobs" } });
  await ask("public", "getPlaygroundFile", { path: STYLE });
  await ask("public", "getPlaygroundModule", { path: module("join-words") });
  await ask("public", "getWebFile", { path: { folder: "ui", file: "ui.css" } });
}

async function servicePages(ask: Recorder["ask"], listener: Listener): Promise<void> {
  for (const page of ["getHealth", "getReadiness", "getOpenapi", "getErrorDocs", "getConsole"])
    await ask(listener, page);
  await ask(listener, "getConsoleFile", { path: STYLE });
  await ask(listener, "getConsoleModule", { path: module("csv") });
}
